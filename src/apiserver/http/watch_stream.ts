/**
 * WatchStream: the body of a watch, one JSON event per line. It reads from the history of the storage as fast as its client
 * takes, so a slow client costs no memory, and one that is too slow gets a 410.
 *
 * Guarantees: events come in the order of their revisions, none twice, none left out; a bookmark says a revision only when
 * everything up to it was sent. It ends at its deadline, when its kind goes, when the server stops, and with the request's
 * signal; no timer is its own (see pacer.ts).
 */
import { onAbort } from "../../async/mod.ts";
import { apiVersionOf } from "../../api/mod.ts";
import { expired, type JsonObject, type Kind, Refusal } from "../model/mod.ts";
import { eventOf, type Matcher, type ObjectEvent } from "../registry/mod.ts";
import type { Cursor, Snapshot, StoredObject } from "../storage/mod.ts";
import type { EventWriter } from "./event_writer.ts";
import type { Pacer } from "./pacer.ts";

/** What a watch needs. */
export interface WatchOptions {
  readonly kind: Kind;
  readonly pacer: Pacer;
  /** Opens the cursor on the history. */
  open(onChange: () => void): Cursor;
  /** The present revision of the storage. */
  revision(): number;
  /** Revision of the last change that is not kept, for the message of a 410. */
  droppedRevision(): number;
  /** The revision the watch begins after, for the same message. */
  readonly after: number;
  readonly matches: Matcher | undefined;
  readonly namespace: string;
  readonly name: string | undefined;
  /** The objects to send first, with the revision they are of. */
  readonly initial: { readonly snapshot: Snapshot; readonly revision: number } | undefined;
  readonly hasBookmarks: boolean;
  /** Milliseconds between bookmarks. */
  readonly bookmarkMs: number;
  /** Milliseconds after which the watch ends. */
  readonly timeoutMs: number;
  readonly writer: EventWriter;
  readonly signal: AbortSignal;
  /** Called once when the watch is over, however it ended. */
  onEnd(): void;
}

/** Bytes a stream holds before it waits for its client. */
const bufferedBytes = 64 * 1024;
/** A last bookmark comes so long before the end, as cacher's pre-timeout bookmark. */
const lastBookmarkMs = 2_000;
/** Initial objects that are looked at in one go, so that a large store does not hold up everybody else. */
const initialBatch = 500;

type Controller = ReadableStreamDefaultController<Uint8Array>;

/** One watch. */
export class WatchStream {
  readonly body: ReadableStream<Uint8Array>;
  readonly #options: WatchOptions;
  readonly #cursor: Cursor;
  #controller: Controller | undefined;
  /** Key after which the initial objects go on; undefined once they are all sent. */
  #initialFrom: string | undefined;
  /** True while an event is being converted: the next waits. */
  #isBusy = false;
  #isOver = false;
  #timers: Disposable[] = [];
  #listening: Disposable | undefined;

  constructor(options: WatchOptions) {
    this.#options = options;
    this.#cursor = options.open(() => this.#advance());
    this.#initialFrom = options.initial === undefined ? undefined : "";
    this.body = new ReadableStream<Uint8Array>({
      start: (controller) => this.#start(controller),
      pull: () => this.#advance(),
      cancel: () => this.#end(() => {}),
    }, { highWaterMark: bufferedBytes, size: (chunk) => chunk?.byteLength ?? 0 });
  }

  /** Ends the watch in good order: clients go on from where they are. */
  close(): void {
    this.#end((controller) => controller.close());
  }

  #start(controller: Controller): void {
    this.#controller = controller;
    const { signal, pacer, timeoutMs, hasBookmarks, bookmarkMs } = this.#options;
    this.#listening = onAbort(signal, () => this.#end((controller) => controller.error(signal.reason)));
    if (this.#isOver) return;
    this.#timers.push(pacer.after(timeoutMs, () => this.close()));
    if (hasBookmarks) this.#scheduleBookmark(bookmarkMs, timeoutMs);
  }

