/**
 * The workers of a controller: they take keys from the queue, reconcile them, and decide when a key comes back. This file
 * says what happens to a key after an error:
 *
 * | the reconciler                                  | what happens to the key                                      |
 * |-------------------------------------------------|--------------------------------------------------------------|
 * | returns `done`                                  | its failures are forgotten, it waits for a change            |
 * | returns `requeueAfter(ms)`                      | its failures are forgotten, it comes back after `ms`         |
 * | throws                                          | it comes back after a backoff (`queue/rate_limiter.ts`)      |
 * | throws because the server asks to wait          | as above, after Retry-After at the earliest (at most 5 min)  |
 * | throws more than `maxRetries` times in a row    | it is dropped until it changes                               |
 * | throws because the server is unreachable        | as above, but when the server responds again, it is retried  |
 * |                                                 | at once; this failure does not count for `maxRetries`        |
 * | throws a TerminalError (`request.ts`)           | it is dropped until it changes                               |
 * | cannot parse its object (`Kind.parse`)          | as above: no retry can read it                               |
 * | throws because its owner changed                | owner deleted: waits for a change; owner is newer: at once   |
 * | throws because the process is stopping          | nothing; the next start lists all objects                    |
 * | throws because its namespace leaves the caches  | nothing; if it comes back, all its objects are listed        |
 * | is not called, because the object is paused     | it waits for a change (`pause.ts`)                           |
 *
 * Only this file calls reconcilers. A throw never ends a worker.
 */
import { type KubeObject, type ObjectKey, type Resource, splitKey, type StringMap } from "../api/mod.ts";
import { type Clock, onAbort, scope } from "../async/mod.ts";
import { ApiError, type Client, isUnavailableStatus, isUnreachable } from "../client/mod.ts";
import { errorChain, errorText, type Logger, type ReconcileEndEntry } from "../observe/mod.ts";
import type { QueueItem, WorkQueue } from "../queue/mod.ts";
import { InvalidObjectError } from "../schema/mod.ts";
import type { ActiveNamespaces, NamespaceStay } from "./_active_namespaces.ts";
import { AttemptBodies, type BodySource } from "./_attempt_bodies.ts";
import type { DeletedDependents } from "./_deleted_dependents.ts";
import { NormalizationCache } from "./_diff.ts";
import type { FieldRepair } from "./_loop_detector.ts";
import { type CacheReader, isBounded } from "./caches.ts";
import type { Hub } from "./clusters.ts";
import type { ControllerDefinition } from "./controller_definition.ts";
import { type Daemons, ensureDaemon, stopBeforeEnd } from "./daemon.ts";
import { DeletedObjects, reportDeleted } from "./deleted_objects.ts";
import type { ExternalItems } from "./external.ts";
import type { ReconcileMetrics } from "./metrics.ts";
import type { AttemptRecord, RecordedAttempt, RecordedController } from "./_recorded_controller.ts";
import type { StoppedKeys } from "./_stopped_keys.ts";
import type { WriteThrough } from "./_write_through.ts";
import { hasCondition } from "./_own_condition.ts";
import { observePause } from "./pause.ts";
import { clearStalled, reportStalled, stalledCondition } from "./stalled.ts";
import { findOwnerChange, type OwnerChangedError } from "./owner_errors.ts";
import { ownershipOf, withLabels } from "./ownership.ts";
import {
  type Cause,
  checkedResult,
  done,
  type EventSink,
  requeueAfter,
  type Result,
  TerminalError,
} from "./request.ts";
import type { ShardedKeys } from "./shards.ts";
import { Toolbox } from "./toolbox.ts";

/** What the workers of one controller share. */
export interface WorkerOptions {
  readonly queue: WorkQueue<ObjectKey, Cause>;
  readonly attempt: ReconcileAttempt;
  /** @default Infinity */
  readonly maxRetries?: number;
  readonly unreachableFailures: UnreachableFailures;
  /** Gets the keys that failed and are not retried. */
  readonly stoppedKeys?: StoppedKeys;
  /** Reports on the object that its key is not retried. It never throws. @default nothing is reported */
  readonly reportStalled?: StallReporter;
  /** @default nothing is recorded */
  readonly recorded?: RecordedController;
  readonly log: Logger;
}

