/**
 * EventRecorder: writes the Events of reconcilers (events.k8s.io/v1) to the API server.
 *
 * Guarantees:
 * - `record` returns immediately and never throws.
 * - The same note about the same object within six minutes increases the count of the existing Event. Ten notes that
 *   differ only in their text become one Event too (`EventAggregator`).
 * - One object gets at most 25 Events at once, then one per 300 s (`SpamFilter`).
 * - At most 1000 Events wait; what is dropped is counted.
 * - `run` returns only when everything recorded before the stop was sent or has failed.
 *
 * The figures are those of client-go's tools/record and tools/events.
 */
import { builtin, keyOf, type ObjectMeta } from "../api/mod.ts";
import { type Clock, jittered, onAbort, type Random, type Recovery, TokenBucket } from "../async/mod.ts";
import { ApiError, type Client, isAlreadyExists, isNotFound } from "../client/mod.ts";
import type { EventNote, EventSink } from "../controller/mod.ts";
import { liveSecrets, type Logger } from "../observe/mod.ts";
import { microTime } from "./election/mod.ts";

/** Options of an {@link EventRecorder}. */
export interface EventRecorderOptions {
  readonly client: Client;
  /** The name of the controller, e.g. `foo-controller`. */
  readonly reportingController: string;
  /** The name of the replica, e.g. its host name. */
  readonly reportingInstance: string;
  readonly clock: Clock;
  readonly random: Random;
  /** Ends waits for the server early. @default the waits take their time */
  readonly recovery?: Recovery;
  readonly log: Logger;
}

/** An Event and its repetitions. */
interface EventSeries {
  readonly key: string;
  readonly body: EventBody;
  /** The Event exists on the server. */
  isCreated: boolean;
  count: number;
  lastAt: number;
  isQueued: boolean;
}

interface EventBody {
  readonly metadata: ObjectMeta & { readonly name: string; readonly namespace: string };
  readonly eventTime: string;
  readonly reportingController: string;
  readonly reportingInstance: string;
  readonly action: string;
  readonly reason: string;
  readonly regarding: Readonly<Record<string, string | undefined>>;
  readonly note: string;
  readonly type: string;
}

const seriesLifeMs = 6 * 60_000;
const maxQueueLength = 1000;
/** The series that began first is forgotten first. */
const maxSeries = 4096;
/** Attempts when the server is unreachable; an error response is final. As client-go's maxTriesPerEvent. */
const maxAttempts = 12;
const retryMs = 10_000;
const maxNoteBytes = 1024;