  /** Sends what there is to send, as long as the client takes it. */
  #advance(): void {
    const controller = this.#controller;
    if (controller === undefined) return;
    while (!this.#isOver && !this.#isBusy && (controller.desiredSize ?? 0) > 0) {
      const isMore = this.#initialFrom === undefined ? this.#sendChange() : this.#sendInitial(this.#initialFrom);
      if (!isMore) return;
    }
  }

  /** @returns false when everything was sent */
  #sendChange(): boolean {
    const reading = this.#cursor.read();
    if (reading === "none") return false;
    if (reading === "expired") {
      const { after, droppedRevision } = this.#options;
      this.#fail(expired(`too old resource version: ${after} (${droppedRevision()})`));
      return false;
    }
    const event = eventOf(reading, this.#options.matches);
    if (event !== undefined) this.#send([event]);
    return true;
  }

  #sendInitial(from: string): boolean {
    const { initial, matches, name, namespace } = this.#options;
    if (initial === undefined) return false;
    const events: ObjectEvent[] = [];
    let [last, looked, isComplete] = ["", 0, true];
    const prefix = namespace === "" ? "" : `${namespace}/`;
    initial.snapshot.scan(from === "" ? prefix : from, (stored) => {
      if (!stored.key.startsWith(prefix)) return false;
      if (looked++ === initialBatch) return isComplete = false;
      last = stored.key;
      if (isWanted(stored, name, matches)) events.push({ type: "ADDED", stored });
      return true;
    });
    this.#initialFrom = isComplete ? undefined : `${last}\0`;
    this.#send(events, isComplete ? initial.revision : undefined);
    return true;
  }

  /** Writes events, and behind them the bookmark that ends the initial ones. */
  #send(events: readonly ObjectEvent[], initialEnd?: number): void {
    const { writer, hasBookmarks } = this.#options;
    const written = writer.write(events);
    const finish = (bytes: Uint8Array | undefined) => {
      if (this.#isOver) return;
      if (bytes !== undefined && bytes.byteLength > 0) this.#controller?.enqueue(bytes);
      if (initialEnd !== undefined && hasBookmarks) this.#sendBookmark(initialEnd, true);
    };
    if (!(written instanceof Promise)) return finish(written);
    this.#isBusy = true;
    written.then(finish, (error) => this.#fail(asRefusal(error))).finally(() => {
      this.#isBusy = false;
      this.#advance();
    });
  }

  #sendBookmark(revision: number, isInitialEnd: boolean): void {
    const { writer, kind } = this.#options;
    this.#controller?.enqueue(writer.writeBookmark(bookmark(kind, revision, isInitialEnd)));
  }

  #scheduleBookmark(bookmarkMs: number, leftMs: number): void {
    // The last one comes shortly before the end, so that the client goes on from there.
    const delayMs = Math.min(bookmarkMs, leftMs - lastBookmarkMs);
    if (delayMs <= 0) return;
    this.#timers[1] = this.#options.pacer.after(delayMs, () => {
      this.#scheduleBookmark(bookmarkMs, leftMs - delayMs);
      this.#advance();
      const isUpToDate = this.#initialFrom === undefined && !this.#isBusy && this.#cursor.isUpToDate;
      if (!this.#isOver && isUpToDate) this.#sendBookmark(this.#options.revision(), false);
    });
  }

  #fail(refusal: Refusal): void {
    if (!this.#isOver) this.#controller?.enqueue(this.#options.writer.writeError(refusal.status));
    this.close();
  }

  #end(finish: (controller: Controller) => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { onEnd } = this.#options;
    this.#listening?.[Symbol.dispose]();
    this.#cursor[Symbol.dispose]();
    for (const timer of this.#timers) timer[Symbol.dispose]();
    this.#timers = [];
    if (this.#controller !== undefined) finish(this.#controller);
    onEnd();
  }
}

function isWanted(stored: StoredObject, name: string | undefined, matches: Matcher | undefined): boolean {
  return (name === undefined || stored.name === name) && (matches === undefined || matches(stored.object));
}

function bookmark(kind: Kind, revision: number, isInitialEnd: boolean): JsonObject {
  const resourceVersion = String(revision);
  const metadata: JsonObject = isInitialEnd
    ? { resourceVersion, annotations: { "k8s.io/initial-events-end": "true" } }
    : { resourceVersion };
  return { kind: kind.kind, apiVersion: apiVersionOf(kind), metadata };
}

function asRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  return new Refusal(500, "InternalError", error instanceof Error ? error.message : String(error));
}
