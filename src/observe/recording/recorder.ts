/**
 * Recorder: what the engine hands its entries to. Recording: the recorder of a process, with a ring in memory and a sink
 * such as a file.
 *
 *   caches, queues, workers, clients, webhooks -> Recorder -> EntryRing -> readers (sealed)
 *                                                     `-> RecordingSink -> file (sealed, with whole states)
 *
 * Whoever may record has an optional recorder, and nothing is done for a recording that nobody asked for:
 * `recorder?.record({ ... })` evaluates its argument only if there is one.
 *
 * Guarantees: record() never throws; ids grow by one; a sink that fails is reported once and left out from then on.
 */
import type { Entry, EntryId, NewEntry } from "./entries.ts";
import { EntryRing } from "./entry_ring.ts";
import { secrets } from "./masked_object.ts";
import { bodyOf, resourceAt, sealed, type StoredEntry } from "./sealed_entry.ts";

/** Takes the entries of the engine. */
export interface Recorder {
  /** True if changes and writes need the whole object (`state`), and initial lists one change per object. */
  readonly keepsStates: boolean;
  /** Adds an entry. @returns its id, for the causes of later entries */
  record(entry: NewEntry): EntryId;
  /**
   * What the requests of a reconcile say in the header `traceparent` (W3C Trace Context), so that the spans of the server
   * are in its trace; undefined if it is in none. @param start the entry of its start @default nothing is traced
   */
  traceparentOf?(start: EntryId): string | undefined;
}

/** Gets every entry, sealed, as it happens. */
export interface RecordingSink {
  /** True if the sink wants whole objects. */
  readonly keepsStates: boolean;
  /** Takes one entry. If it throws, the sink gets no further ones. */
  write(entry: Entry): void;
}

/** What readers of a recording in memory need. */
export interface RecordingReader {
  /** The id of the newest entry; 0 for none. */
  readonly lastId: EntryId;
  /** How many entries were dropped from memory. */
  readonly dropped: number;
  /** Estimated bytes in memory. */
  readonly bytes: number;
  /**
   * The entries in memory, oldest first.
   *
   * @param after Only those with a higher id. @default 0
   * @param limit The most entries; a reader that needs few should say so, since secrets are masked in each. @default Infinity
   */
  entries(after?: EntryId, limit?: number): readonly Entry[];
  /** The entry with this id; undefined if it is not in memory. */
  find(id: EntryId): Entry | undefined;
  /** Calls `listener` with each new entry until the result is disposed. */
  subscribe(listener: (entry: Entry) => void): Disposable;
}

/** The size of the ring if no other is asked for: 8 MiB, about 25,000 entries. */
export const defaultRecordingBytes: number = 8 * 1024 * 1024;

/** Options of a {@link Recording}. */
export interface RecordingOptions {
  /** The wall time in milliseconds since the epoch: `clock.now`. */
  readonly now: () => number;
  /** The most bytes in memory; 0: nothing is kept in memory. @default 8388608 (8 MiB) */
  readonly maxBytes?: number;
  /** Gets all entries. @default none */
  readonly sink?: RecordingSink;
  /** Called once, when the sink throws. @default not called */
  readonly onSinkFailure?: (error: unknown) => void;
}

/**
 * Records what one process sees, decides and does: the option `recorder` of a Manager, an InformerFactory or a World. The
 * newest entries are in memory, without secrets.
 *
 * @example Why was something written?
 * ```ts
 * import { ConfigMap, controller, done, manifest, Namespace, Recording } from "@pintle/controller";
 * import { VirtualClock, World } from "@pintle/controller/testing";
 *
 * const greeter = controller("greeter").for(Namespace).owns(ConfigMap).reconcile(async (ctx) => {
 *   const namespace = ctx.object.metadata.name;
 *   await ctx.apply(manifest(ConfigMap, { metadata: { namespace, name: "greeting" }, data: { text: "hello" } }));
 *   return done;
 * });
 * const clock = new VirtualClock();
 * const recorder = new Recording({ now: () => clock.now() });
 * await using world = await World.start({ controllers: [greeter], clock, recorder });
 * await world.create(Namespace, { name: "team-a" });
 * await world.settled();
 * const write = recorder.entries().find((entry) => entry.kind === "write" && entry.key === "team-a");
 * const start = recorder.find(write?.causes[0] ?? 0);
 * console.assert(start?.kind === "reconcile-start");
 * ```
 */
export class Recording implements Recorder, RecordingReader {
  readonly #now: () => number;
  readonly #ring: EntryRing | undefined;
  readonly #onSinkFailure: (error: unknown) => void;
  #sink: RecordingSink | undefined;
  #listeners: readonly ((entry: Entry) => void)[] = [];
  #lastId = 0;
  #traceparentOf: ((start: EntryId) => string | undefined) | undefined;

