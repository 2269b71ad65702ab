/** The words of `dev`: names of controllers, then `--`, then a command. */
import type { OperatorController } from "../../manager/mod.ts";
import { selectControllers } from "../select_controllers.ts";
import type { Call } from "../subcommand.ts";
import { UsageError } from "../usage_error.ts";
import type { DevFlags } from "./dev_flags.ts";

/** What was named. */
export interface DevWords {
  readonly names: readonly OperatorController[];
  /** Empty: none. */
  readonly command: readonly string[];
}

/** Reads them. @throws UsageError when they make no sense */
export function devWords({ words, session, flags: { all, samples } }: Call<DevFlags>): DevWords {
  const { args } = session.surroundings;
  const dashes = args.indexOf("--");
  const command = dashes < 0 ? [] : args.slice(dashes + 1);
  if (dashes >= 0 && command.length === 0) {
    throw new UsageError("Cannot run a command: there is none behind --", "Example: dev -- kubectl get namespaces");
  }
  const named = words.slice(0, words.length - command.length);
  if (all && named.length > 0) {
    throw new UsageError("Cannot run controllers: both names and --all are given", "Leave one of them out");
  }
  const names = all ? session.operator.controllers : selectControllers(session.operator, named);
  if (samples && names.length === 0) {
    throw new UsageError("Cannot create samples: no controller is named whose they are", "Name one, or add --all");
  }
  return { names, command };
}
