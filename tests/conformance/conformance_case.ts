/** ConformanceCase: what is done to both servers. The files of cases/ list them; conformance_test.ts compares. */
import type { Site } from "./site.ts";

export interface ConformanceCase {
  /** A sentence: what the servers are to agree on. */
  readonly name: string;
  /**
   * Where the embedded server differs on purpose, and why. Such a case is run all the same, and must differ: a reason that
   * holds no longer is taken off the list.
   */
  readonly deliberate?: string;
  run(site: Site): Promise<void>;
}
