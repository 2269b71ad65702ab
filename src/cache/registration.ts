/**
 * Registration: what the owner of a handler gets back when it adds the handler to an informer, or to the informers of several
 * namespaces: its progress, its resyncs, its removal.
 */
import { type Clock, Latch } from "../async/mod.ts";
import type { Listener, ListenerSource } from "./listener.ts";
import { Resyncs } from "./resyncs.ts";
import type { HandlerRegistration } from "./shared_informer.ts";

/** Options of a {@link Registration}. */
export interface RegistrationOptions<T> {
  readonly listener: Listener<T>;
  readonly sources: Iterable<ListenerSource<T>>;
  /** Milliseconds between two resyncs; 0: none. */
  readonly resyncMs: number;
  readonly clock: Clock;
  readonly onRemoved: (registration: Registration<T>) => void;
}

/**
 * One handler of one or several informers. They share its listener, so that the handler has one backlog and one call at a
 * time, for any number of namespaces.
 */
export class Registration<T> implements HandlerRegistration {
  readonly #options: RegistrationOptions<T>;
  readonly #attachments = new Map<ListenerSource<T>, Disposable>();
  /** Sources whose initial objects are not processed yet. */
  readonly #unsynced = new Set<ListenerSource<T>>();
  readonly #synced = new Latch();
  readonly #resyncs: Disposable | undefined;

  constructor(options: RegistrationOptions<T>) {
    if (!(options.resyncMs >= 0)) {
      throw new RangeError(`Cannot add handler ${options.listener.name}: resyncMs ${options.resyncMs} is below 0`);
    }
    this.#options = options;
    for (const source of options.sources) this.attachTo(source);
    this.#checkSynced();
    this.#resyncs = this.#startResyncs();
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

  /** Adds one more informer. @param namespace The handler is told when it has all objects of this namespace. @default it is not */
  attachTo(source: ListenerSource<T>, namespace?: string): void {
    const { listener } = this.#options;
    this.#unsynced.add(source);
    this.#attachments.set(
      source,
      source.attach(listener, () => {
        if (!this.#unsynced.delete(source)) return;
        this.#checkSynced();
        if (namespace !== undefined) listener.namespaceChanged("namespace-added", namespace);
      }),
    );
  }

  /** Removes the informer of a namespace; its changes that wait for the handler are still processed. */
  detachFrom(source: ListenerSource<T>, namespace: string): void {
    this.#attachments.get(source)?.[Symbol.dispose]();
    this.#attachments.delete(source);
    if (this.#unsynced.delete(source)) this.#checkSynced();
    this.#options.listener.namespaceChanged("namespace-removed", namespace);
  }

  /** The informer has stopped: changes that wait for the handler are dropped. */
  stop(): void {
    this.#end("stopped");
    void this.#options.listener.remove();
  }

  #end(how: "removed" | "stopped"): void {
    this.#resyncs?.[Symbol.dispose]();
    for (const attachment of this.#attachments.values()) attachment[Symbol.dispose]();
    this.#attachments.clear();
    this.#synced.break(new Error(`Cannot wait for handler ${this.name} to sync: it was ${how}`));
  }

  #checkSynced(): void {
    if (this.#unsynced.size === 0) this.#synced.open();
  }

  #startResyncs(): Disposable | undefined {
    const { listener, resyncMs: periodMs, clock } = this.#options;
    if (periodMs === 0) return undefined;
    const hasSynced = () => this.hasSynced;
    return new Resyncs({ listener, sources: this.#attachments, hasSynced, periodMs, clock });
  }
}