  /**
   * Creates an empty recording.
   *
   * @throws RangeError when maxBytes is negative or not a number
   */
  constructor(options: RecordingOptions) {
    const { now, maxBytes = defaultRecordingBytes, sink, onSinkFailure = () => {} } = options;
    if (!(maxBytes >= 0)) throw new RangeError(`Cannot record: maxBytes ${maxBytes} is not a number from 0 up`);
    this.#now = now;
    this.#ring = maxBytes === 0 ? undefined : new EntryRing(maxBytes);
    this.#sink = sink;
    this.#onSinkFailure = onSinkFailure;
  }

  /** True if its sink wants whole objects. */
  get keepsStates(): boolean {
    return this.#sink?.keepsStates === true;
  }

  /** The id of the newest entry; 0 for none. */
  get lastId(): EntryId {
    return this.#lastId;
  }

  /** How many entries were dropped from memory. */
  get dropped(): number {
    return this.#ring?.dropped ?? 0;
  }

  /** Estimated bytes in memory. */
  get bytes(): number {
    return this.#ring?.bytes ?? 0;
  }

  /** How many entries are in memory. */
  get size(): number {
    return this.#ring?.size ?? 0;
  }

  /** Adds an entry. @returns its id */
  record(entry: NewEntry): EntryId {
    const [id, at, masked] = [++this.#lastId, this.#now(), withoutSecretBody(entry)];
    if (this.#sink !== undefined) this.#writeToSink({ ...masked, id, at });
    const small = withoutState(masked);
    // The objects of a first full state would fill the ring.
    const isKept = small.kind !== "change" || small.isInitial !== true;
    if (isKept) this.#ring?.add(small, id, at);
    for (const listener of this.#listeners) listener(sealed({ ...small, id, at }));
    return id;
  }

  /** The entries in memory, oldest first; see {@link RecordingReader.entries}. */
  entries(after: EntryId = 0, limit = Infinity): readonly Entry[] {
    return this.#ring?.after(after, limit).map(sealed) ?? [];
  }

  /** The entry with this id; undefined if it is not in memory. */
  find(id: EntryId): Entry | undefined {
    const entry = this.#ring?.find(id);
    return entry === undefined ? undefined : sealed(entry);
  }

  /** What the requests of a reconcile say in the header `traceparent`; see {@link Recorder.traceparentOf}. */
  traceparentOf(start: EntryId): string | undefined {
    return this.#traceparentOf?.(start);
  }

  /** Asks `find` for the traces of reconciles until the result is disposed. */
  traceBy(find: (start: EntryId) => string | undefined): Disposable {
    this.#traceparentOf = find;
    return { [Symbol.dispose]: () => this.#traceparentOf = undefined };
  }

  /** Calls `listener` with each new entry until the result is disposed. */
  subscribe(listener: (entry: Entry) => void): Disposable {
    // A new list for each change: a listener may end its subscription while it is called.
    const added = (entry: Entry) => listener(entry);
    this.#listeners = [...this.#listeners, added];
    return { [Symbol.dispose]: () => this.#listeners = this.#listeners.filter((other) => other !== added) };
  }

  #writeToSink(entry: StoredEntry): void {
    try {
      this.#sink?.write(sealed(entry));
    } catch (error) {
      this.#sink = undefined;
      this.#onSinkFailure(error);
    }
  }
}

/** The entry without the whole objects, which only a sink gets. */
function withoutState(entry: NewEntry): NewEntry {
  if (entry.kind === "note" && entry.changes !== undefined) {
    return { ...entry, changes: entry.changes.map(({ state: _, ...rest }) => rest) };
  }
  // The state of a cache or of a Lease is a word, not an object.
  if (entry.kind === "cache" || entry.kind === "lease" || !("state" in entry) || entry.state === undefined) {
    return entry;
  }
  const { state: _, ...rest } = entry;
  if (rest.kind !== "change") return rest;
  const { cache: _cache, ...change } = rest;
  return change;
}

/** What is sent to a Secret is masked before it is stored. */
function withoutSecretBody(entry: NewEntry): NewEntry {
  if ((entry.kind !== "write" && entry.kind !== "request") || entry.bodyText === undefined) return entry;
  if ((entry.kind === "write" ? entry.object.resource : resourceAt(entry.path)) !== secrets) return entry;
  return { ...entry, bodyText: JSON.stringify(bodyOf(entry.bodyText, secrets)) };
}
