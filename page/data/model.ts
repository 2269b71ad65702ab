/**
 * Model: what the page knows, read from entries of a recording and from what a process says beside it. Views read it, the
 * follower (`follow.ts`) fills it.
 *
 * Guarantees: an entry is taken once, in constant time; listeners are called at most once per frame.
 */
import type { Entry, NoteEntry, ObjectRef } from "../../src/observe/mod.ts";
import type { CacheState, QueueState } from "../../src/manager/debug/debug_state.ts";
import type { KeyState } from "../../src/manager/debug/key_states.ts";
import type { ObjectRow } from "../../src/manager/debug/object_row.ts";
import type { PageSource } from "../../src/manager/debug/page_source.ts";
import { Stats } from "./stats.ts";

/** What a controller does with a key. */
export interface Work {
  readonly controller: string;
  readonly state: "idle" | "queued" | "running" | "waiting" | "failing" | "parked";
  /** When it began. */
  readonly at: number;
  /** When it is tried again, milliseconds since the epoch. */
  readonly nextAt?: number;
  readonly retries?: number;
  /** The error, or why it is parked. */
  readonly reason?: string;
}

/** One object. */
export interface KnownObject {
  readonly id: string;
  readonly ref: ObjectRef;
  readonly key: string;
  /** What the source says about it; absent if only entries do. */
  row?: ObjectRow;
  /** The object that a controller made it for, as entries tell. */
  ownerHint?: string;
  /** The last time an entry was about it. */
  touchedAt: number;
  isDeleted: boolean;
  /** By controller. */
  readonly work: Map<string, Work>;
}

/** What a process says about this moment. */
export interface Live {
  readonly queues: readonly QueueState[];
  readonly caches: readonly CacheState[];
}

export function objectId(resource: string, key: string): string {
  return `${resource} ${key}`;
}

export class Model {
  readonly source: PageSource;
  readonly entries: Entry[] = [];
  readonly objects = new Map<string, KnownObject>();
  readonly stats = new Map<string, Stats>();
  /** What a simulation found broken. */
  readonly violations: NoteEntry[] = [];
  live: Live | undefined;
  /** False until all entries that exist are read. */
  isComplete = false;
  /** True if the source has said which objects exist. */
  hasObjects = false;
  /** True if there are more objects than the source shows. */
  hasMoreObjects = false;
  /** Grows when something has changed. */
  version = 0;
  readonly #byId = new Map<number, Entry>();
  readonly #effects = new Map<number, number[]>();
  readonly #primaries: ReadonlyMap<string, ObjectRef>;
  readonly #listeners = new Set<() => void>();
  #isScheduled = false;

  constructor(source: PageSource) {
    this.source = source;
    this.#primaries = new Map(source.controllers.map(({ name, primary }) => [name, primary]));
    for (const { name } of source.controllers) this.stats.set(name, new Stats());
  }

  get lastId(): number {
    return this.entries.at(-1)?.id ?? this.source.firstId - 1;
  }

  find(id: number): Entry | undefined {
    return this.#byId.get(id);
  }

  effectsOf(id: number): readonly number[] {
    return this.#effects.get(id) ?? [];
  }

  /** The position of the first entry with this id or a higher one. */
  indexOf(id: number): number {
    let [low, high] = [0, this.entries.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.entries[middle]?.id ?? Infinity) >= id) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Tells the views, with the next frame. */
  changed(): void {
    this.version++;
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setTimeout(() => {
      this.#isScheduled = false;
      for (const listener of this.#listeners) listener();
    }, 100);
  }

  /** Takes entries, oldest first; those that it has are left out. */
  add(entries: readonly Entry[]): void {
    for (const entry of entries) {
      if (entry.id <= this.lastId) continue;
      this.entries.push(entry);
      this.#byId.set(entry.id, entry);
      for (const cause of entry.causes) {
        const effects = this.#effects.get(cause);
        if (effects === undefined) this.#effects.set(cause, [entry.id]);
        else effects.push(entry.id);
      }
      this.#read(entry);
    }
    if (entries.length > 0) this.changed();
  }

  /** Takes the objects of the source: those that it does not have are gone. */
  setObjects(rows: readonly ObjectRow[], isComplete: boolean): void {
    const present = new Set<string>();
    for (const row of rows) {
      const known = this.#object(row, 0);
      if (known === undefined) continue;
      known.row = row;
      known.isDeleted = false;
      present.add(known.id);
    }
    this.hasObjects = true;
    this.hasMoreObjects = !isComplete;
    if (isComplete) {
      for (const known of this.objects.values()) if (!present.has(known.id)) known.row = undefined;
    }
    this.changed();
  }

  /** Takes the keys that are at work; all others of the process are idle. */
  setKeys(keys: readonly KeyState[], isComplete: boolean): void {
    const seen = new Set<string>();
    for (const { controller, key, state, at, nextAt, retries, reason } of keys) {
      const known = this.#primary(controller, key);
      if (known === undefined) continue;
      const isFailing = state === "stopped" || (state === "waiting" && retries > 0);
      known.work.set(controller, {
        ...{ controller, state: isFailing ? "failing" : state, at, retries },
        ...(nextAt === undefined ? {} : { nextAt }),
        ...(reason === undefined ? {} : { reason }),
      });
      seen.add(`${controller} ${key}`);
    }
    if (!isComplete) return;
    for (const { work, key } of this.objects.values()) {
      for (const [controller, { state, at }] of work) {
        if (state === "idle" || seen.has(`${controller} ${key}`)) continue;
        work.set(controller, { controller, state: "idle", at });
      }
    }
  }

  primaryOf(controller: string | undefined, key: string | undefined): ObjectRef | undefined {
    const primary = controller === undefined ? undefined : this.#primaries.get(controller);
    return primary === undefined || key === undefined
      ? undefined
      : { resource: primary.resource, kind: primary.kind, key };
  }

  #object(ref: ObjectRef | undefined, at: number): KnownObject | undefined {
    if (ref?.key === undefined || ref.resource === "") return undefined;
    const id = objectId(ref.resource, ref.key);
    const known = this.objects.get(id);
    if (known !== undefined) {
      known.touchedAt = Math.max(known.touchedAt, at);
      return known;
    }
    const made: KnownObject = { id, ref, key: ref.key, touchedAt: at, isDeleted: false, work: new Map() };
    this.objects.set(id, made);
    return made;
  }

