/** Check: one thing that `doctor` looked at, and what it found. */
/* MERGED doctor/context.ts  DoctorContext: what all checks of `doctor` share. */
/* MERGED doctor/print_checks.ts  How `doctor` shows what it found. */
import type { ExitCode, Session } from "../command/mod.ts";
import { isForbidden } from "../../client/mod.ts";
import type { OperatorController } from "../../manager/mod.ts";
import type { CrdContext } from "../crds/mod.ts";
import { type Cell, type ObjectFormat, printValue, table } from "../output/mod.ts";

/** What the cluster is asked about, in the order in which it is. */
type CheckKind = "cluster" | "definition" | "permission" | "lease" | "webhook" | "finalizer";

/** What was found. */
type Verdict =
  | { readonly kind: "ok" }
  /** Controllers run all the same. */
  | { readonly kind: "warning" }
  /** Controllers could not run. `code` is what `run` would end with. */
  | { readonly kind: "failed"; readonly code: ExitCode }
  /** It could not be found out. */
  | { readonly kind: "unknown" };

/** One line of `doctor`. */
export interface Check {
  readonly about: CheckKind;
  /** What exactly: `foos.example.dev`, a controller, a Lease. */
  readonly subject: string;
  readonly verdict: Verdict;
  /** What is there, or what is wrong; without a period. */
  readonly state: string;
  /** What to do about it. */
  readonly advice?: string;
}

/** What a check says; the rest of it is known before. */
export type Finding = Pick<Check, "verdict" | "state" | "advice">;

/** All is well. */
export function ok(state: string): Finding {
  return { verdict: { kind: "ok" }, state };
}

/** Not as it should be, but no obstacle. */
export function warning(state: string, advice?: string): Finding {
  return { verdict: { kind: "warning" }, state, advice };
}

/** An obstacle. */
export function failed(code: ExitCode, state: string, advice?: string): Finding {
  return { verdict: { kind: "failed", code }, state, advice };
}

/** Nobody knows. */
export function unknown(state: string, advice?: string): Finding {
  return { verdict: { kind: "unknown" }, state, advice };
}

/** On what, for whom and where. */
export interface DoctorContext extends CrdContext {
  readonly controllers: readonly OperatorController[];
  /** The namespaces that the controllers would work on; empty: all. */
  readonly namespaces: readonly string[];
  /** Where the Lease and the certificates are. */
  readonly ownNamespace: string;
  /** The Lease that replicas would share. */
  readonly lease: { readonly name: string; readonly isEnabled: boolean };
}

/** What unknownIfForbidden gives; a 403 is no finding about the thing itself. */
export async function unknownIfForbidden(look: () => Promise<Finding>): Promise<Finding> {
  try {
    return await look();
  } catch (error) {
    if (isForbidden(error)) return unknown(`it may not be looked at: ${error.status.message ?? "forbidden"}`);
    throw error;
  }
}

/** `3 s`, `5 min`, `2 h`, `40 d`: how long, to a reader. */
export function approximateDuration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3_600)} h`;
  return `${Math.round(seconds / 86_400)} d`;
}

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
