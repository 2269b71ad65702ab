/**
 * ControllerDefinition: a controller as a value. Nothing runs; CRDs, RBAC and caches are read off it, and a Manager
 * turns it into a running Controller.
 */
import type { ObjectKey, Resource } from "../api/mod.ts";
import type { RateLimiter } from "../queue/mod.ts";
import type { EventSource } from "./event_source.ts";
import type { Reconciler } from "./reconciler.ts";
import type { Verb } from "./verb.ts";
import type { WatchDefinition } from "./watch_definition.ts";

/** How a controller works; what it works on is said with the builder. */
export interface ControllerOptions {
  /** Keys reconciled at the same time; the same key never twice. @default 1 */
  readonly maxConcurrentReconciles?: number;
  /** Name of the work queue in logs and metrics. @default the controller's name */
  readonly queueName?: string;
  /** Backoff of failing keys. @default 5 ms doubling to 1000 s, joined with 10/s and a burst of 100, as client-go's */
  readonly rateLimiter?: () => RateLimiter<ObjectKey>;
  /** Milliseconds after which a reconcile's signal aborts. @default Infinity */
  readonly reconcileTimeoutMs?: number;
  /** Failed attempts in a row that are tried again; after one more the key is dropped until it changes. @default Infinity */
  readonly maxRetries?: number;
  /** Reason of the Warning Event about an object whose key is dropped after `maxRetries`. @default no Event, only a log record */
  readonly droppedReason?: string;
  /** The one namespace it works on: objects elsewhere are neither cached for it nor reconciled. @default the Manager's */
  readonly namespace?: string;
  /** Who reports its Events. @default the Manager's name and the controller's: `controller/foo` */
  readonly eventComponent?: string;
  /** Every object counts as changed each so many milliseconds. @default the Manager's */
  readonly resyncMs?: number;
  /** Longest time in milliseconds by which each worker begins later, at random. @default the Manager's */
  readonly workerJitterMs?: number;
  /** Owner of the fields that `ctx.apply` writes. @default the controller's name */
  readonly fieldManager?: string;
  /** The controller records Events. @default true */
  readonly recordsEvents?: boolean;
}

/** A kind the controller may write or read besides those it watches; RBAC is derived from it. */
export interface Permission {
  readonly resource: Resource;
  readonly verbs: readonly Verb[];
  readonly subresource?: string;
}

/** One controller, ready to be added to a Manager. */
export interface ControllerDefinition {
  readonly name: string;
  /** The kind that is reconciled. */
  readonly primary: Resource;
  /** The controller writes the status of the primary kind. */
  readonly writesStatus: boolean;
  /** The primary kind first. */
  readonly watches: readonly WatchDefinition[];
  readonly permissions: readonly Permission[];
  /** Reasons to reconcile that are no watched kind. */
  readonly sources: readonly EventSource[];
  /** Put on every primary object, when the controller cleans up. */
  readonly finalizer?: string;
  readonly options: ControllerOptions;
  readonly reconciler: Reconciler;
}