/** Reconciles keys until `stop`. Guarantees: never throws, never reconciles one key twice at the same time. */
export async function work(options: WorkerOptions, stop: AbortSignal): Promise<void> {
  while (!stop.aborted) {
    // Under load there is always a key, and tryTake() costs no promise.
    using item = options.queue.tryTake() ?? await options.queue.take(stop);
    if (item === undefined) return;
    await reconcileOnce(options, item);
  }
}

async function reconcileOnce(options: WorkerOptions, item: QueueItem<ObjectKey, Cause>): Promise<void> {
  const { queue, attempt, maxRetries = Infinity, unreachableFailures, recorded } = options;
  const { key } = item;
  const entries = recorded?.begin(item, queue.retries(key));
  const outcome = await attempt(key, item.causes, queue.retries(key), entries);
  const uncounted = unreachableFailures.record(key, outcome);
  if (outcome.kind !== "aborted") options.stoppedKeys?.forget(key);
  switch (outcome.kind) {
    case "done":
      entries?.end({ outcome: "done" });
      return queue.forget(key);
    case "requeue": {
      queue.forget(key);
      const entry = entries?.end({ outcome: "requeue", afterMs: outcome.afterMs });
      return queue.addAfter(key, outcome.afterMs, { cause: { source: "queue", change: "requeue", key, entry } });
    }
    case "paused":
      entries?.end({ outcome: "paused" });
      return queue.forget(key);
    case "aborted":
      entries?.end({ outcome: "aborted" });
      return queue.forget(key);
    case "terminal":
      reportFailure(options, { key, entries, outcome: "terminal", error: outcome.error });
      options.stoppedKeys?.record(key, outcome.error);
      await options.reportStalled?.(key, { error: outcome.error });
      return queue.forget(key);
    case "failed":
      if (queue.retries(key) - uncounted < maxRetries) {
        const entry = reportFailure(options, { key, entries, outcome: "failed", error: outcome.error });
        const minDelayMs = requestedDelayMs(outcome.error);
        return queue.addRateLimited(key, { cause: { ...retryCause(key, outcome.error), entry }, minDelayMs });
      }
      reportFailure(options, { key, entries, outcome: "given-up", error: outcome.error });
      unreachableFailures.forget(key);
      options.stoppedKeys?.record(key, outcome.error);
      await options.reportStalled?.(key, { error: outcome.error, retries: maxRetries });
      return queue.forget(key);
    default:
      outcome satisfies never;
  }
}

/** How a reconcile fails, as its entry in the recording says it, and what the log says. */
const failures = {
  failed: { level: "warn", message: "reconcile failed, retrying" },
  terminal: { level: "error", message: "reconcile failed, not retrying until the object changes" },
  "given-up": { level: "error", message: "reconcile failed after all retries, dropping the key until it changes" },
} as const satisfies Partial<Record<ReconcileEndEntry["outcome"], object>>;

/** A reconcile that has failed. */
interface Failure {
  readonly key: ObjectKey;
  readonly entries: Pick<RecordedAttempt, "end"> | undefined;
  readonly outcome: keyof typeof failures;
  readonly error: unknown;
}

/** Records and logs a failure, in the same words. @returns its entry */
function reportFailure({ queue, log }: WorkerOptions, { key, entries, outcome, error }: Failure): number | undefined {
  const { level, message } = failures[outcome];
  const entry = entries?.end({ outcome, error });
  log[level](message, { key, outcome, retries: queue.retries(key), error, entry });
  return entry;
}

function retryCause(key: ObjectKey, error: unknown): Cause {
  return { source: "queue", change: "retry", key, error: errorText(error) };
}

/** The longest Retry-After that a key waits for, as in the client. */
const maxRequestedDelayMs = 5 * 60_000;

/** How long the server asks to wait, in the error itself or in one that caused it; 0 when it does not ask. */
function requestedDelayMs(error: unknown): number {
  for (const one of errorChain(error)) {
    if (one instanceof ApiError) return Math.min(one.retryAfterMs ?? 0, maxRequestedDelayMs);
  }
  return 0;
}

/** How an attempt ended. */
export type Outcome =
  | Result
  | { readonly kind: "failed"; readonly error: unknown }
  | { readonly kind: "terminal"; readonly error: TerminalError }
  /** A user has paused the object: the reconciler was not called. */
  | { readonly kind: "paused" }
  /** The process is stopping, or the key is no longer one of this process. This is not a failure of the key. */
  | { readonly kind: "aborted" };

