/**
 * Listener: brings changes to one handler, one call at a time.
 *
 * A handler that returns no promise is called on the spot and costs nothing more. One that returns a promise is busy
 * until it settles; what comes meanwhile waits here, in order, and delays nobody else. A call that throws or rejects
 * is reported with the handler's name, and the next call is made.
 */
import type { Logger } from "../observe/mod.ts";
import type { AddedInfo, InformerHandler, Tombstone } from "./handler.ts";
import type { CacheMetrics } from "./metrics.ts";

/** Backlog at which a handler is called slow in the log, and again each time it has doubled. */
export const slowHandlerBacklog = 1_000;

/** Options of a {@link Listener}. */
export interface ListenerOptions<T> {
  readonly name: string;
  readonly informer: string;
  readonly handler: InformerHandler<T>;
  readonly log: Logger;
  readonly metrics: CacheMetrics;
  /** Hears of what a handler throws. */
  readonly onError: (error: unknown, handler: string) => void;
}

type Entry<T> =
  | { readonly kind: "added"; readonly object: T; readonly info: AddedInfo }
  | { readonly kind: "updated"; readonly old: T; readonly current: T }
  | { readonly kind: "deleted"; readonly tombstone: Tombstone<T> }
  /** Not for the handler: says that everything before it was processed. */
  | { readonly kind: "marker"; readonly reached: () => void };

/** Serves one handler. */
export class Listener<T> {
  readonly #options: ListenerOptions<T>;
  readonly #labels: { readonly name: string; readonly handler: string };
  #entries: Entry<T>[] = [];
  #head = 0;
  /** Entries that are no calls. */
  #markers = 0;
  #warnAt = slowHandlerBacklog;
  #removed = false;
  /** Set while a call is under way. Starts so: nobody is called before the code that adds the handler has returned. */
  #busy: Promise<void> | undefined;

  constructor(options: ListenerOptions<T>) {
    this.#options = options;
    this.#labels = { name: options.informer, handler: options.name };
    this.#busy = this.#drainAfter(Promise.resolve());
  }

  get name(): string {
    return this.#options.name;
  }

  /** Calls that wait. */
  get backlog(): number {
    return this.#entries.length - this.#head - this.#markers;
  }

  added(object: T, info: AddedInfo): void {
    const { handler } = this.#options;
    if (this.#removed || handler.added === undefined) return;
    if (this.#busy !== undefined) return this.#push({ kind: "added", object, info });
    try {
      this.#follow(handler.added(object, info));
    } catch (error) {
      this.#failed(error);
    }
  }

  updated(old: T, current: T): void {
    const { handler } = this.#options;
    if (this.#removed || handler.updated === undefined) return;
    if (this.#busy !== undefined) return this.#push({ kind: "updated", old, current });
    try {
      this.#follow(handler.updated(old, current));
    } catch (error) {
      this.#failed(error);
    }
  }

  deleted(tombstone: Tombstone<T>): void {
    const { handler } = this.#options;
    if (this.#removed || handler.deleted === undefined) return;
    if (this.#busy !== undefined) return this.#push({ kind: "deleted", tombstone });
    try {
      this.#follow(handler.deleted(tombstone));
    } catch (error) {
      this.#failed(error);
    }
  }

  /** Calls `reached` when everything told so far was processed; never when the listener is removed first. */
  mark(reached: () => void): void {
    if (this.#removed) return;
    if (this.#busy === undefined) return reached();
    this.#markers++;
    this.#entries.push({ kind: "marker", reached });
  }

  /** Begins no further call; resolves when none is under way. */
  async remove(): Promise<void> {
    this.#removed = true;
    this.#entries = [];
    this.#head = 0;
    this.#markers = 0;
    await this.#busy;
  }

  /** Waits for a call that returned a promise; for any other there is nothing to do. */
  #follow(result: unknown): void {
    if (isPromise(result)) this.#busy = this.#drainAfter(result);
  }

  async #drainAfter(call: PromiseLike<unknown>): Promise<void> {
    await this.#settled(call);
    for (let entry = this.#shift(); entry !== undefined; entry = this.#shift()) {
      try {
        const result = this.#call(entry);
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

  #call(entry: Entry<T>): unknown {
    const { handler } = this.#options;
    switch (entry.kind) {
      case "added":
        return handler.added?.(entry.object, entry.info);
      case "updated":
        return handler.updated?.(entry.old, entry.current);
      case "deleted":
        return handler.deleted?.(entry.tombstone);
      case "marker":
        return entry.reached();
      default:
        return entry satisfies never;
    }
  }

  #push(entry: Entry<T>): void {
    this.#entries.push(entry);
    const { backlog } = this;
    this.#options.metrics.set("informer_queued_items", this.#labels, backlog);
    if (backlog < this.#warnAt) return;
    this.#warnAt = backlog * 2;
    this.#options.log.warn("A handler is slow, changes wait for it", { ...this.#labels, backlog });
  }

  #shift(): Entry<T> | undefined {
    const entry = this.#entries[this.#head];
    if (entry === undefined) {
      this.#entries = [];
      this.#head = 0;
      return undefined;
    }
    this.#head++;
    if (entry.kind === "marker") this.#markers--;
    // Lets go of what was processed without moving the rest each time.
    if (this.#head >= 1_024 && this.#head * 2 >= this.#entries.length) {
      this.#entries = this.#entries.slice(this.#head);
      this.#head = 0;
    }
    this.#options.metrics.set("informer_queued_items", this.#labels, this.backlog);
    return entry;
  }

  #failed(error: unknown): void {
    const { name, metrics, log, onError } = this.#options;
    metrics.count("informer_handler_errors_total", this.#labels);
    log.error("A handler threw, the next change is told all the same", { ...this.#labels, error });
    onError(error, name);
  }
}

function isPromise(result: unknown): result is PromiseLike<unknown> {
  return typeof result === "object" && result !== null && "then" in result && typeof result.then === "function";
}