export class EventRecorder implements EventSink {
  readonly #options: EventRecorderOptions;
  readonly #series = new Map<string, EventSeries>();
  readonly #queue: EventSeries[] = [];
  readonly #aggregator: EventAggregator;
  readonly #spamFilter: SpamFilter;
  #wake: (() => void) | undefined;
  #dropped = 0;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#aggregator = new EventAggregator(options.clock);
    this.#spamFilter = new SpamFilter(options.clock);
  }

  /** Events that were not sent because too many were waiting or their object had too many. */
  get dropped(): number {
    return this.#dropped;
  }

  record(note: EventNote): void {
    const { type, reason, regarding, entry } = note;
    this.#options.log.debug("event", { type, reason, note: note.note, object: keyOf(regarding), entry });
    const { key, note: aggregated } = this.#aggregator.aggregate(note);
    const series = this.#count(key, aggregated);
    // After counting, so that the next Event that the filter accepts has the count of those it rejected.
    if (!this.#spamFilter.accepts(`${note.regarding.metadata.uid}`)) return this.#drop();
    this.#enqueue(series);
  }

  /** Sends recorded Events until `stop`, then sends the rest unless `kill` aborts first. */
  async run(stop: AbortSignal, kill: AbortSignal): Promise<void> {
    using _waking = onAbort(stop, () => this.#wake?.());
    while (!kill.aborted) {
      const series = this.#queue.shift();
      if (series !== undefined) await this.#send(series, kill);
      else if (stop.aborted) return;
      else await new Promise<void>((resolve) => this.#wake = resolve);
    }
  }

  /** Counts a note for the series of its key, or starts a series. */
  #count(key: string, note: EventNote): EventSeries {
    const now = this.#options.clock.now();
    const known = this.#series.get(key);
    if (known === undefined || now - known.lastAt >= seriesLifeMs) return this.#startSeries(key, note, now);
    known.count += 1;
    known.lastAt = now;
    return known;
  }

  #startSeries(key: string, note: EventNote, now: number): EventSeries {
    const body = bodyOf(note, now, this.#options);
    const series: EventSeries = { key, body, isCreated: false, count: 1, lastAt: now, isQueued: false };
    this.#series.delete(key);
    this.#series.set(key, series);
    removeOldest(this.#series, maxSeries);
    return series;
  }

  #enqueue(series: EventSeries): void {
    // While a series waits, repetitions only increase its count.
    if (series.isQueued) return;
    if (this.#queue.length >= maxQueueLength) return this.#drop();
    series.isQueued = true;
    this.#queue.push(series);
    this.#wake?.();
  }

  #drop(): void {
    this.#dropped += 1;
  }

  async #send(series: EventSeries, kill: AbortSignal): Promise<void> {
    const { log, clock, random, recovery = clock } = this.#options;
    series.isQueued = false;
    for (let attempt = 1; attempt <= maxAttempts; attempt++) {
      try {
        return await this.#write(series, kill);
      } catch (error) {
        if (kill.aborted) return;
        if (error instanceof ApiError || attempt === maxAttempts) {
          return log.warn("event not recorded", { reason: series.body.reason, error });
        }
        await recovery.sleep(jittered(retryMs, 0.5, random), kill).catch(() => undefined);
      }
    }
  }

  async #write(series: EventSeries, signal: AbortSignal): Promise<void> {
    const { client } = this.#options;
    const { namespace, name } = series.body.metadata;
    if (series.isCreated && series.count > 1) {
      const value = { series: { count: series.count, lastObservedTime: microTime(series.lastAt) } };
      try {
        await client.patch(builtin.Event, `${namespace}/${name}`, { kind: "merge", value }, { signal });
        return;
      } catch (error) {
        // The server deletes Events after an hour; then a new Event gets the count.
        if (!isNotFound(error)) throw error;
      }
    }
    try {
      await client.create(builtin.Event, series.body, { signal });
    } catch (error) {
      // The response to an earlier attempt was lost.
      if (!isAlreadyExists(error)) throw error;
    }
    series.isCreated = true;
    if (series.count > 1) await this.#write(series, signal);
  }
}

function bodyOf(note: EventNote, now: number, options: EventRecorderOptions): EventBody {
  const { clock, reportingController, reportingInstance } = options;
  const { regarding } = note;
  const { name = "", namespace, uid, resourceVersion } = regarding.metadata;
  const { apiVersion, kind } = regarding;
  return {
    metadata: { name: `${name}.${nameSuffix(clock, now)}`, namespace: namespace ?? "default" },
    eventTime: microTime(now),
    reportingController,
    reportingInstance,
    action: note.action ?? "Reconcile",
    reason: note.reason,
    regarding: { apiVersion, kind, name, namespace, uid, resourceVersion },
    note: truncated(liveSecrets.mask(note.note)),
    type: note.type,
  };
}

/** Per Clock, which is per process: names of Events in a simulated process do not depend on other processes. */
const lastSuffixes = new WeakMap<Clock, bigint>();

/** Nanoseconds since the epoch in hexadecimal, as client-go names Events; increased by one if the time has not changed. */
function nameSuffix(clock: Clock, now: number): string {
  const at = BigInt(Math.floor(now)) * 1_000_000n;
  const last = lastSuffixes.get(clock) ?? 0n;
  const next = at > last ? at : last + 1n;
  lastSuffixes.set(clock, next);
  return next.toString(16);
}