/** Reconciles a key once. Guarantees: never throws. */
export type ReconcileAttempt = (
  key: ObjectKey,
  causes: readonly Cause[],
  retries: number,
  recorded?: AttemptRecord,
) => Promise<Outcome>;

/** What becomes of the writes of attempts. */
export type AttemptWrites = Pick<WriteThrough, "clientFor" | "observeLive" | "isUnsettled" | "settle">;

/** What all attempts of a controller share. The callbacks with a key are called once per attempt. */
export interface ReconcileAttemptOptions {
  readonly definition: ControllerDefinition;
  readonly client: Client;
  /** The name of the cluster in a Fleet. @default no Fleet */
  readonly cluster?: string;
  /** @default the cluster of `client` */
  readonly hub?: Hub;
  readonly caches: CacheReader;
  /** The informer of a kind, which loads evicted bodies. @default no kind is bounded */
  readonly informerOf?: (resource: Resource) => BodySource | undefined;
  readonly events: EventSink;
  readonly clock: Clock;
  /** Aborts all attempts. */
  readonly kill: AbortSignal;
  readonly log: Logger;
  readonly deletedDependents?: DeletedDependents;
  /** The deleted objects that the `deleted` function of the definition has not seen. @default none */
  readonly deletedObjects?: DeletedObjects;
  /** @default none */
  readonly externals?: ExternalItems;
  /** @default none */
  readonly daemons?: Daemons;
  /** @default writes reach the caches with the watch only */
  readonly writeThrough?: AttemptWrites;
  /** The keys of this replica. @default all keys */
  readonly shardedKeys?: ShardedKeys;
  /** The namespaces whose keys are reconciled. @default all */
  readonly namespaces?: Pick<ActiveNamespaces, "begin">;
  /** Labels of the dependents of an object. @default none */
  readonly dependentLabels?: (owner: KubeObject) => StringMap | undefined;
  readonly onRepair: (key: ObjectKey) => (repair: FieldRepair) => void;
}

/** A key that is being worked on: its Toolbox, under a signal with the time limit. */
interface OpenKey extends Disposable {
  readonly toolbox: Toolbox;
  /** Undefined when all keys belong to this replica. */
  readonly hold: ReturnType<ShardedKeys["begin"]>;
  /** Undefined when all namespaces count. */
  readonly stay: NamespaceStay | undefined;
  readonly signal: AbortSignal;
}

/**
 * Creates the function that opens a key. It returns undefined for one that went to another replica, which reconciles it, and
 * for one whose namespace has left the caches.
 */
function keyOpener(options: ReconcileAttemptOptions) {
  const { definition, cluster, hub, caches, events, clock, kill, log, deletedDependents, writeThrough, shardedKeys } =
    options;
  const { reconcileTimeoutMs, fieldManager = definition.name } = definition.options;
  const normalizations = new NormalizationCache();
  const ownership = withLabels(ownershipOf(definition), options.dependentLabels ?? (() => undefined));
  return (...[key, causes, retries, recorded]: Parameters<ReconcileAttempt>): OpenKey | undefined => {
    const hold = shardedKeys?.begin(key);
    if (shardedKeys !== undefined && hold === undefined) return undefined;
    const stay = options.namespaces?.begin(key);
    if (options.namespaces !== undefined && stay === undefined) {
      hold?.[Symbol.dispose]();
      return undefined;
    }
    const attempt = scope(kill, { timeoutMs: reconcileTimeoutMs, clock });
    const losing = hold && onAbort(hold.signal, () => attempt.abort(hold.signal.reason));
    const leaving = stay && onAbort(stay.signal, () => attempt.abort(stay.signal.reason));
    const client = hold?.fence(options.client) ?? options.client;
    const bodies = options.informerOf && new AttemptBodies(options.informerOf);
    const toolbox = new Toolbox({
      request: { key, ...splitKey(key), ...(cluster === undefined ? {} : { cluster }) },
      client: writeThrough?.clientFor(key, client, attempt.signal, recorded) ?? client,
      hub,
      caches: recorded?.caches(caches) ?? caches,
      events: recorded?.events(events) ?? events,
      signal: attempt.signal,
      log: log.with(hold === undefined ? { key } : { key, slot: hold.slot }),
      clock,
      fieldManager,
      normalizations,
      bodies,
      deletedDependents,
      ownership,
      dependents: definition.dependents,
      externals: options.externals,
      impersonates: definition.impersonates,
      causes,
      retries,
      observeLive: (resource, object) => writeThrough?.observeLive(key, resource, object),
      entryOf: (resource, object) => recorded?.writeOf(resource, object),
      onNotControlled: (resource, error) => recorded?.leftAlone(resource, error),
      onRepair: options.onRepair(key),
    });
    const end = () => {
      for (const one of [bodies, losing, leaving, attempt, stay, hold]) one?.[Symbol.dispose]();
    };
    return { toolbox, hold, stay, signal: attempt.signal, [Symbol.dispose]: end };
  };
}

