/**
 * ExternalPoller: runs one external source in one controller. It has what is known of each resource, and one read at a time
 * for each. A sweep every `everyMs` reads what the objects of this replica need, and forgets the rest.
 *
 *   sweep -> read (single flight) -> compare with what was known -> enqueue the keys of the objects
 *                 `<- get(), refresh() of a reconciler
 */
import { isDeepStrictEqual } from "node:util";
import { keyOf, type KubeObject, type ObjectKey } from "../api/mod.ts";
import { type Clock, jittered, type Random, type Scope, scope, TokenBucket, untilAborted } from "../async/mod.ts";
import type { Logger } from "../observe/mod.ts";
import { externalIndex, externalKeyOf } from "./_external_index.ts";
import type { ControllerDefinition } from "./controller_definition.ts";
import type { AnyExternalSource, ExternalCall, ExternalItem, ExternalItems } from "./external.ts";

/** How a poll ended. */
export type PollOutcome = "unchanged" | "changed" | "error";

/** What an ExternalPoller needs of its controller. */
export interface ExternalPollerOptions {
  readonly source: AnyExternalSource;
  /** The key of the resource of an object, also of one whose body the cache has dropped. */
  readonly resourceOf: (object: KubeObject) => string | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** The objects that this replica reconciles. */
  readonly objects: () => readonly KubeObject[];
  /** Those of them with the resource of that key. */
  readonly objectsOf: (id: string) => readonly KubeObject[];
  readonly enqueue: (key: ObjectKey) => void;
  /** @param keys the objects that the resource belongs to; all of the source if it is not known which */
  readonly onFailure: (what: string, error: unknown, keys: readonly ObjectKey[]) => void;
  readonly onPoll: (outcome: PollOutcome) => void;
}

/** What is known of one resource. */
interface Known {
  /** Absent before the first read. */
  found?: { readonly item: unknown };
  /** When a reconciler set it last, in the sequence of the poller: a read that began before is not newer than that. */
  setAt: number;
  reading: Promise<boolean> | undefined;
  /** Aborts what is read when the resource is not needed any more. */
  readonly life: Scope;
  failures: number;
  /** By the monotonic clock; no poll begins before. */
  retryAt: number;
}

/** The result of `fetchAll`, and when it began in the sequence of the poller. */
interface AllItems {
  readonly items: ReadonlyMap<string, unknown>;
  readonly startedAt: number;
}

/** The longest time between two polls that fail, in milliseconds, unless `everyMs` is longer. */
const maxBackoffMs = 600_000;
/** Part of a delay by which it may be longer, so that polls of many processes spread. */
const jitter = 0.1;
const defaultTimeoutMs = 30_000;
const defaultConcurrentPolls = 4;

export class ExternalPoller {
  readonly #options: ExternalPollerOptions;
  readonly #known = new Map<string, Known>();
  readonly #bucket: TokenBucket | undefined;
  readonly #life: Scope;
  #readingAll: Promise<AllItems> | undefined;
  #failuresOfAll = 0;
  /** Orders what reconcilers set and the reads, which the clock cannot. */
  #sequence = 0;

  /** @param kill aborts all calls */
  constructor(options: ExternalPollerOptions, kill: AbortSignal) {
    const { source: { options: { rateLimit } }, clock } = options;
    this.#options = options;
    this.#life = scope(kill);
    this.#bucket = rateLimit && new TokenBucket({ intervalMs: 1000 / rateLimit.qps, burst: rateLimit.burst, clock });
  }

