/**
 * WatchStream: the body of a watch, event by event, as an EventWriter writes them. It reads the history of the storage as fast
 * as its client reads the body, so a slow client needs no memory, and a client that is too slow gets a 410.
 *
 * Guarantees: events come in the order of their revisions, each once. A bookmark has a revision only after all events up to it
 * were sent. The stream ends at its timeout, when its kind changes, when the server stops, and with the signal of the request.
 */
import { onAbort } from "../../async/mod.ts";
import { redactText } from "../../observe/mod.ts";
import { apiVersionOf } from "../../api/mod.ts";
import { expired, type JsonObject, type Kind, StatusError } from "../model/mod.ts";
import { eventOf, type Matcher, type ObjectEvent } from "../registry/mod.ts";
import type { Cursor, Durability, Reading, Snapshot, StoredObject } from "../storage/mod.ts";
import type { EventWriter } from "./event_writers.ts";
import type { TimerQueue } from "./timer_queue.ts";

/** Options of {@link WatchStream}. */
export interface WatchOptions {
  readonly kind: Kind;
  readonly timers: TimerQueue;
  /** Opens the cursor on the history. */
  open(onChange: () => void): Cursor;
  /** The live revision of the storage, as far as it is kept. */
  revision(): number;
  /** Events wait until it keeps their changes. @default the objects are in memory only */
  readonly durability?: Durability;
  /** Revision of the newest dropped change, for the message of a 410. */
  droppedRevision(): number;
  /** The start revision of the watch, for the same message. */
  readonly after: number;
  readonly matches: Matcher | undefined;
  readonly namespace: string;
  readonly name: string | undefined;
  /** The objects to send first, with their revision. */
  readonly initial: { readonly snapshot: Snapshot; readonly revision: number } | undefined;
  readonly hasBookmarks: boolean;
  /** Milliseconds between bookmarks. */
  readonly bookmarkMs: number;
  /** Milliseconds after which the watch ends. */
  readonly timeoutMs: number;
  readonly writer: EventWriter;
  readonly signal: AbortSignal;
  /** Called once when the watch has ended, for any reason; not before `start` is called. */
  onEnd(stream: WatchStream): void;
}

/** Bytes in the stream before it waits for its client. */
const maxBufferedBytes = 64 * 1024;
/** The last bookmark comes 2 s before the timeout, as the cacher of kube-apiserver. */
const lastBookmarkBeforeEndMs = 2_000;
/** Initial objects per step, so that a large collection does not block other requests. */
const initialBatch = 500;

type Controller = ReadableStreamDefaultController<Uint8Array>;

/**
 * One watch. Its end may come with `start`, when the signal is aborted already; never in the constructor, so the caller has
 * stored the watch by then.
 */
export class WatchStream {
  readonly body: ReadableStream<Uint8Array>;
  readonly #options: WatchOptions;
  readonly #cursor: Cursor;
  #controller: Controller | undefined;
  /** The key after which the initial objects continue; undefined when all are sent. */
  #initialFrom: string | undefined;
  /** A change that is read and not kept yet. */
  #held: Reading | undefined;
  /** True while an event is being converted or kept; the next one waits. */
  #isBusy = false;
  #isEnded = false;
  #timers: Disposable[] = [];
  #listening: Disposable | undefined;

