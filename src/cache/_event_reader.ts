/**
 * EventReader: takes the events of one watch connection, batch by batch, and says when the connection is of no more
 * use. It keeps the two rules that a cache stands on: the version only moves past what has been taken, and the
 * initial events of a WatchList become visible all at once, at their closing bookmark.
 *
 * This is the hot path: one switch and one call per event, no promise and no object of ours.
 */
import {
  type Bookmark,
  compareResourceVersions,
  initialEventsEnd,
  keyOf,
  type KubeObject,
  type ResourceVersion,
  type WatchEvent,
} from "../api/mod.ts";
import type { Clock } from "../async/mod.ts";
import type { Logger } from "../observe/mod.ts";
import { classify, type Failure, WatchError } from "./_classify.ts";
import type { Quarantine } from "./_quarantine.ts";
import type { ChangeSink, ReflectorTarget, Replacement } from "./target.ts";
import type { CacheCounter } from "./metrics.ts";

/** What an EventReader needs. */
export interface EventReaderOptions<T extends KubeObject> {
  readonly target: ReflectorTarget<T>;
  readonly quarantine: Quarantine;
  /** Where the watch starts; "" and "0" make the server begin with unordered ADDED events. */
  readonly from: ResourceVersion | "" | "0";
  /** The stream begins with a full state, closed by a bookmark. */
  readonly initialEvents: boolean;
  readonly clock: Clock;
  readonly log: Logger;
  readonly count: (counter: CacheCounter) => void;
  /** Called when the closing bookmark has come and its state is in the target. */
  readonly onSynced: (version: ResourceVersion) => void;
}

/** Reads one watch connection. */
export class EventReader<T extends KubeObject> {
  readonly #options: EventReaderOptions<T>;
  #replacement: Replacement<T> | undefined;
  #sink: ChangeSink<T>;
  #version: ResourceVersion | "" | "0";
  /** False while ADDED events may come in any order of versions (behaviours.md 6). */
  #ordered: boolean;
  #events = 0;
  #progressed = false;
  #periodicBookmark = false;

  constructor(options: EventReaderOptions<T>) {
    this.#options = options;
    this.#version = options.from;
    this.#ordered = options.from !== "" && options.from !== "0";
    this.#replacement = options.initialEvents ? options.target.beginReplace() : undefined;
    this.#sink = this.#replacement ?? options.target;
    if (options.initialEvents) options.quarantine.beginSync();
  }

  /** Up to where everything was taken; where the next watch starts. */
  get version(): ResourceVersion | "" | "0" {
    return this.#version;
  }

  /** Events that came. */
  get events(): number {
    return this.#events;
  }

  /** Anything came that the next watch will not bring again. */
  get progressed(): boolean {
    return this.#progressed;
  }

  /** The full state is still incomplete. */
  get initial(): boolean {
    return this.#replacement !== undefined;
  }

  /** The server has shown that it sends bookmarks on its own. */
  get sawPeriodicBookmark(): boolean {
    return this.#periodicBookmark;
  }

  /** Takes a batch; returns why the connection has to be given up, if it has. */
  read(batch: readonly WatchEvent<T>[]): Failure | undefined {
    let reached: ResourceVersion | undefined;
    let failure: Failure | undefined;
    for (const event of batch) {
      this.#events++;
      let version: ResourceVersion | undefined;
      switch (event.type) {
        case "ADDED":
          version = this.#sink.upsert(event.object);
          if (!this.#ordered || this.#replacement !== undefined) version = undefined;
          break;
        case "MODIFIED":
          version = this.#moved(this.#sink.upsert(event.object));
          break;
        case "DELETED":
          version = this.#moved(this.#sink.remove(event.object));
          break;
        case "BOOKMARK":
          version = this.#bookmark(event.object);
          break;
        case "ERROR":
          failure = classify(new WatchError(event.object));
          break;
        case "MALFORMED":
          failure = this.#malformed(event.line, event.cause, reached ?? this.#version);
          break;
        default:
          this.#unknown(event satisfies never);
          continue;
      }
      if (failure !== undefined) break;
      if (version !== undefined) reached = version;
      if (event.type !== "BOOKMARK" && event.type !== "MALFORMED") this.#progressed = true;
    }
    if (reached !== undefined) this.#advance(reached);
    return failure;
  }

  #moved(version: ResourceVersion | undefined): ResourceVersion | undefined {
    this.#ordered = true;
    return this.#replacement === undefined ? version : undefined;
  }

  #advance(version: ResourceVersion): void {
    // A server that says something older repeats itself; to follow it back would be to expire.
    if ((compareResourceVersions(version, this.#version) ?? 1) <= 0) return;
    this.#version = version;
    this.#progressed = true;
    this.#options.target.reached(version);
  }

  #bookmark(bookmark: Bookmark): ResourceVersion | undefined {
    const version = bookmark?.metadata?.resourceVersion;
    if (version === undefined) {
      this.#unknown(bookmark);
      return undefined;
    }
    this.#ordered = true;
    if (this.#replacement === undefined) {
      this.#periodicBookmark = true;
      return version;
    }
    // Not the closing one: the state is not complete, so its version must not be believed.
    if (bookmark.metadata.annotations?.[initialEventsEnd] !== "true") return undefined;
    const replacement = this.#replacement;
    this.#replacement = undefined;
    this.#sink = this.#options.target;
    this.#version = version;
    this.#progressed = true;
    this.#options.quarantine.endSync();
    replacement.commit(version);
    this.#options.onSynced(version);
    return undefined;
  }

  #malformed(line: string, cause: unknown, reached: ResourceVersion | "" | "0"): Failure | undefined {
    const { quarantine, clock, log, count } = this.#options;
    // Initial events have no order, so the line alone is the position.
    const after = this.#replacement !== undefined || reached === "0" ? "" : reached;
    count("reflector_malformed_lines_total");
    const verdict = quarantine.inspect(line, { after, at: clock.now(), cause });
    if (verdict.kind === "suspect") {
      const error = new Error(`Cannot read a line of the watch after version "${after}": it is not an event`, {
        cause,
      });
      return { reason: "malformed", error };
    }
    if (verdict.line.key !== undefined) this.#replacement?.retain(verdict.line.key);
    if (verdict.kind === "quarantined") {
      count("reflector_quarantined_lines_total");
      log.error("A line of the watch cannot be read, its object stays as it was", {
        key: verdict.line.key,
        after,
        cause,
      });
    }
    return undefined;
  }

  #unknown(event: unknown): void {
    this.#options.count("reflector_skipped_events_total");
    this.#options.log.warn("An event of an unknown type was passed over", {
      event: JSON.stringify(event)?.slice(0, 256),
    });
  }
}

/** The key of an object whose shape nobody has checked yet; undefined when it has no name. */
export function keyOfUnchecked(object: KubeObject | undefined): ReturnType<typeof keyOf> | undefined {
  const name = object?.metadata?.name;
  return object === undefined || typeof name !== "string" || name === "" ? undefined : keyOf(object);
}
