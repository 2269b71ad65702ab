/**
 * EventRecorder: turns the notes of reconcilers into Events (events.k8s.io/v1) on the API server.
 *
 * Guarantees: `record` returns at once and never throws; the same note about the same object within six minutes
 * becomes a count on the Event that exists, not another Event, and so do ten notes that differ in their text alone; one
 * object gets at most 25 Events in a burst, then one each 300 s; a queue of 1000 is the most that waits, and what it
 * cannot take is counted; `run` returns only when everything accepted before the stop was sent or given up. Figures as
 * client-go's tools/record and tools/events.
 */
import { type Clock, jittered, onAbort, type Random } from "../async/mod.ts";
import { builtin, type ObjectMeta } from "../api/mod.ts";
import { ApiError, type Client, isAlreadyExists, isNotFound } from "../client/mod.ts";
import type { EventNote, EventSink } from "../controller/mod.ts";
import type { Logger } from "../observe/mod.ts";
import { EventAggregator } from "./_event_aggregator.ts";
import { SpamFilter } from "./_spam_filter.ts";

/** Options of an {@link EventRecorder}. */
export interface EventRecorderOptions {
  readonly client: Client;
  /** Who reports, e.g. `foo-controller`. */
  readonly reportingController: string;
  /** Which replica reports, e.g. its host name. */
  readonly reportingInstance: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** An Event that was sent, and may yet become a series. */
interface Series {
  readonly key: string;
  readonly body: EventBody;
  /** Name on the server, once it is there. */
  created: boolean;
  count: number;
  lastAt: number;
  queued: boolean;
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
const longestQueue = 1000;
const mostSeries = 4096;
/** Tries for errors of the transport; an answer of the server is final. As client-go's maxTriesPerEvent. */
const mostTries = 12;
const retryMs = 10_000;
const longestNoteBytes = 1024;

export class EventRecorder implements EventSink {
  readonly #options: EventRecorderOptions;
  readonly #series = new Map<string, Series>();
  readonly #queue: Series[] = [];
  readonly #aggregator: EventAggregator;
  readonly #spam: SpamFilter;
  #wake: (() => void) | undefined;
  #dropped = 0;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#aggregator = new EventAggregator(options.clock);
    this.#spam = new SpamFilter(options.clock);
  }

  /** Events that were not sent because too many were waiting or their object had too many. */
  get dropped(): number {
    return this.#dropped;
  }

  record(note: EventNote): void {
    this.#options.log.debug("event", { type: note.type, reason: note.reason, note: note.note });
    const { key, note: told } = this.#aggregator.correlate(note);
    const series = this.#observe(key, told);
    // After the count, which tells of what was held back, too, once there is a token again.
    if (!this.#spam.admits(`${note.regarding.metadata.uid}`)) return this.#drop();
    this.#enqueue(series);
  }

  /** Sends what is recorded until `stop`, then sends the rest unless `kill` comes first. */
  async run(stop: AbortSignal, kill: AbortSignal): Promise<void> {
    using _waking = onAbort(stop, () => this.#wake?.());
    while (!kill.aborted) {
      const series = this.#queue.shift();
      if (series !== undefined) await this.#send(series, kill);
      else if (stop.aborted) return;
      else await new Promise<void>((resolve) => this.#wake = resolve);
    }
  }

  /** Counts a note for the series of its key, or begins that. */
  #observe(key: string, note: EventNote): Series {
    const now = this.#options.clock.now();
    const known = this.#series.get(key);
    if (known === undefined || now - known.lastAt >= seriesLifeMs) return this.#begin(key, note, now);
    known.count += 1;
    known.lastAt = now;
    return known;
  }

  #begin(key: string, note: EventNote, now: number): Series {
    const body = bodyOf(note, now, this.#options);
    const series: Series = { key, body, created: false, count: 1, lastAt: now, queued: false };
    this.#series.delete(key);
    this.#series.set(key, series);
    if (this.#series.size > mostSeries) {
      const oldest = this.#series.keys().next().value;
      if (oldest !== undefined) this.#series.delete(oldest);
    }
    return series;
  }

  #enqueue(series: Series): void {
    // Repetitions that come while one is waiting are told by its count.
    if (series.queued) return;
    if (this.#queue.length >= longestQueue) return this.#drop();
    series.queued = true;
    this.#queue.push(series);
    this.#wake?.();
  }

  #drop(): void {
    this.#dropped += 1;
  }

  async #send(series: Series, kill: AbortSignal): Promise<void> {
    const { log, clock, random } = this.#options;
    series.queued = false;
    for (let attempt = 1; attempt <= mostTries; attempt++) {
      try {
        return await this.#write(series, kill);
      } catch (error) {
        if (kill.aborted) return;
        if (error instanceof ApiError || attempt === mostTries) {
          return log.warn("Cannot record Event", { reason: series.body.reason, error });
        }
        await clock.sleep(jittered(retryMs, 0.5, random), kill).catch(() => undefined);
      }
    }
  }

  async #write(series: Series, signal: AbortSignal): Promise<void> {
    const { client } = this.#options;
    const { namespace, name } = series.body.metadata;
    if (series.created && series.count > 1) {
      const value = { series: { count: series.count, lastObservedTime: microTime(series.lastAt) } };
      try {
        await client.patch(builtin.Event, `${namespace}/${name}`, { kind: "merge", value }, { signal });
        return;
      } catch (error) {
        // Events expire on the server after an hour; then the count starts a new one.
        if (!isNotFound(error)) throw error;
      }
    }
    try {
      await client.create(builtin.Event, series.body, { signal });
    } catch (error) {
      // The answer to an earlier try was lost.
      if (!isAlreadyExists(error)) throw error;
    }
    series.created = true;
    if (series.count > 1) await this.#write(series, signal);
  }
}

function bodyOf(note: EventNote, now: number, options: EventRecorderOptions): EventBody {
  const { clock, reportingController, reportingInstance } = options;
  const { regarding } = note;
  const { name = "", namespace, uid, resourceVersion } = regarding.metadata;
  const { apiVersion, kind } = regarding;
  return {
    metadata: { name: `${name}.${suffix(clock, now)}`, namespace: namespace ?? "default" },
    eventTime: microTime(now),
    reportingController,
    reportingInstance,
    action: note.action ?? "Reconcile",
    reason: note.reason,
    regarding: { apiVersion, kind, name, namespace, uid, resourceVersion },
    note: shortened(note.note),
    type: note.type,
  };
}

/** By Clock: each process has one, a simulated one too, and what it does must not depend on those before it. */
const lastSuffixes = new WeakMap<Clock, bigint>();

/** Nanoseconds since the epoch in hex, as client-go names Events; counted on, so that no two are the same. */
function suffix(clock: Clock, now: number): string {
  const at = BigInt(Math.floor(now)) * 1_000_000n;
  const last = lastSuffixes.get(clock) ?? 0n;
  const next = at > last ? at : last + 1n;
  lastSuffixes.set(clock, next);
  return next.toString(16);
}

/** MicroTime of the API: RFC 3339 with six decimals. */
function microTime(at: number): string {
  return new Date(at).toISOString().replace("Z", "000Z");
}

function shortened(note: string): string {
  const bytes = new TextEncoder().encode(note);
  if (bytes.length <= longestNoteBytes) return note;
  return `${new TextDecoder().decode(bytes.slice(0, longestNoteBytes - 4)).replace(/\uFFFD+$/u, "")}…`;
}
