/**
 * FaultPlan: which faults happen at which points of a run, as plain data: it can be printed, kept in a file, shrunk and
 * played again. Points are counted from 1: the operator's n-th write (Events and Leases aside), its n-th read, the n-th
 * watch event it is to get, the n-th step of the workload; with several replicas, the n-th write of the Lease.
 *
 * A point that a run does not reach harms nobody.
 */

/** When, as seen from the server, a process ends that was about to write. */
export type CrashMoment = "before" | "committed" | "answered";

/** What happens to a watch event, or to the stream behind it. */
export type EventAction = "merge" | "stall" | "duplicate" | "cut" | "corrupt" | "gone" | "error";

/** One fault. */
export type Fault =
  /** The process ends around its n-th write and starts again `downMs` later; `again`: the same around the next write. */
  | {
    readonly kind: "crash";
    readonly write: number;
    readonly moment: CrashMoment;
    readonly downMs: number;
    readonly again?: CrashMoment;
  }
  /**
   * After a step the process starts anew on a server that stands still at an older revision, `back` changes ago, until it
   * thaws; `only`: the lists and watches of this collection alone do (`deployments.apps`), as each has a cache of its own;
   * `early`: the next step comes while it lags.
   */
  | {
    readonly kind: "stale";
    readonly step: number;
    readonly back: number;
    readonly thawMs: number;
    readonly only?: string;
    readonly early?: boolean;
  }
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
  /** Somebody else does something to what the n-th write is about. */
  | { readonly kind: "actor"; readonly write: number; readonly act: Act }
  /** Before a step the wall clock of each process jumps; `rate`: that of the first one then runs that fast, for `forMs`. */
  | {
    readonly kind: "skew";
    readonly step: number;
    readonly byMs: number;
    readonly rate?: number;
    readonly forMs?: number;
  }
  /** With several replicas: before the n-th write somebody takes the Lease away. */
  | { readonly kind: "lease"; readonly write: number }
  /** With several replicas: the n-th write of the Lease arrives late; `committed`: its answer does. */
  | { readonly kind: "renewal"; readonly renewal: number; readonly committed: boolean; readonly forMs: number }
  /**
   * As it is about to send its n-th write, or its n-th write of the Lease, the process stands still for a while (SIGSTOP,
   * a swapped-out page, a long collection of garbage); `wallByMs`: meanwhile the wall clock is set by so much.
   */
  | {
    readonly kind: "pause";
    readonly of: "write" | "renewal";
    readonly request: number;
    readonly forMs: number;
    readonly wallByMs?: number;
  };

/**
 * What somebody else does. Right after a write: deletes it, edits it, or makes it controlled by another owner for a while
 * ("takeover"). Right before it ("replace"): puts an object of their own in the place of the child, for a while.
 */
export type Act = "delete" | "edit" | "replace" | "takeover";

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
  "renewal",
  "pause",
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
      return `crash ${momentText[fault.moment]} write ${fault.write}${
        fault.again === undefined ? "" : `, and again ${momentText[fault.again]} the next`
      }`;
    case "stale":
      return `restart after step ${fault.step} on a server ${fault.back} changes behind${
        fault.only === undefined ? "" : ` with ${fault.only}`
      }${fault.early === true ? ", and the next step at once" : ""}`;
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
      return `somebody ${actText[fault.act]} write ${fault.write} ${fault.act === "replace" ? "is about" : "wrote"}`;
    case "skew":
      return `wall clock ${signed(fault.byMs)} before step ${fault.step}${
        fault.rate === undefined ? "" : `, then ${fault.rate} times as fast for ${fault.forMs} ms`
      }`;
    case "lease":
      return `lease taken away before write ${fault.write}`;
    case "renewal":
      return `${fault.committed ? "the answer to " : ""}renewal ${fault.renewal} takes ${fault.forMs} ms`;
    case "pause":
      return `the process stands still for ${fault.forMs} ms before ${fault.of} ${fault.request}${
        fault.wallByMs === undefined ? "" : `, wall clock ${signed(fault.wallByMs)}`
      }`;
    default:
      return fault satisfies never;
  }
}

const actText: Readonly<Record<Act, string>> = {
  delete: "deletes what",
  edit: "edits what",
  replace: "replaces what",
  takeover: "takes over what",
};

function signed(ms: number): string {
  return `${ms < 0 ? "-" : "+"}${Math.abs(ms)} ms`;
}

const momentText: Readonly<Record<CrashMoment, string>> = {
  before: "before",
  committed: "before the answer of",
  answered: "after the answer of",
};