function truncated(note: string): string {
  const bytes = new TextEncoder().encode(note);
  if (bytes.length <= maxNoteBytes) return note;
  return `${new TextDecoder().decode(bytes.slice(0, maxNoteBytes - 4)).replace(/\uFFFD+$/u, "")}…`;
}

/** A note after aggregation, and the key of its series. */
interface AggregatedNote {
  readonly key: string;
  readonly note: EventNote;
}

/** Notes that differ only in their text. */
interface NoteGroup {
  /** Different texts, fewer than {@link maxTexts}. */
  readonly texts: Set<string>;
  /** When the last note came, in milliseconds. */
  lastAt: number;
}

/** From this number of different texts on, the notes of a group are combined. */
const maxTexts = 10;
/** Milliseconds without a note after which a group starts over. */
const groupLifeMs = 600_000;
const maxGroups = 4096;
const combinedPrefix = "(combined from similar events): ";

/**
 * Combines notes that differ only in their text, such as "cannot reach 10.0.0.1", "cannot reach 10.0.0.2" and so on.
 *
 * Guarantees: the first nine different texts about one object, with the same type, reason and action, stay as they are.
 * From the tenth on, while no note comes more than 600 s after the one before, they are one Event with a count, whose
 * text begins with "(combined from similar events): ". Figures and text are those of client-go's EventCorrelator.
 */
class EventAggregator {
  readonly #clock: Clock;
  readonly #groups = new Map<string, NoteGroup>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  aggregate(note: EventNote): AggregatedNote {
    const similar = groupKey(note);
    const { texts } = this.#groupOf(similar);
    texts.add(note.note);
    if (texts.size < maxTexts) return { key: JSON.stringify([...similar, note.note]), note };
    // Any text can be removed: the other nine keep the group at its limit.
    const [first = ""] = texts;
    texts.delete(first);
    return { key: JSON.stringify(similar), note: { ...note, note: `${combinedPrefix}${note.note}` } };
  }

  #groupOf(similar: readonly string[]): NoteGroup {
    const id = JSON.stringify(similar);
    const now = this.#clock.monotonic();
    const known = this.#groups.get(id);
    const isFresh = known !== undefined && now - known.lastAt <= groupLifeMs;
    const group: NoteGroup = isFresh ? known : { texts: new Set(), lastAt: now };
    group.lastAt = now;
    moveToEnd(this.#groups, id, group);
    removeOldest(this.#groups, maxGroups);
    return group;
  }
}

/** Everything but the text. The reporting controller is the same for all notes of a recorder. */
function groupKey({ regarding, type, reason, action = "" }: EventNote): readonly string[] {
  const { uid = "", namespace = "", name = "" } = regarding.metadata;
  return [uid, namespace, name, regarding.apiVersion, regarding.kind, type, reason, action];
}

const spamBurst = 25;
const spamRefillMs = 300_000;
const maxBuckets = 4096;

/**
 * One token bucket per object, so that one object with a problem cannot flood the cluster with Events: 25 at once, then
 * one per 300 s, as client-go's EventSourceObjectSpamFilter.
 */
class SpamFilter {
  readonly #clock: Clock;
  readonly #buckets = new Map<string, TokenBucket>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Takes a token of the object's bucket. @returns False when there is none. */
  accepts(object: string): boolean {
    const bucket = this.#buckets.get(object) ??
      new TokenBucket({ intervalMs: spamRefillMs, burst: spamBurst, clock: this.#clock });
    moveToEnd(this.#buckets, object, bucket);
    removeOldest(this.#buckets, maxBuckets);
    return bucket.tryTake();
  }
}

/** The first entry of a map that uses this for every access is the one that was not used for the longest time. */
function moveToEnd<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key);
  map.set(key, value);
}

/** Removes the first entry of a map with more than `maxSize` entries. */
function removeOldest(map: Map<string, unknown>, maxSize: number): void {
  if (map.size <= maxSize) return;
  const oldest = map.keys().next().value;
  if (oldest !== undefined) map.delete(oldest);
}
