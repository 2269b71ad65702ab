/**
 * FaultPlan: which faults happen at which points of a run, as plain data: it can be printed, kept in a file, shrunk and
 * played again. Points are counted from 1: the operator's n-th write (Events and Leases aside), its n-th read, the n-th
 * watch event it is to get, the n-th step of the workload.
 *
 * A point that a run does not reach harms nobody.
 */

/** When, as seen from the server, a process ends that was about to write. */
export type CrashMoment = "before" | "committed" | "answered";

/** What happens to a watch event, or to the stream behind it. */
export type EventAction = "merge" | "stall" | "duplicate" | "cut" | "corrupt" | "gone" | "error";

/** One fault. */
export type Fault =
  /** The process ends around its n-th write and starts again `downMs` later. */
  | { readonly kind: "crash"; readonly write: number; readonly moment: CrashMoment; readonly downMs: number }
  /** After a step the process starts anew on a server that stands still at an older revision, `back` changes ago, until it thaws. */
  | { readonly kind: "stale"; readonly step: number; readonly back: number; readonly thawMs: number }
  /** A request gets an error; `committed`: the server did all the same what was asked. */
  | {
    readonly kind: "answer";
    readonly of: "write" | "read";
    readonly request: number;
    readonly code: 409 | 410 | 429 | 500 | 503 | 504;
    readonly committed?: boolean;
    readonly retryAfterSeconds?: number;
  }
  /** The connection breaks under a request, before it arrives or before its answer does. */
  | { readonly kind: "reset"; readonly write: number; readonly committed: boolean }
  /** A request takes long. */
  | { readonly kind: "slow"; readonly write: number; readonly forMs: number }
  /** Something happens to the n-th watch event. */
  | { readonly kind: "event"; readonly event: number; readonly action: EventAction; readonly forMs: number }
  /** From the n-th write on the server cannot be reached for a while. */
  | { readonly kind: "partition"; readonly write: number; readonly forMs: number }
  /** Somebody else changes or deletes what the n-th write wrote, right after it. */
  | { readonly kind: "actor"; readonly write: number; readonly act: "delete" | "edit" }
  /** Before a step the wall clock of the process jumps. */
  | { readonly kind: "skew"; readonly step: number; readonly byMs: number }
  /** With several replicas: before the n-th write somebody takes the Lease away. */
  | { readonly kind: "lease"; readonly write: number };

/** The kinds of faults. */
export const faultKinds = [
  "crash",
  "stale",
  "answer",
  "reset",
  "slow",
  "event",
  "partition",
  "actor",
  "skew",
  "lease",
] as const satisfies readonly Fault["kind"][];

/** The faults of one run. */
export interface FaultPlan {
  readonly faults: readonly Fault[];
}

/** The run without faults. */
export const noFaults: FaultPlan = { faults: [] };

/** A fault in words. */
export function faultText(fault: Fault): string {
  switch (fault.kind) {
    case "crash":
      return `crash ${momentText[fault.moment]} write ${fault.write}`;
    case "stale":
      return `restart after step ${fault.step} on a server ${fault.back} changes behind`;
    case "answer":
      return `${fault.code} for ${fault.of} ${fault.request}${fault.committed === true ? ", which was done" : ""}`;
    case "reset":
      return `connection reset ${fault.committed ? "after" : "before"} write ${fault.write}`;
    case "slow":
      return `write ${fault.write} takes ${fault.forMs} ms`;
    case "event":
      return `${fault.action} at watch event ${fault.event}`;
    case "partition":
      return `partition from write ${fault.write} on, for ${fault.forMs} ms`;
    case "actor":
      return `somebody ${fault.act === "delete" ? "deletes" : "edits"} what write ${fault.write} wrote`;
    case "skew":
      return `wall clock ${fault.byMs < 0 ? "-" : "+"}${Math.abs(fault.byMs)} ms before step ${fault.step}`;
    case "lease":
      return `lease taken away before write ${fault.write}`;
    default:
      return fault satisfies never;
  }
}

const momentText: Readonly<Record<CrashMoment, string>> = {
  before: "before",
  committed: "before the answer of",
  answered: "after the answer of",
};
