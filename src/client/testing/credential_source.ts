/** A CredentialSource with a virtual clock, for tests. */
import { VirtualClock } from "../../async/mod.ts";
import { type CredentialSource, credentialSource } from "../credentials/mod.ts";
import type { Credentials } from "../kubeconfig/mod.ts";
import { accessTo, RecordingLogger } from "./cluster_access.ts";

const never = new AbortController().signal;

/** A source, its clock and its logger. */
export interface TestSource {
  readonly source: CredentialSource;
  readonly clock: VirtualClock;
  readonly logger: RecordingLogger;
  /** The current Authorization header. */
  header(): Promise<string | undefined>;
}

/** Makes the source for `credentials`. */
export function testSource(credentials: Credentials): TestSource {
  const clock = new VirtualClock();
  const logger = new RecordingLogger();
  const environment = { PATH: "/usr/bin:/bin" };
  const access = accessTo("https://c", { credentials });
  const source = credentialSource(access, { clock, logger, environment, execPolicy: { kind: "allowAll" } });
  const header = async () => (await source.current(never)).authorization?.reveal();
  return { source, clock, logger, header };
}
