/** Check: one thing that `doctor` looked at, and what it found. */
import type { ExitCode } from "../exit_code.ts";

/** What the cluster is asked about, in the order in which it is. */
export type CheckKind = "cluster" | "definition" | "permission" | "lease" | "webhook" | "finalizer";

/** What was found. */
export type Verdict =
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
export function broken(code: ExitCode, state: string, advice?: string): Finding {
  return { verdict: { kind: "failed", code }, state, advice };
}

/** Nobody knows. */
export function unknown(state: string, advice?: string): Finding {
  return { verdict: { kind: "unknown" }, state, advice };
}
