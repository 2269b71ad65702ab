/**
 * ConditionalInformer: the cache of a kind for one watcher, as long as a condition holds. The condition is a function of one
 * object, which has a cache of its own, so it is evaluated again whenever that object changes.
 *
 *   cache of the object -> condition -> hold() -> the shared informer of the kind -> handlers
 *
 * Guarantees: while the condition does not hold, nothing of the kind is listed or watched for this watcher, and its cache has
 * no objects. When the condition begins to hold, the handlers are notified of all objects with `isInInitialList: true`; then
 * the cache is active. When it ends to hold, the objects are forgotten at once: `onDelete` is not called for them, because
 * they may exist. Watchers with different conditions share one informer; the last one to leave stops it.
 */
import type { KubeObject, ObjectKey, ResourceVersion } from "../api/mod.ts";
import { aborted, Latch } from "../async/mod.ts";
import { type LoadedBodies, nothingLoaded } from "./body_loader.ts";
import { Lister } from "./lister.ts";
import type {
  Activation,
  ActivationState,
  CachedNamespaces,
  HandlerOptions,
  HandlerRegistration,
  InformerHandler,
  SharedInformer,
  WaitForOptions,
} from "./shared_informer.ts";
import type { InformerStatus } from "./status.ts";
import type { Indexers, StoreReader } from "./store.ts";
import type { OwnWrite, Writer, WriteThroughResult } from "./written_objects.ts";

/** On which object a watch depends, and how. */
export interface CacheCondition {
  /** The cache that has the object; it may have others. */
  readonly informer: SharedInformer<KubeObject>;
  /** The key of the object. */
  readonly key: ObjectKey;
  /** Returns true while the kind is to be watched; otherwise a text that says what is missing. It must not throw. */
  readonly evaluate: (object: KubeObject | undefined) => true | string;
}

/** A shared informer that runs as long as somebody holds it. Dispose it to let it go. */
export interface InformerHold<T extends KubeObject> extends Disposable {
  /** It runs at least until this is disposed. */
  readonly informer: SharedInformer<T>;
}

/** Options of a {@link ConditionalInformer}. */
export interface ConditionalInformerOptions<T extends KubeObject> {
  /** For logs, metrics and errors: that of the shared informer. */
  readonly name: string;
  /** While it holds, the cache has objects. */
  readonly condition: CacheCondition;
  /** Returns the shared informer, running. */
  readonly hold: () => InformerHold<T>;
  /** True when the shared informer is one of several namespaces. */
  readonly hasNamespaces: boolean;
  /** Called with each new state, before those who listen to it. @default not called */
  readonly onState?: (state: ActivationState) => void;
}

/**
 * A cache that has objects while a condition holds. `conditional` of an InformerFactory creates one; controllers declare an
 * `activation` instead.
 *
 * @example ConfigMaps, while a Namespace exists
 * ```ts
 * import { ConfigMap, Namespace, objectKey } from "@pintle/controller";
 * import { type ConditionalInformer, informersOf } from "@pintle/controller/cache";
 * import { World } from "@pintle/controller/testing";
 *
 * await using world = await World.start({ controllers: [], cluster: false });
 * await world.create(ConfigMap, { name: "a" });
 * const informers = informersOf(world.client, { clock: world.clock });
 * const maps: ConditionalInformer<ConfigMap> = informers.conditional(ConfigMap, { namespace: "default" }, {
 *   condition: {
 *     informer: informers.informer(Namespace),
 *     key: objectKey({ name: "shop" }),
 *     evaluate: (namespace) => namespace !== undefined || "there is no shop",
 *   },
 * });
 * const stop = new AbortController();
 * const running = informers.run(stop.signal);
 * await maps.synced(stop.signal);
 * console.assert(maps.activation.state.kind === "inactive" && maps.lister.size === 0);
 * const active = new Promise<void>((resolve) => maps.activation.listen(resolve));
 * await world.create(Namespace, { name: "shop" });
 * await active;
 * console.assert(maps.lister.findNamed("a", "default") !== undefined);
 * stop.abort();
 * await running;
 * ```
 */
export class ConditionalInformer<T extends KubeObject> implements SharedInformer<T> {
  readonly name: string;
  readonly lister: Lister<T>;
  readonly activation: Activation;
  readonly cachedNamespaces: CachedNamespaces | undefined;
  readonly #options: ConditionalInformerOptions<T>;
  readonly #registrations = new Set<ConditionalRegistration<T>>();
  readonly #indexers: Indexers<T>[] = [];
  readonly #listeners = new Set<() => void>();
  /** Opens when the condition was evaluated, and the cache filled if it held. */
  readonly #settled = new Latch();
  #state: ActivationState = { kind: "unknown" };
  #beginnings = 0;
  #held: InformerHold<T> | undefined;
  #life: "new" | "running" | "stopped" = "new";
  #handlers = 0;

