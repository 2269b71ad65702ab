/**
 * Listener: delivers changes to one handler, one call at a time. FanOut: delivers each change to all listeners of a
 * cache.
 *
 *   CacheWriter -> FanOut -> Listener (one per handler) -> InformerHandler
 *
 * A handler that returns no promise is called at once and costs nothing more. One that returns a promise is busy until
 * the promise settles; changes that come meanwhile wait in its listener, in order, and do not delay other handlers. A
 * call that throws or rejects is reported with the handler's name, and the next call follows.
 */
import type { ObjectKey } from "../api/mod.ts";
import type { Logger } from "../observe/mod.ts";
import type { CacheMetrics } from "./metrics.ts";
import type { AddedInfo, ChangeInfo, InformerHandler, Tombstone } from "./shared_informer.ts";
import type { InterveningChange } from "./written_objects.ts";

/** Backlog at which a handler is logged as slow, and again each time the backlog has doubled. */
const slowHandlerBacklog = 1_000;

/** Options of a {@link Listener}. */
export interface ListenerOptions<T> {
  readonly name: string;
  readonly informer: string;
  readonly handler: InformerHandler<T>;
  readonly log: Logger;
  readonly metrics: CacheMetrics;
  /** Called with everything that the handler throws. */
  readonly onError: (error: unknown, handler: string) => void;
}

type Notification<T> =
  | { readonly kind: "added"; readonly object: T; readonly info: AddedInfo }
  | { readonly kind: "updated"; readonly old: T; readonly current: T; readonly info: ChangeInfo }
  | { readonly kind: "deleted"; readonly tombstone: Tombstone<T> }
  | { readonly kind: "intervening"; readonly change: InterveningChange<T> }
  | { readonly kind: "namespace-added" | "namespace-removed"; readonly namespace: string }
  /** Not for the handler: everything before it was processed. */
  | { readonly kind: "marker"; readonly onReached: () => void };

/** Serves one handler. */
export class Listener<T> {
  readonly #options: ListenerOptions<T>;
  readonly #labels: { readonly name: string; readonly handler: string };
  #pending: Notification<T>[] = [];
  #head = 0;
  /** Pending markers. */
  #markers = 0;
  #warnAt = slowHandlerBacklog;
  #isRemoved = false;
  /**
   * Set while a call is in progress. Also set at first: the handler must not be called before the code that adds it has
   * returned.
   */
  #busy: Promise<void> | undefined;

  /** @throws TypeError when the handler has no function at all */
  constructor(options: ListenerOptions<T>) {
    const { name, informer, handler } = options;
    if (handler.onAdd === undefined && handler.onUpdate === undefined && handler.onDelete === undefined) {
      throw new TypeError(`Cannot add handler ${name}: it has none of onAdd, onUpdate and onDelete`);
    }
    this.#options = options;
    this.#labels = { name: informer, handler: name };
    this.#busy = this.#drainAfter(Promise.resolve());
  }

  get name(): string {
    return this.#options.name;
  }

  /** Calls that wait. */
  get backlog(): number {
    return this.#pending.length - this.#head - this.#markers;
  }

