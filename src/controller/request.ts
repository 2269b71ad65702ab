/**
 * What a reconcile gets and what it returns: Request and Cause, Result and TerminalError, and the Events it records.
 *
 * A reconciler is level-based. A Request names the object to reconcile and does not say what happened to it: the
 * reconciler reads the current state and changes it towards the desired state. A lost, repeated or merged event
 * therefore cannot mislead it. What happens to the key after each Result and each error is in `_worker.ts`.
 */
import type { KubeObject, ObjectKey } from "../api/mod.ts";
import type { Writer } from "../cache/mod.ts";

/** The object to reconcile; the first argument of a {@link Reconciler}. */
export interface Request {
  /** `namespace/name`, or `name` for cluster-scoped objects. */
  readonly key: ObjectKey;
  /** The namespace of the object. Absent for cluster-scoped objects. */
  readonly namespace?: string;
  /** The name of the object. */
  readonly name: string;
  /** The name of the object's cluster in a Fleet. Absent without a Fleet, and in the hub. */
  readonly cluster?: string;
}

/** Why a key was added to the queue. Several causes may have been merged into one reconcile. */
export interface Cause {
  /** The watched kind, as `deployments.apps`, or the name of an EventSource. */
  readonly source: string;
  /** What happened to the object; "retry" follows an error, "requeue" a {@link requeueAfter}. */
  readonly change: "added" | "updated" | "deleted" | "resync" | "retry" | "requeue";
  /** The key of the object that changed. */
  readonly key: string;
  /** The version of the object that changed. Absent if the cause is not a change of an object. */
  readonly resourceVersion?: string;
  /** The message of the error that is retried. Absent if the change is not "retry". */
  readonly error?: string;
  /** The controller and the key whose reconcile made the change, if it was of this process. */
  readonly writtenBy?: Writer;
  /** The id of the entry in the recording of the process that led here. Absent if nothing is recorded. */
  readonly entry?: number;
}

/** How a reconcile ended that did not throw. A throw means "retry with backoff", see also {@link TerminalError}. */
export type Result =
  | { readonly kind: "done" }
  | { readonly kind: "requeue"; readonly afterMs: number };

/**
 * The result of a reconcile with nothing more to do until something changes.
 *
 * @example
 * ```ts
 * import { controller, done, Namespace } from "@pintle/controller";
 *
 * const idle = controller("idle").for(Namespace).reconcile(() => Promise.resolve(done));
 * console.assert(done.kind === "done" && idle.name === "idle");
 * ```
 */
export const done: Result = Object.freeze({ kind: "done" });

/**
 * Requests another reconcile after `ms` milliseconds, even if nothing changes. The requeue is not rate limited, and it
 * forgets earlier failures of the key.
 *
 * @param ms Infinity requests none, for the earliest of no deadlines.
 * @throws RangeError when `ms` is negative or not a number.
 * @example Look at a Job again in a minute
 * ```ts
 * import { controller, done, Job, requeueAfter } from "@pintle/controller";
 *
 * const watcher = controller("watcher").for(Job)
 *   .reconcile(({ object }) => Promise.resolve(object.status?.completionTime === undefined ? requeueAfter(60_000) : done));
 * console.assert(watcher.name === "watcher" && requeueAfter(60_000).kind === "requeue");
 * ```
 */
export function requeueAfter(ms: number): Result {
  if (!(ms >= 0)) throw new RangeError(`Cannot requeue: a delay of ${ms} ms is negative or not a number`);
  return { kind: "requeue", afterMs: ms };
}

/**
 * What follows from the result of a reconciler, which outside of TypeScript may be anything. A requeue that never comes is done:
 * a finalizer has stayed by then.
 *
 * @throws TypeError when it is no Result
 */
export function checkedResult(result: Result | undefined): Result {
  if (result?.kind === "done") return result;
  if (result?.kind === "requeue" && result.afterMs >= 0) return result.afterMs === Infinity ? done : result;
  throw new TypeError("Cannot use what the reconciler returned: it is no result. Return done or requeueAfter(ms)");
}

/**
 * Thrown by a reconciler whose input cannot work. It is logged and counted, and not retried until the object changes.
 *
 * @example
 * ```ts
 * import { controller, done, Namespace, TerminalError } from "@pintle/controller";
 *
 * const sizes = controller("sizes").for(Namespace).reconcile(({ object }) => {
 *   const size = object.metadata.annotations?.size;
 *   if (size !== undefined && !(Number(size) > 0)) {
 *     throw new TerminalError(`Cannot use size "${size}": it is not a positive number`);
 *   }
 *   return Promise.resolve(done);
 * });
 * console.assert(sizes.name === "sizes");
 * ```
 */
export class TerminalError extends Error {
  /** The name of the class. */
  override readonly name = "TerminalError";
}

/** "Warning" for Events that need attention, "Normal" for all others. */
export type EventType = "Normal" | "Warning";

/** An Event about an object, before it is aggregated and written; the argument of `toolbox.event`. */
export interface EventNote {
  /** The object that the Event is about. */
  readonly regarding: KubeObject;
  /** "Warning" if it needs attention. */
  readonly type: EventType;
  /** One CamelCase word, for programs. */
  readonly reason: string;
  /** A sentence for people, at most 1 KiB. */
  readonly note: string;
  /** What the controller was doing. @default "Reconcile" */
  readonly action?: string;
  /** Its entry in a recording, for the log. @default nothing is recorded */
  readonly entry?: number;
}

/** Receives Events. Guarantees: never throws and never waits, because an Event must not delay a reconcile. */
export interface EventSink {
  /** Records an Event; it is written later. */
  record(event: EventNote): void;
}