  #primary(controller: string | undefined, key: string | undefined, at = 0): KnownObject | undefined {
    return this.#object(this.primaryOf(controller, key), at);
  }

  #read(entry: Entry): void {
    const { at, controller, key } = entry;
    if (entry.kind === "note" && entry.actor === "violation") this.violations.push(entry);
    const isSource = entry.kind === "enqueue" && entry.role === "source";
    const object = "object" in entry && !isSource ? this.#object(entry.object, at) : undefined;
    const primary = this.#primary(controller, key, at);
    if (entry.kind === "change" && object !== undefined) object.isDeleted = entry.change === "deleted";
    if (object !== undefined && primary !== undefined && object !== primary) {
      const isOwned = entry.kind === "enqueue" ? entry.role === "owns" : entry.kind === "write";
      if (isOwned) object.ownerHint = primary.id;
    }
    if (controller === undefined) return;
    const stats = this.#statsOf(controller);
    if (key !== undefined && primary !== undefined) {
      const before = primary.work.get(controller);
      const next = readWork(entry, stats, key, before);
      if (next !== undefined) primary.work.set(controller, next);
    }
    if (entry.kind === "reconcile-start") this.#readLag(entry, stats);
  }

  #readLag({ causes, at }: Entry, stats: Stats): void {
    const first = causes.map((id) => this.find(id)).find((cause) => cause?.kind === "enqueue");
    if (first !== undefined) stats.add(stats.lags, at, at - (this.find(first.causes[0] ?? 0)?.at ?? first.at));
  }

  #statsOf(controller: string): Stats {
    const known = this.stats.get(controller);
    if (known !== undefined) return known;
    const made = new Stats();
    this.stats.set(controller, made);
    return made;
  }
}

/** What an entry says about the work on a key; undefined for nothing. */
function readWork(entry: Entry, stats: Stats, key: string, before: Work | undefined): Work | undefined {
  const { at, controller = "" } = entry;
  switch (entry.kind) {
    case "enqueue":
      if (entry.decision !== "queued") return undefined;
      stats.ready.add(key);
      stats.add(stats.depths, at, stats.ready.size);
      return { controller, state: "queued", at };
    case "reconcile-start":
      stats.ready.delete(key);
      stats.add(stats.depths, at, stats.ready.size);
      return { controller, state: "running", at, retries: entry.retries };
    case "reconcile-end": {
      const isFailed = ["failed", "terminal", "given-up"].includes(entry.outcome);
      stats.add(stats.ends, at, 1);
      stats.add(stats.durations, at, entry.durationMs);
      if (isFailed) stats.add(stats.failures, at, 1);
      const reason = entry.error === undefined ? {} : { reason: entry.error };
      return { controller, at, state: isFailed ? "failing" : "idle", ...reason };
    }
    case "queue":
      return queueWork(entry, before);
    default:
      return undefined;
  }
}

function queueWork(entry: Extract<Entry, { kind: "queue" }>, before: Work | undefined): Work | undefined {
  const { at, controller = "", delayMs = 0, retries = 0, until } = entry;
  const reason = entry.reason ?? before?.reason;
  const because = reason === undefined ? {} : { reason };
  switch (entry.decision) {
    case "parked":
      return { controller, state: "parked", at, ...because, ...(until === undefined ? {} : { nextAt: until }) };
    case "unparked":
      return { controller, state: "queued", at };
    case "delayed":
      return { controller, state: "waiting", at, nextAt: at + delayMs };
    case "backoff":
      return { controller, state: "failing", at, nextAt: at + delayMs, retries, ...because };
    case "withdrawn":
      return { controller, state: "idle", at };
    default:
      return entry.decision satisfies never;
  }
}