  /** Number of resources whose last read failed. */
  get failing(): number {
    if (this.#failuresOfAll > 0) return this.#known.size;
    let count = 0;
    for (const { failures } of this.#known.values()) if (failures > 0) count++;
    return count;
  }

  /** Polls until `stop`. Never throws. */
  async run(stop: AbortSignal): Promise<void> {
    const { clock, random, source: { options } } = this.#options;
    try {
      // The first reconciles read what they need, so the first sweep may come at any time of the first period.
      await clock.sleep(random.next() * options.everyMs, stop);
      while (true) {
        const startedAt = clock.monotonic();
        await untilAborted(this.#sweep(stop), stop);
        const restMs = options.everyMs - (clock.monotonic() - startedAt);
        await clock.sleep(this.#failuresOfAll > 0 ? this.#backoffMs(this.#failuresOfAll) : Math.max(restMs, 1), stop);
      }
    } catch (error) {
      if (!stop.aborted) throw error;
    }
  }

  /** Aborts what is read. Call it when nothing is reconciled any more. */
  [Symbol.dispose](): void {
    for (const id of [...this.#known.keys()]) this.#forget(id);
    this.#life.abort();
    this.#life[Symbol.dispose]();
  }

  /** The resource of one object, for its reconciler with its signal. @throws what `key` of the source throws */
  item(object: KubeObject, signal: AbortSignal): ExternalItem<unknown> {
    const id = this.#options.resourceOf(object);
    const own = keyOf(object);
    const isNothing = Promise.resolve(undefined);
    if (id === undefined) return { key: undefined, get: () => isNothing, refresh: () => isNothing, set: () => {} };
    const read = async (reading: Promise<boolean>) => {
      const isChanged = await untilAborted(reading, signal);
      if (isChanged) this.#enqueue(this.#othersOf(id, own));
      return this.#of(id).found?.item;
    };
    return {
      key: id,
      get: async () => {
        const { found } = this.#of(id);
        return found === undefined ? await read(this.#read(id)) : found.item;
      },
      refresh: () => read(this.#readAnew(id)),
      set: (item) => {
        const known = this.#of(id);
        known.setAt = ++this.#sequence;
        known.found = { item };
      },
    };
  }

  /** Destroys the resource of an object that is being deleted, unless another object has the same. */
  async destroy(object: KubeObject): Promise<void> {
    const { resourceOf, source: { options: { destroy } } } = this.#options;
    const id = resourceOf(object);
    if (id === undefined || destroy === undefined) return;
    if (this.#othersOf(id, keyOf(object)).length > 0) return;
    await this.#call(this.#life, (call) => destroy(id, call));
    this.#forget(id);
  }

  /** Reads everything that is due, with limited concurrency. Never throws. */
  async #sweep(stop: AbortSignal): Promise<void> {
    const { clock, source: { options } } = this.#options;
    const wanted = this.#wanted();
    for (const id of [...this.#known.keys()]) if (!wanted.has(id)) this.#forget(id);
    if (options.fetchAll !== undefined) return await this.#sweepAll(wanted);
    const now = clock.monotonic();
    const due = [...wanted].filter(([id]) => this.#of(id).retryAt <= now);
    const next = due.values();
    const worker = async () => {
      for (const [id, keys] of next) {
        await this.#bucket?.take(stop);
        await this.#poll(id, keys);
      }
    };
    const workers = Math.min(options.maxConcurrentPolls ?? defaultConcurrentPolls, due.length);
    await Promise.all(Array.from({ length: workers }, worker));
  }

  async #sweepAll(wanted: ReadonlyMap<string, readonly ObjectKey[]>): Promise<void> {
    const { source, onFailure, onPoll, log } = this.#options;
    let all: AllItems;
    try {
      await this.#bucket?.take(this.#life.signal);
      all = await this.#readAll();
    } catch (error) {
      if (this.#life.signal.aborted) return;
      this.#failuresOfAll++;
      const delayMs = this.#backoffMs(this.#failuresOfAll);
      log.warn("polling external resources failed, retrying", { source: source.name, error, delayMs });
      onFailure(`poll of ${source.name}`, error, [...wanted.values()].flat());
      return onPoll("error");
    }
    this.#failuresOfAll = 0;
    const changed = [...wanted].filter(([id]) => this.#store(id, all.items.get(id), all.startedAt));
    onPoll(changed.length > 0 ? "changed" : "unchanged");
    for (const [, keys] of changed) this.#enqueue(keys);
  }

  /** Reads one resource, and enqueues its objects if it differs. Never throws. */
  async #poll(id: string, keys: readonly ObjectKey[]): Promise<void> {
    const { clock, source, log, onFailure, onPoll } = this.#options;
    const known = this.#of(id);
    try {
      const isChanged = await this.#read(id);
      if (isChanged) this.#enqueue(keys);
      onPoll(isChanged ? "changed" : "unchanged");
    } catch (error) {
      if (known.life.signal.aborted) return;
      const delayMs = this.#backoffMs(known.failures);
      known.retryAt = clock.monotonic() + delayMs;
      log.warn("polling external resource failed, retrying", { source: source.name, resource: id, error, delayMs });
      onFailure(`poll of ${source.name} ${JSON.stringify(id)}`, error, keys);
      onPoll("error");
    }
  }

  /** Reads one resource; whoever comes while it is read gets the same answer. @returns whether it differs from what was known */
  #read(id: string): Promise<boolean> {
    const known = this.#of(id);
    known.reading ??= this.#readOnce(id, known).finally(() => known.reading = undefined);
    return known.reading;
  }

  /** Reads one resource with a read that begins after the call: an older one may not have seen what was written since. */
  async #readAnew(id: string): Promise<boolean> {
    const { fetch } = this.#options.source.options;
    await Promise.allSettled([this.#of(id).reading, fetch === undefined ? this.#readingAll : undefined]);
    return await this.#read(id);
  }

  async #readOnce(id: string, known: Known): Promise<boolean> {
    const { fetch } = this.#options.source.options;
    const startedAt = this.#sequence;
    try {
      const isChanged = fetch === undefined
        ? await this.#readAll().then((all) => this.#store(id, all.items.get(id), all.startedAt))
        : this.#store(id, await this.#call(known.life, (call) => fetch(id, call)), startedAt);
      known.failures = 0;
      return isChanged;
    } catch (error) {
      known.failures++;
      throw error;
    }
  }

  #readAll(): Promise<AllItems> {
    const { fetchAll = () => Promise.resolve(new Map()) } = this.#options.source.options;
    const startedAt = this.#sequence;
    this.#readingAll ??= this.#call(this.#life, fetchAll)
      .then((items) => ({ items: this.#checkedAll(items), startedAt }))
      .finally(() => this.#readingAll = undefined);
    return this.#readingAll;
  }

  /** A program without types can return anything. */
  #checkedAll(items: ReadonlyMap<string, unknown> | undefined): ReadonlyMap<string, unknown> {
    if (typeof items?.get === "function") return items;
    const { name } = this.#options.source;
    throw new TypeError(`Cannot read external resources "${name}": fetchAll did not return a Map`);
  }

  /** @param startedAt when the read began @returns whether the item differs from what was known */
  #store(id: string, item: unknown, startedAt: number): boolean {
    const known = this.#of(id);
    if (known.setAt > startedAt) return false;
    const { found } = known;
    known.found = { item };
    return found !== undefined && this.#differs(found.item, item);
  }

  #differs(before: unknown, after: unknown): boolean {
    const { source: { name, options: { diff } }, onFailure, log } = this.#options;
    try {
      // What a client library returns need not be JSON: a Date or a Map has no fields of its own.
      return diff === undefined ? !isDeepStrictEqual(before, after) : diff(before, after);
    } catch (error) {
      log.error("diff of an external source failed, asking for a reconcile", { source: name, error });
      onFailure(`diff of ${name}`, error, []);
      return true;
    }
  }

  async #call<Value>(life: Scope, fn: (call: ExternalCall) => Promise<Value>): Promise<Value> {
    const { clock, source: { options: { timeoutMs = defaultTimeoutMs } } } = this.#options;
    using call = scope(life.signal, { timeoutMs, clock });
    call.signal.throwIfAborted();
    // A function that ignores its signal would hold its resource, a poll and a worker for ever.
    return await untilAborted(Promise.resolve(fn({ signal: call.signal, clock })), call.signal);
  }

  #of(id: string): Known {
    const known = this.#known.get(id) ??
      { setAt: 0, reading: undefined, life: scope(this.#life.signal), failures: 0, retryAt: 0 };
    this.#known.set(id, known);
    return known;
  }

  #forget(id: string): void {
    const known = this.#known.get(id);
    this.#known.delete(id);
    known?.life.abort(new DOMException(`The external resource "${id}" is not needed any more`, "AbortError"));
    known?.life[Symbol.dispose]();
  }

  /** The keys of the objects by resource. */
  #wanted(): ReadonlyMap<string, readonly ObjectKey[]> {
    const { source: { name }, resourceOf, objects, log } = this.#options;
    const wanted = new Map<string, ObjectKey[]>();
    for (const object of objects()) {
      if (!isWanted(object)) continue;
      try {
        const id = resourceOf(object);
        if (id === undefined) continue;
        const keys = wanted.get(id);
        if (keys === undefined) wanted.set(id, [keyOf(object)]);
        else keys.push(keyOf(object));
      } catch (error) {
        log.error("key of an external source failed, not polling it", { source: name, key: keyOf(object), error });
      }
    }
    return wanted;
  }

  /** The other objects with the same resource. */
  #othersOf(id: string, own: ObjectKey): readonly ObjectKey[] {
    const needing = this.#options.objectsOf(id).filter(isWanted);
    return needing.map(keyOf).filter((key) => key !== own);
  }

  #enqueue(keys: readonly ObjectKey[]): void {
    for (const key of keys) this.#options.enqueue(key);
  }

  /** Doubles with each failure in a row. */
  #backoffMs(failures: number): number {
    const { random, source: { options: { everyMs } } } = this.#options;
    const delayMs = Math.min(everyMs * 2 ** failures, Math.max(everyMs, maxBackoffMs));
    return jittered(delayMs, jitter, random);
  }
}

/** An object that is being deleted needs its resource no more. */
function isWanted({ metadata: { deletionTimestamp } }: KubeObject): boolean {
  return deletionTimestamp === undefined;
}

/** The external resources of one controller. */
export class ExternalPollers implements ExternalItems, Disposable {
  readonly #pollers: ReadonlyMap<AnyExternalSource, ExternalPoller>;

  constructor(pollers: ReadonlyMap<AnyExternalSource, ExternalPoller>) {
    this.#pollers = pollers;
  }

  of(source: AnyExternalSource, object: KubeObject, signal: AbortSignal): ExternalItem<unknown> {
    const poller = this.#pollers.get(source);
    if (poller !== undefined) return poller.item(object, signal);
    throw new TypeError(
      `Cannot read external resources "${source.name}": the controller did not declare them. Declare .external(...)`,
    );
  }

  async destroy(object: KubeObject): Promise<void> {
    for (const poller of this.#pollers.values()) await poller.destroy(object);
  }

  /** Runs all sources until `stop`. */
  async run(stop: AbortSignal): Promise<void> {
    await Promise.all([...this.#pollers.values()].map((poller) => poller.run(stop)));
  }

  [Symbol.dispose](): void {
    for (const poller of this.#pollers.values()) poller[Symbol.dispose]();
  }
}

/** What all external sources of one controller share. */
interface ExternalPollersOptions
  extends Pick<ExternalPollerOptions, "clock" | "random" | "log" | "objects" | "onFailure"> {
  /** The objects that this replica reconciles, by a value of an index. */
  readonly objectsIn: (index: string, value: string) => readonly KubeObject[];
  readonly enqueueFrom: (source: string, key: ObjectKey) => void;
  readonly metrics:
    | { external(source: string, failing: () => number): (outcome: PollOutcome) => void }
    | undefined;
}

/** Creates the pollers of the sources of one controller. */
export function createExternalPollers(
  { name: controller, externals = [] }: Pick<ControllerDefinition, "name" | "externals">,
  { enqueueFrom, objectsIn, metrics, ...shared }: ExternalPollersOptions,
  kill: AbortSignal,
): ExternalPollers {
  const pollers = externals.map((source): [AnyExternalSource, ExternalPoller] => {
    const poller: ExternalPoller = new ExternalPoller({
      ...{ ...shared, source },
      resourceOf: (object) => externalKeyOf(controller, source, object),
      objectsOf: (id) => objectsIn(externalIndex(controller, source), id),
      enqueue: (key) => enqueueFrom(source.name, key),
      onPoll: metrics?.external(source.name, () => poller.failing) ?? (() => {}),
    }, kill);
    return [source, poller];
  });
  return new ExternalPollers(new Map(pollers));
}