  added(object: T, info: AddedInfo): void {
    const { handler } = this.#options;
    if (this.#isRemoved || handler.onAdd === undefined) return;
    if (this.#busy !== undefined) return this.#push({ kind: "added", object, info });
    try {
      this.#waitFor(handler.onAdd(object, info));
    } catch (error) {
      this.#failed(error);
    }
  }

  updated(old: T, current: T, info: ChangeInfo): void {
    const { handler } = this.#options;
    if (this.#isRemoved || handler.onUpdate === undefined) return;
    if (this.#busy !== undefined) return this.#push({ kind: "updated", old, current, info });
    try {
      this.#waitFor(handler.onUpdate(old, current, info));
    } catch (error) {
      this.#failed(error);
    }
  }

  deleted(tombstone: Tombstone<T>): void {
    const { handler } = this.#options;
    if (this.#isRemoved || handler.onDelete === undefined) return;
    if (this.#busy !== undefined) return this.#push({ kind: "deleted", tombstone });
    try {
      this.#waitFor(handler.onDelete(tombstone));
    } catch (error) {
      this.#failed(error);
    }
  }

  intervening(change: InterveningChange<T>): void {
    const { handler } = this.#options;
    if (this.#isRemoved || handler.onIntervening === undefined) return;
    if (this.#busy !== undefined) return this.#push({ kind: "intervening", change });
    try {
      this.#waitFor(handler.onIntervening(change));
    } catch (error) {
      this.#failed(error);
    }
  }

  /** Tells the handler that the cache has one namespace more or less. */
  namespaceChanged(kind: "namespace-added" | "namespace-removed", namespace: string): void {
    if (this.#isRemoved) return;
    const notification: Notification<T> = { kind, namespace };
    if (this.#busy !== undefined) return this.#push(notification);
    try {
      this.#waitFor(this.#call(notification));
    } catch (error) {
      this.#failed(error);
    }
  }

  /** Calls `onReached` when everything delivered so far was processed; never when the listener is removed first. */
  mark(onReached: () => void): void {
    if (this.#isRemoved) return;
    if (this.#busy === undefined) return onReached();
    this.#markers++;
    this.#pending.push({ kind: "marker", onReached });
  }

  /** Begins no further call; resolves when none is in progress. */
  async remove(): Promise<void> {
    this.#isRemoved = true;
    this.#pending = [];
    this.#head = 0;
    this.#markers = 0;
    await this.#busy;
  }

  /** Makes the listener busy while a call that returned a promise is in progress. */
  #waitFor(result: unknown): void {
    if (isPromise(result)) this.#busy = this.#drainAfter(result);
  }

  async #drainAfter(call: PromiseLike<unknown>): Promise<void> {
    await this.#settled(call);
    for (let next = this.#shift(); next !== undefined; next = this.#shift()) {
      try {
        const result = this.#call(next);
        if (isPromise(result)) await this.#settled(result);
      } catch (error) {
        this.#failed(error);
      }
    }
    this.#busy = undefined;
    this.#warnAt = slowHandlerBacklog;
  }

  async #settled(call: PromiseLike<unknown>): Promise<void> {
    try {
      await call;
    } catch (error) {
      this.#failed(error);
    }
  }

  #call(notification: Notification<T>): unknown {
    const { handler } = this.#options;
    switch (notification.kind) {
      case "added":
        return handler.onAdd?.(notification.object, notification.info);
      case "updated":
        return handler.onUpdate?.(notification.old, notification.current, notification.info);
      case "deleted":
        return handler.onDelete?.(notification.tombstone);
      case "intervening":
        return handler.onIntervening?.(notification.change);
      case "namespace-added":
        return handler.onNamespaceAdded?.(notification.namespace);
      case "namespace-removed":
        return handler.onNamespaceRemoved?.(notification.namespace);
      case "marker":
        return notification.onReached();
      default:
        return notification satisfies never;
    }
  }

  #push(notification: Notification<T>): void {
    this.#pending.push(notification);
    const { backlog } = this;
    this.#options.metrics.set("informer_queued_items", this.#labels, backlog);
    if (backlog < this.#warnAt) return;
    this.#warnAt = backlog * 2;
    this.#options.log.warn("handler is slow", { ...this.#labels, backlog });
  }

  #shift(): Notification<T> | undefined {
    const next = this.#pending[this.#head];
    if (next === undefined) {
      this.#pending = [];
      this.#head = 0;
      return undefined;
    }
    this.#head++;
    if (next.kind === "marker") this.#markers--;
    // Releases what was processed, without moving the rest each time.
    if (this.#head >= 1_024 && this.#head * 2 >= this.#pending.length) {
      this.#pending = this.#pending.slice(this.#head);
      this.#head = 0;
    }
    this.#options.metrics.set("informer_queued_items", this.#labels, this.backlog);
    return next;
  }

  #failed(error: unknown): void {
    const { name, metrics, log, onError } = this.#options;
    metrics.count("informer_handler_errors_total", this.#labels);
    log.error("handler failed", { ...this.#labels, error });
    onError(error, name);
  }
}

function isPromise(result: unknown): result is PromiseLike<unknown> {
  return typeof result === "object" && result !== null && "then" in result && typeof result.then === "function";
}

/**
 * Delivers each change to all listeners of one cache, in order. Listeners may be added and removed meanwhile: the list is
 * copied when it changes, so a new listener does not get a change that it already has from the store.
 */
export class FanOut<T> {
  #listeners: readonly Listener<T>[] = [];

  get listeners(): readonly Listener<T>[] {
    return this.#listeners;
  }

  add(listener: Listener<T>): void {
    this.#listeners = [...this.#listeners, listener];
  }

  remove(listener: Listener<T>): void {
    this.#listeners = this.#listeners.filter((other) => other !== listener);
  }

  /** `listeners`: for the changes of one full state, those that existed when the state came. */
  added(object: T, info: AddedInfo, listeners = this.#listeners): void {
    for (const listener of listeners) listener.added(object, info);
  }

  updated(old: T, current: T, info: ChangeInfo, listeners = this.#listeners): void {
    for (const listener of listeners) listener.updated(old, current, info);
  }

  deleted(key: ObjectKey, last: Omit<Tombstone<T>, "key">, listeners = this.#listeners): void {
    if (listeners.length === 0) return;
    const tombstone: Tombstone<T> = { key, ...last };
    for (const listener of listeners) listener.deleted(tombstone);
  }

  intervening(change: InterveningChange<T>): void {
    for (const listener of this.#listeners) listener.intervening(change);
  }
}

/** Shared values, so that an add allocates nothing. */
export const initialAdd: AddedInfo = Object.freeze({ isInInitialList: true });
export const liveAdd: AddedInfo = Object.freeze({ isInInitialList: false });
export const observedChange: ChangeInfo = Object.freeze({});

/** What a listener can be attached to: an informer. */
export interface ListenerSource<T> {
  /**
   * Delivers all cached objects, then calls `onInitial` when the listener has processed them, and delivers changes from
   * then on. Dispose the result to detach the listener.
   */
  attach(listener: Listener<T>, onInitial: () => void): Disposable;
  /** The keys of the cached objects. */
  keys(): Iterable<ObjectKey>;
  get(key: ObjectKey): T | undefined;
  /** True while it reads objects that it lacks. */
  isFilling(): boolean;
}
