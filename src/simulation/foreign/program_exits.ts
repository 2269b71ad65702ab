/** exitViolations(): which ends of processes of a program are violations. */
import type { Violation } from "../violation.ts";
import { isCrashLoop } from "./program_replicas.ts";
import type { ForeignRunResult, ProgramExit } from "./run_options.ts";

/**
 * The violations of a run. Without faults a program does not end. After a fault it may end once or twice, as when it loses its
 * Lease, and is started again; only a crash loop is a violation.
 *
 * @param hasFaults whether a fault has taken place
 */
export function exitViolations({ exits }: Pick<ForeignRunResult, "exits">, hasFaults: boolean): readonly Violation[] {
  const last = exits.at(-1);
  if (last === undefined || (hasFaults && !isCrashLoop(exits))) return [];
  const count = exits.filter(({ faults }) => faults === last.faults).length;
  const since = hasFaults ? " after the last fault" : "";
  return [{
    invariant: "process-exit",
    message: `the program ${last.text}${count === 1 ? "" : `, ${count} times${since}`}`,
    consequence: isCrashLoop(exits)
      ? "The program is in a crash loop: each of its processes ends by itself."
      : "The program ends without being asked to.",
  }];
}

/** How a program that has opened no watch ended. */
export function startFailure(exits: readonly ProgramExit[]): string {
  const [first] = exits;
  return first === undefined ? "it opened no watch" : `the program ${first.text} before it opened a watch`;
}
