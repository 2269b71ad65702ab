/**
 * ControllerDefinition: a controller as a value. Nothing runs; CRDs, RBAC and caches are read off it, and a Manager
 * turns it into a running Controller.
 */
import type { ObjectKey, Resource } from "../api/mod.ts";
import type { RateLimiter } from "../queue/mod.ts";
import type { EventSource } from "./event_source.ts";
import type { Reconciler } from "./reconciler.ts";
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
  /** Failed attempts after which a key is dropped until it changes. @default Infinity */
  readonly maxRetries?: number;
  /** Every object counts as changed each so many milliseconds. @default the Manager's */
  readonly resyncMs?: number;
  /** Owner of the fields that `ctx.apply` writes. @default the controller's name */
  readonly fieldManager?: string;
}

/** A kind the controller may write or read besides those it watches; RBAC is derived from it. */
export interface Permission {
  readonly resource: Resource;
  readonly verbs: readonly string[];
  readonly subresource?: string;
}

/** One controller, ready to be added to a Manager. */
export interface ControllerDefinition {
  readonly name: string;
  /** The kind that is reconciled. */
  readonly primary: Resource;
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