  constructor(options: WatchOptions) {
    this.#options = options;
    this.#cursor = options.open(() => this.#advance());
    this.#initialFrom = options.initial === undefined ? undefined : "";
    this.body = new ReadableStream<Uint8Array>({
      start: (controller) => void (this.#controller = controller),
      pull: () => this.#advance(),
      cancel: () => this.#end(() => {}),
    }, { highWaterMark: maxBufferedBytes, size: (chunk) => chunk?.byteLength ?? 0 });
  }

  /** Starts the timers, and ends with the signal from now on. */
  start(): void {
    const { signal, timers, timeoutMs, hasBookmarks, bookmarkMs } = this.#options;
    this.#listening = onAbort(signal, () => this.#end((controller) => controller.error(signal.reason)));
    if (this.#isEnded) return;
    this.#timers.push(timers.after(timeoutMs, () => this.close()));
    if (hasBookmarks) this.#scheduleBookmark(bookmarkMs, timeoutMs);
  }

  /** Ends the watch without an error: the client continues from its last event. */
  close(): void {
    this.#end((controller) => controller.close());
  }

  /** Sends events as long as the client reads them. */
  #advance(): void {
    const controller = this.#controller;
    if (controller === undefined) return;
    while (!this.#isEnded && !this.#isBusy && (controller.desiredSize ?? 0) > 0) {
      const isMore = this.#initialFrom === undefined ? this.#sendChange() : this.#sendInitial(this.#initialFrom);
      if (!isMore) return;
    }
  }

  /** @returns false when all changes were sent */
  #sendChange(): boolean {
    const reading = this.#held ?? this.#cursor.read();
    if (reading === "none") return false;
    if (this.#isHeldBack(reading)) return false;
    if (reading === "expired") {
      const { after, droppedRevision } = this.#options;
      this.#fail(expired(`too old resource version: ${after} (${droppedRevision()})`));
      return false;
    }
    const event = eventOf(reading, this.#options.matches);
    if (event !== undefined) this.#send([event]);
    return true;
  }

  /** @returns true when the change is sent later, because it can still be lost */
  #isHeldBack(reading: Exclude<Reading, "none">): boolean {
    const { durability } = this.#options;
    if (durability === undefined) return false;
    this.#held = undefined;
    if (reading === "expired" || reading.revision <= durability.storedRevision) return false;
    this.#held = reading;
    this.#isBusy = true;
    durability.reached(reading.revision).then(() => {
      this.#isBusy = false;
      this.#advance();
    });
    return true;
  }

  #sendInitial(from: string): boolean {
    const { initial, matches, name, namespace } = this.#options;
    if (initial === undefined) return false;
    const events: ObjectEvent[] = [];
    let [last, count, isComplete] = ["", 0, true];
    const prefix = namespace === "" ? "" : `${namespace}/`;
    initial.snapshot.scan(from === "" ? prefix : from, (stored) => {
      if (!stored.key.startsWith(prefix)) return false;
      if (count++ === initialBatch) return isComplete = false;
      last = stored.key;
      if (isSelected(stored, name, matches)) events.push({ type: "ADDED", stored });
      return true;
    });
    this.#initialFrom = isComplete ? undefined : `${last}\0`;
    this.#send(events, isComplete ? initial.revision : undefined);
    return true;
  }

  /** Writes events, and the bookmark after the initial ones. */
  #send(events: readonly ObjectEvent[], initialEnd?: number): void {
    const { writer, hasBookmarks } = this.#options;
    const written = writer.write(events);
    const finish = (bytes: Uint8Array | undefined) => {
      if (this.#isEnded) return;
      if (bytes !== undefined && bytes.byteLength > 0) this.#controller?.enqueue(bytes);
      if (initialEnd !== undefined && hasBookmarks) this.#sendBookmark(initialEnd, true);
    };
    if (!(written instanceof Promise)) return finish(written);
    this.#isBusy = true;
    written.then(finish, (error) => this.#fail(asStatusError(error))).finally(() => {
      this.#isBusy = false;
      this.#advance();
    });
  }

  #sendBookmark(revision: number, isInitialEnd: boolean): void {
    const { writer, kind } = this.#options;
    this.#controller?.enqueue(writer.writeBookmark(bookmark(kind, revision, isInitialEnd)));
  }

  #scheduleBookmark(bookmarkMs: number, leftMs: number): void {
    // The last one comes shortly before the end, so that the client can continue from there.
    const delayMs = Math.min(bookmarkMs, leftMs - lastBookmarkBeforeEndMs);
    if (delayMs <= 0) return;
    this.#timers[1] = this.#options.timers.after(delayMs, () => {
      this.#scheduleBookmark(bookmarkMs, leftMs - delayMs);
      this.#advance();
      const isUpToDate = this.#initialFrom === undefined && !this.#isBusy && this.#cursor.isUpToDate;
      if (!this.#isEnded && isUpToDate) this.#sendBookmark(this.#options.revision(), false);
    });
  }

  #fail(error: StatusError): void {
    if (!this.#isEnded) this.#controller?.enqueue(this.#options.writer.writeError(error.status));
    this.close();
  }

  #end(finish: (controller: Controller) => void): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    const { onEnd } = this.#options;
    this.#listening?.[Symbol.dispose]();
    this.#cursor[Symbol.dispose]();
    for (const timer of this.#timers) timer[Symbol.dispose]();
    this.#timers = [];
    if (this.#controller !== undefined) finish(this.#controller);
    onEnd(this);
  }
}

function isSelected(stored: StoredObject, name: string | undefined, matches: Matcher | undefined): boolean {
  return (name === undefined || stored.name === name) && (matches === undefined || matches(stored));
}

function bookmark(kind: Kind, revision: number, isInitialEnd: boolean): JsonObject {
  const resourceVersion = String(revision);
  const metadata: JsonObject = isInitialEnd
    ? { resourceVersion, annotations: { "k8s.io/initial-events-end": "true" } }
    : { resourceVersion };
  // The other fields are those of an empty object.
  return { kind: kind.kind, apiVersion: apiVersionOf(kind), ...kind.empty, metadata };
}

function asStatusError(error: unknown): StatusError {
  if (error instanceof StatusError) return error;
  return new StatusError(500, "InternalError", redactText(error instanceof Error ? error.message : String(error)));
}
