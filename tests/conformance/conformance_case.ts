/** ConformanceCase: what is done to both servers. The files of cases/ list them; conformance_test.ts compares. */
import type { Call, Site } from "./site.ts";

export interface ConformanceCase {
  /** A sentence: what the servers are to agree on. Unique in the suite. */
  readonly name: string;
  /**
   * Where the embedded server differs on purpose, and why. Such a case is run all the same, and must differ: a reason that
   * holds no longer is taken off the list.
   */
  readonly deliberate?: string;
  /** Where the embedded server differs and should not (known_differences.ts). It must differ too, until it is mended. */
  readonly known?: string;
  /** Needs what a cluster does: kube-controller-manager there, src/cluster here. @default false */
  readonly needsControllers?: boolean;
  /** Creates Pods, which admission gives to the ServiceAccount `default` of their namespace. @default false */
  readonly needsAccount?: boolean;
  /** Runs kubectl, so it has no recording: there is none where there is no control plane. @default false */
  readonly needsKubectl?: boolean;
  run(site: Site): Promise<void>;
}

/** What a case has beside its name and what it does. */
export type CaseTraits = Omit<ConformanceCase, "name" | "run">;

/** A case that sends one request after the other, whatever is answered. */
export function requests(
  name: string,
  calls: (site: Site) => readonly Call[],
  traits: CaseTraits = {},
): ConformanceCase {
  const run = async (site: Site) => {
    for (const call of calls(site)) await site.call(call);
  };
  return { name, ...traits, run };
}

/** A case that looks at answers before it sends the next request. */
export function scenario(name: string, run: (site: Site) => Promise<void>, traits: CaseTraits = {}): ConformanceCase {
  return { name, ...traits, run };
}

/** What should become of a case. */
export function expectationOf({ deliberate, known }: ConformanceCase): "agrees" | "differs" {
  return deliberate === undefined && known === undefined ? "agrees" : "differs";
}
