/** How `doctor` shows what it found. */
import { type ObjectFormat, printValue } from "../print_objects.ts";
import type { Session } from "../session.ts";
import { type Cell, table } from "../table.ts";
import type { Check, Verdict } from "./check.ts";

/** Prints the checks: for people a line each, for programs one value. */
export function printChecks(checks: readonly Check[], format: ObjectFormat | undefined, session: Session): void {
  if (format === undefined) return session.print(table(checks.map(rowOf), session.paint));
  const plain = checks.map(({ about, subject, verdict, state, advice }) => ({
    check: about,
    subject,
    status: verdict.kind,
    state,
    ...(advice === undefined ? {} : { advice }),
  }));
  const canRun = checks.every(({ verdict }) => verdict.kind !== "failed");
  printValue({ canRun, checks: plain }, format, session);
}

const words = {
  ok: { text: "ok", tone: "good" },
  warning: { text: "warning", tone: "doubtful" },
  failed: { text: "FAILED", tone: "bad" },
  unknown: { text: "unknown", tone: "quiet" },
} as const satisfies Record<Verdict["kind"], Cell>;

function rowOf({ about, subject, verdict, state, advice }: Check): readonly Cell[] {
  return [words[verdict.kind], about, subject, advice === undefined ? state : `${state}. ${advice}`];
}