/** Creates the function that reconciles one key. */
export function createReconcileAttempt(options: ReconcileAttemptOptions): ReconcileAttempt {
  const { definition, kill, writeThrough, shardedKeys, deletedObjects = new DeletedObjects() } = options;
  const open = keyOpener(options);
  const canStall = definition.options.reportsStalled !== false && hasCondition(definition, stalledCondition);
  return async (key, causes, retries, recorded) => {
    using opened = open(key, causes, retries, recorded);
    if (opened === undefined) return { kind: "aborted" };
    const { toolbox, hold, stay, signal } = opened;
    try {
      if (hold !== undefined && !await hold.confirm(signal)) return { kind: "aborted" };
      if (writeThrough?.isUnsettled(key)) await writeThrough.settle(key, signal);
      if (isBounded(definition.primary)) await toolbox.read(definition.primary, key);
      const reported = await reportDeleted(definition, deletedObjects, toolbox);
      if (reported.kind !== "done") return checkedResult(reported);
      if (await observePause(definition, toolbox)) return { kind: "paused" };
      const result = checkedResult(await reconcileWithDaemon(options, toolbox));
      if (canStall) await clearStalled(definition, toolbox);
      if (result.kind === "done") shardedKeys?.forget(key);
      return result;
    } catch (error) {
      if (kill.aborted || hold?.signal.aborted === true || stay?.signal.aborted === true) return { kind: "aborted" };
      const change = findOwnerChange(error);
      if (change !== undefined) return resultAfterOwnerChange(change, toolbox.log);
      if (error instanceof TerminalError) return { kind: "terminal", error };
      if (isAboutPrimary(error, definition, toolbox)) return { kind: "terminal", error: unreadableError(error) };
      return { kind: "failed", error };
    }
  };
}

/** True for the error of `Kind.parse` about the object that is reconciled: no retry can read it. */
function isAboutPrimary(
  error: unknown,
  { primary }: ControllerDefinition,
  toolbox: Toolbox,
): error is InvalidObjectError {
  if (!(error instanceof InvalidObjectError) || error.kind !== primary.kind) return false;
  const { uid } = (toolbox.find(primary, toolbox.request.key) as KubeObject | undefined)?.metadata ?? {};
  return uid !== undefined && error.uid === uid;
}

function unreadableError(cause: InvalidObjectError): TerminalError {
  return new TerminalError(cause.message, { cause });
}

/** Reports on an object that its key failed and is not retried. Guarantees: never throws. */
export type StallReporter = (
  key: ObjectKey,
  failure: { readonly error: unknown; readonly retries?: number },
) => Promise<void>;

/** Creates the function that reports on objects whose keys are not retried. */
export function createStallReporter(options: ReconcileAttemptOptions): StallReporter {
  const { definition, log } = options;
  const open = keyOpener(options);
  return async (key, failure) => {
    using opened = open(key, [], 0);
    if (opened === undefined) return;
    const { toolbox, hold, signal } = opened;
    try {
      if (hold !== undefined && !await hold.confirm(signal)) return;
      if (isBounded(definition.primary)) await toolbox.read(definition.primary, key);
      await reportStalled(definition, toolbox, failure);
    } catch (error) {
      // The next failure of the key reports it again.
      log.debug("cannot report on the object that its key is not retried", { key, error });
    }
  };
}

