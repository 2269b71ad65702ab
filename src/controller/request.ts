/**
 * What a reconcile gets and what it returns: Request and Cause, Result and TerminalError, and the Events it records.
 *
 * A reconciler is level-based. A Request names the object to reconcile and does not say what happened to it: the
 * reconciler reads the current state and changes it towards the desired state. A lost, repeated or merged event
 * therefore cannot mislead it. What happens to the key after each Result and each error is in `_worker.ts`.
 */
import type { KubeObject, ObjectKey } from "../api/mod.ts";

/** The object to reconcile. */
export interface Request {
  readonly key: ObjectKey;
  /** Absent for cluster-scoped objects. */
  readonly namespace?: string;
  readonly name: string;
}

/** Why a key was added to the queue. Several causes may have been merged into one reconcile. */
export interface Cause {
  /** `deployments.apps`, or the name of an EventSource. */
  readonly source: string;
  readonly change: "added" | "updated" | "deleted" | "resync" | "retry" | "requeue";
  readonly key: string;
  readonly resourceVersion?: string;
}

/** How a reconcile ended that did not throw. A throw means "retry with backoff", see also {@link TerminalError}. */
export type Result =
  | { readonly kind: "done" }
  | { readonly kind: "requeue"; readonly afterMs: number };

/** Nothing more to do until something changes. */
export const done: Result = Object.freeze({ kind: "done" });

/**
 * Requests another reconcile after `ms` milliseconds, even if nothing changes. The requeue is not rate limited, and it
 * forgets earlier failures of the key.
 *
 * @throws RangeError when `ms` is negative or not a number.
 */
export function requeueAfter(ms: number): Result {
  if (!(ms >= 0)) throw new RangeError(`Cannot requeue: a delay of ${ms} ms is negative or not a number`);
  return { kind: "requeue", afterMs: ms };
}

/** Thrown by a reconciler whose input cannot work. It is logged and counted, and not retried until the object changes. */
export class TerminalError extends Error {
  override readonly name = "TerminalError";
}

/** "Warning" for Events that need attention, "Normal" for all others. */
export type EventType = "Normal" | "Warning";

/** An Event about an object, before it is aggregated and written. */
export interface EventNote {
  readonly regarding: KubeObject;
  readonly type: EventType;
  /** One CamelCase word, for programs. */
  readonly reason: string;
  /** A sentence for people, at most 1 KiB. */
  readonly note: string;
  /** What the controller was doing. @default "Reconcile" */
  readonly action?: string;
}

/** Receives Events. Guarantees: never throws and never waits, because an Event must not delay a reconcile. */
export interface EventSink {
  record(event: EventNote): void;
}
