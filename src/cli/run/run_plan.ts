/** RunPlan: what one call of `run` runs. Its parts read it: the checks before the start, the Manager, the webhooks. */
import type { OperatorController } from "../../manager/mod.ts";
import type { Session } from "../command/mod.ts";
import type { ConfigReloader } from "./config_reloader.ts";
import type { RunFlags } from "./run_flags.ts";

/** What to run, and in which namespaces. */
export interface RunPlan {
  readonly controllers: readonly OperatorController[];
  /** Empty: all namespaces. */
  readonly namespaces: readonly string[];
  readonly flags: RunFlags;
  readonly session: Session;
  /** Follows the configuration file. @default there is none */
  readonly reloader?: ConfigReloader<RunFlags>;
}
