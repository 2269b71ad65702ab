/**
 * Registration: one handler of one or several informers. Its listener is shared between them, so that the handler has
 * one backlog and one call at a time, however many namespaces it looks at.
 */
import type { Clock } from "../async/mod.ts";
import { Latch } from "./_latch.ts";
import type { Listener } from "./_listener.ts";
import type { HandlerRegistration } from "./handler.ts";

/** What a listener can be attached to: an informer. */
export interface ListenerSource<T> {
  /** Tells the listener what is there, then calls `onInitial` (when that was processed), then tells what changes. */
  attach(listener: Listener<T>, onInitial: () => void): Disposable;
  /** What is there. */
  values(): Iterable<T>;
}

/** Options of a {@link Registration}. */
export interface RegistrationOptions<T> {
  readonly listener: Listener<T>;
  readonly sources: Iterable<ListenerSource<T>>;
  /** Milliseconds between two resyncs; 0: none. */
  readonly resyncMs: number;
  readonly clock: Clock;
  readonly onRemoved: (registration: Registration<T>) => void;
}

/** What a handler's owner holds. */
export class Registration<T> implements HandlerRegistration {
  readonly #options: RegistrationOptions<T>;
  readonly #attachments = new Map<ListenerSource<T>, Disposable>();
  readonly #initial = new Set<ListenerSource<T>>();
  readonly #synced = new Latch();
  #resync: Disposable | undefined;
  #resyncing = false;

  constructor(options: RegistrationOptions<T>) {
    if (!(options.resyncMs >= 0)) {
      throw new RangeError(`Cannot add handler ${options.listener.name}: resyncMs ${options.resyncMs} is below 0`);
    }
    this.#options = options;
    for (const source of options.sources) this.follow(source);
    if (this.#attachments.size === 0) this.#initialDone();
    this.#armResync();
  }

  get name(): string {
    return this.#options.listener.name;
  }

  get hasSynced(): boolean {
    return this.#synced.isOpen;
  }

  get backlog(): number {
    return this.#options.listener.backlog;
  }

  synced(signal: AbortSignal): Promise<void> {
    return this.#synced.wait(signal);
  }

  async remove(): Promise<void> {
    this.#end("removed");
    this.#options.onRemoved(this);
    await this.#options.listener.remove();
  }

  /** Hears of one more informer. */
  follow(source: ListenerSource<T>): void {
    this.#initial.add(source);
    this.#attachments.set(
      source,
      source.attach(this.#options.listener, () => {
        if (this.#initial.delete(source)) this.#initialDone();
      }),
    );
  }

  /** Hears no more of an informer; what it has told already is still processed. */
  unfollow(source: ListenerSource<T>): void {
    this.#attachments.get(source)?.[Symbol.dispose]();
    this.#attachments.delete(source);
    if (this.#initial.delete(source)) this.#initialDone();
  }

  /** The informer has stopped: what waits is dropped. */
  stop(): void {
    this.#end("stopped");
    void this.#options.listener.remove();
  }

  #end(how: "removed" | "stopped"): void {
    this.#resync?.[Symbol.dispose]();
    this.#resync = undefined;
    for (const attachment of this.#attachments.values()) attachment[Symbol.dispose]();
    this.#attachments.clear();
    this.#synced.break(new Error(`Cannot wait for handler ${this.name} to sync: it was ${how}`));
  }

  #initialDone(): void {
    if (this.#initial.size === 0) this.#synced.open();
  }

  #armResync(): void {
    const { resyncMs, clock } = this.#options;
    if (resyncMs === 0) return;
    this.#resync = clock.timer(resyncMs, () => {
      this.#armResync();
      this.#resyncAll();
    });
  }

  /** In one step, so that what a resync says is never older than what was said before it. */
  #resyncAll(): void {
    const { listener } = this.#options;
    // A handler that is still at the last one is not given another: its backlog would only grow.
    if (!this.hasSynced || this.#resyncing) return;
    this.#resyncing = true;
    for (const source of this.#attachments.keys()) {
      for (const object of source.values()) listener.updated(object, object);
    }
    listener.mark(() => this.#resyncing = false);
  }
}