  /** Creates an informer that does nothing before it runs. */
  constructor(options: ConditionalInformerOptions<T>) {
    this.name = options.name;
    this.#options = options;
    this.lister = new Lister({ resource: options.name, store: new ActiveReader(() => this.#active?.lister) });
    const [stateNow, beginningsNow] = [() => this.#state, () => this.#beginnings];
    this.activation = {
      get state() {
        return stateNow();
      },
      get beginnings() {
        return beginningsNow();
      },
      listen: (onChange) => {
        this.#listeners.add(onChange);
        return { [Symbol.dispose]: () => this.#listeners.delete(onChange) };
      },
    };
    // A namespace counts only once the cache is active, so that no key waits for a cache that it does not read.
    const stateOf = (namespace: string) => this.#active?.cachedNamespaces?.stateOf(namespace) ?? "absent";
    this.cachedNamespaces = options.hasNamespaces ? { stateOf } : undefined;
  }

  /** The shared informer, while the condition holds. */
  get current(): SharedInformer<T> | undefined {
    return this.#held?.informer;
  }

  get hasSynced(): boolean {
    return this.#settled.isOpen && (this.#held?.informer.hasSynced ?? true);
  }

  async synced(signal: AbortSignal): Promise<void> {
    await this.#settled.wait(signal);
    await this.#waitWhileHeld((informer) => informer.synced(signal));
  }

  addHandler(handler: InformerHandler<T>, options: HandlerOptions = {}): HandlerRegistration {
    const { name = `handler-${++this.#handlers}` } = options;
    if (this.#life === "stopped") {
      throw new Error(`Cannot add handler ${name} to informer ${this.name}: it has stopped`);
    }
    const registration = new ConditionalRegistration(handler, {
      options: { ...options, name },
      settled: this.#settled,
      onRemoved: (removed) => this.#registrations.delete(removed),
    });
    this.#registrations.add(registration);
    if (this.#held !== undefined) registration.attachTo(this.#held.informer);
    return registration;
  }

  addIndexers(indexers: Indexers<T>): void {
    this.#held?.informer.addIndexers(indexers);
    this.#indexers.push(indexers);
  }

  isAtLeast(version: ResourceVersion, namespace?: string): boolean {
    return this.#held?.informer.isAtLeast(version, namespace) ?? true;
  }

  async waitFor(version: ResourceVersion, signal: AbortSignal, options: WaitForOptions = {}): Promise<boolean> {
    return await this.#held?.informer.waitFor(version, signal, options) ?? true;
  }

  async followPart(signal: AbortSignal): Promise<void> {
    await this.#settled.wait(signal);
    await this.#waitWhileHeld((informer) => informer.followPart(signal));
  }

  forgetOthers(): void {
    this.#held?.informer.forgetOthers();
  }

  writeThrough(object: T, write?: OwnWrite): WriteThroughResult {
    return this.#held?.informer.writeThrough(object, write) ?? "outside";
  }

  deleteThrough(key: ObjectKey, uid: string, writer?: Writer): void {
    this.#held?.informer.deleteThrough(key, uid, writer);
  }

  async loadBodies(keys: Iterable<ObjectKey>, signal: AbortSignal): Promise<LoadedBodies> {
    return await this.#active?.loadBodies(keys, signal) ?? nothingLoaded;
  }

  get unconfirmedWrites(): number {
    return this.#held?.informer.unconfirmedWrites ?? 0;
  }

  /** Those of the object that decides, and of the kind while it is watched. */
  statuses(): readonly InformerStatus[] {
    return [...this.#options.condition.informer.statuses(), ...this.#held?.informer.statuses() ?? []];
  }

  /**
   * Watches the kind while the condition holds, until aborted.
   *
   * @throws Error when called twice.
   */
  async run(signal: AbortSignal): Promise<void> {
    if (this.#life !== "new") throw new Error(`Cannot run informer ${this.name}: it was started before`);
    this.#life = "running";
    let isKnown = false;
    const update = () => isKnown && this.#update(signal);
    const watching = this.#options.condition.informer.addHandler(
      { onAdd: update, onUpdate: update, onDelete: update },
      { name: `condition of ${this.name}` },
    );
    try {
      await watching.synced(signal);
      isKnown = true;
      update();
      await aborted(signal);
    } catch (error) {
      // The informers of a factory stop together.
      if (!signal.aborted) throw error;
    } finally {
      this.#life = "stopped";
      this.#settled.break(new Error(`Cannot wait for informer ${this.name} to sync: it has stopped`));
      await watching.remove();
    }
  }

  #update(signal: AbortSignal): void {
    if (this.#life !== "running" || signal.aborted) return;
    const { informer, key, evaluate } = this.#options.condition;
    const answer = evaluate(informer.lister.find(key));
    if (answer !== true) this.#deactivate(answer);
    else if (this.#held === undefined) this.#activate(signal);
  }

  #activate(signal: AbortSignal): void {
    const held = this.#options.hold();
    this.#held = held;
    this.#beginnings++;
    for (const indexers of this.#indexers) held.informer.addIndexers(indexers);
    for (const registration of this.#registrations) registration.attachTo(held.informer);
    this.#become({ kind: "syncing" });
    void this.#awaitSync(held, signal);
  }

  /** The cache becomes active when all handlers have the objects. Never rejects. */
  async #awaitSync(held: InformerHold<T>, signal: AbortSignal): Promise<void> {
    try {
      await held.informer.synced(signal);
      await Promise.all([...this.#registrations].map((registration) => registration.attached(signal)));
    } catch {
      // The condition has ceased to hold, or the process stops.
      return;
    }
    if (this.#held === held) this.#become({ kind: "active" });
  }

  #deactivate(reason: string): void {
    const held = this.#held;
    this.#held = undefined;
    for (const registration of this.#registrations) registration.detach();
    this.#become({ kind: "inactive", reason });
    held?.[Symbol.dispose]();
  }

  #become(state: ActivationState): void {
    const before = this.#state;
    this.#state = state;
    if (before.kind !== state.kind || reasonOf(before) !== reasonOf(state)) this.#options.onState?.(state);
    if (state.kind === "active" || state.kind === "inactive") this.#settled.open();
    // Handlers may have got objects before the cache became active.
    const hasEnded = state.kind === "inactive" && (before.kind === "active" || before.kind === "syncing");
    if (state.kind !== "active" && !hasEnded) return;
    for (const listener of [...this.#listeners]) listener();
  }

  get #active(): SharedInformer<T> | undefined {
    return this.#state.kind === "active" ? this.#held?.informer : undefined;
  }

  /** Waits for the shared informer; what it waits for is over when the condition ceases to hold. */
  async #waitWhileHeld(wait: (informer: SharedInformer<T>) => Promise<void>): Promise<void> {
    for (let held = this.#held; held !== undefined; held = this.#held) {
      try {
        await wait(held.informer);
        if (this.#held === held) return;
      } catch (error) {
        if (this.#held === held) throw error;
      }
    }
  }
}

function reasonOf(state: ActivationState): string {
  return state.kind === "inactive" ? state.reason : "";
}

/** One handler of a {@link ConditionalInformer}: it is added to each shared informer that the condition brings. */
class ConditionalRegistration<T extends KubeObject> implements HandlerRegistration {
  readonly name: string;
  readonly #handler: InformerHandler<T>;
  readonly #options: HandlerOptions;
  readonly #settled: Latch;
  readonly #onRemoved: (registration: ConditionalRegistration<T>) => void;
  #inner: HandlerRegistration | undefined;
  readonly #removals = new Set<Promise<void>>();

  constructor(handler: InformerHandler<T>, { options, settled, onRemoved }: {
    readonly options: HandlerOptions & { readonly name: string };
    readonly settled: Latch;
    readonly onRemoved: (registration: ConditionalRegistration<T>) => void;
  }) {
    this.name = options.name;
    this.#handler = handler;
    this.#options = options;
    this.#settled = settled;
    this.#onRemoved = onRemoved;
  }

  get hasSynced(): boolean {
    return this.#settled.isOpen && (this.#inner?.hasSynced ?? true);
  }

  get backlog(): number {
    return this.#inner?.backlog ?? 0;
  }

  async synced(signal: AbortSignal): Promise<void> {
    await this.#settled.wait(signal);
    await this.attached(signal);
  }

  /** Resolves when the handler has processed the objects of the informer that it is attached to. */
  async attached(signal: AbortSignal): Promise<void> {
    for (let inner = this.#inner; inner !== undefined; inner = this.#inner) {
      try {
        await inner.synced(signal);
        if (this.#inner === inner) return;
      } catch (error) {
        if (this.#inner === inner) throw error;
      }
    }
  }

  async remove(): Promise<void> {
    this.#onRemoved(this);
    this.detach();
    await Promise.all(this.#removals);
  }

  attachTo(informer: SharedInformer<T>): void {
    this.#inner = informer.addHandler(this.#handler, this.#options);
  }

  /** The handler is not called any more; a call that is in progress ends. */
  detach(): void {
    const inner = this.#inner;
    this.#inner = undefined;
    if (inner === undefined) return;
    const removing: Promise<void> = inner.remove().finally(() => this.#removals.delete(removing));
    this.#removals.add(removing);
  }
}

/** Reads the store of the shared informer while the cache is active; else it is empty. */
class ActiveReader<T extends KubeObject> implements StoreReader<T> {
  readonly #active: () => Lister<T> | undefined;

  constructor(active: () => Lister<T> | undefined) {
    this.#active = active;
  }

  get size(): number {
    return this.#active()?.size ?? 0;
  }

  get lastSyncResourceVersion(): undefined {
    return undefined;
  }

  get(key: ObjectKey): T | undefined {
    return this.#active()?.find(key);
  }

  values(): Iterable<T> {
    return this.#active()?.list() ?? [];
  }

  byNamespace(namespace: string): readonly T[] {
    return this.#active()?.list({ namespace }) ?? [];
  }

  byIndex(index: string, value: string): readonly T[] {
    return this.#active()?.byIndex(index, value) ?? [];
  }

  indexValues(index: string): readonly string[] {
    return this.#active()?.indexValues(index) ?? [];
  }
}