/** Calls the reconciler when the daemon of a deleted object has ended, and starts that of an object that exists. */
async function reconcileWithDaemon(
  { definition, daemons, caches }: ReconcileAttemptOptions,
  toolbox: Toolbox,
): Promise<Result> {
  const { request } = toolbox;
  if (daemons === undefined) return await definition.reconciler(request, toolbox);
  const find = () => caches.find(definition.primary, request.key) as KubeObject | undefined;
  const waitMs = stopBeforeEnd(daemons, request.key, find());
  if (waitMs > 0) return requeueAfter(waitMs);
  try {
    return await definition.reconciler(request, toolbox);
  } finally {
    ensureDaemon(daemons, definition.finalizer, find());
  }
}

/** The delay prevents an endless loop of requests if a cache claims to have the newer owner but cannot return it. */
const staleCacheRequeueMs = 1_000;

/** A deleted owner needs nothing more. A newer owner is in the cache by now, which has requeued the key. */
function resultAfterOwnerChange({ state, message }: OwnerChangedError, log: Logger): Result {
  log.debug("waiting for the cache", { reason: message });
  return state === "deleted" ? done : requeueAfter(staleCacheRequeueMs);
}

/** Wraps an attempt so that its number, duration and outcome are counted. */
export function measureAttempt(attempt: ReconcileAttempt, metrics: ReconcileMetrics, clock: Clock): ReconcileAttempt {
  return async (key, causes, retries, recorded) => {
    const startedAt = clock.monotonic();
    metrics.onStart();
    const outcome = await attempt(key, causes, retries, recorded);
    metrics.onFinish(key, outcome.kind === "paused" ? "done" : outcome.kind, clock.monotonic() - startedAt);
    return outcome;
  };
}

/** Waits for a turn among the clusters of a Fleet. Dispose the result when the work has ended. @throws the signal's reason */
export type ReconcileTurn = (signal: AbortSignal) => Promise<Disposable>;

/** Wraps an attempt so that it begins when it has a turn. */
export function takeTurns(attempt: ReconcileAttempt, turn: ReconcileTurn, kill: AbortSignal): ReconcileAttempt {
  return async (key, causes, retries, recorded) => {
    let taken: Disposable;
    try {
      taken = await turn(kill);
    } catch {
      return { kind: "aborted" };
    }
    using _turn = taken;
    return await attempt(key, causes, retries, recorded);
  };
}

/**
 * Counts failures because the API server was unreachable, per key, until the key succeeds or is dropped. Such failures do
 * not use up retries: they are not caused by the key, and an Event about a dropped key could not be sent either.
 */
export class UnreachableFailures {
  readonly #counts = new Map<ObjectKey, number>();
  /** The keys whose last failure was of this kind. */
  readonly #waiting = new Set<ObjectKey>();

  /** @returns How many failures of the key do not count as retries; Infinity when this failure is one of them. */
  record(key: ObjectKey, outcome: Outcome): number {
    if (this.#waiting.size > 0) this.#waiting.delete(key);
    if (outcome.kind !== "failed") {
      if (this.#counts.size > 0) this.#counts.delete(key);
      return 0;
    }
    if (isServerFailure(outcome.error)) this.#waiting.add(key);
    const before = this.#counts.get(key) ?? 0;
    if (!isUnreachableFailure(outcome.error)) return before;
    this.#counts.set(key, before + 1);
    return Infinity;
  }

  forget(key: ObjectKey): void {
    this.#counts.delete(key);
    this.#waiting.delete(key);
  }

  /** The server responds again: retries the keys that failed because it did not, within 1 s, whatever their backoff is. */
  retryAll(queue: WorkQueue<ObjectKey, Cause>): void {
    let position = 0;
    for (const key of this.#waiting) queue.addAfter(key, 1 + position++ % maxSpreadMs);
    this.#waiting.clear();
  }
}

/** Spreads the retries after an outage. */
const maxSpreadMs = 1_000;

/** True when the server did not respond, or a proxy responded that it is not available. */
function isServerFailure(error: unknown): boolean {
  if (isUnreachableFailure(error)) return true;
  const cause = error instanceof Error && !(error instanceof ApiError) ? error.cause : error;
  return cause instanceof ApiError && cause.retryAfterMs === undefined && isUnavailableStatus(cause.code);
}

/** True when a request of the reconciler got no response. */
function isUnreachableFailure(error: unknown): boolean {
  return isUnreachable(error) || (error instanceof Error && isUnreachable(error.cause));
}
