/**
 * The recording over HTTP: pages of entries after an id, and the entries as they happen, as server-sent events.
 *
 * Guarantees: a page has at most 2,000 entries and 4 MiB. A follower reads from the recording itself, one part of at most 256
 * entries and 256 KiB at a time, so that a client that does not read costs no more than that; if the recording has dropped
 * what it has not read, it is ended with an event that says so. At most 16 clients follow at once; one that has gone without
 * closing its connection is found by a comment every 15 s. With `brief`, entries have no whole objects.
 */
import type { Clock } from "../../async/mod.ts";
import type { Entry, EntryId, RecordingReader } from "../../observe/mod.ts";
import { jsonResponse, refuse } from "./debug_guard.ts";

const maxEntries = 2_000;
const maxBytes = 4 * 1024 * 1024;
const maxPartEntries = 256;
const maxPartBytes = 256 * 1024;
const maxFollowers = 16;
const commentMs = 15_000;

/** Makes of an entry what is sent. */
type Prepare = (entry: Entry) => Entry;

/** Answers about one recording. */
export class RecordingAnswers {
  readonly #recording: RecordingReader;
  readonly #clock: Clock | undefined;
  #followers = 0;

  /** @param clock for the comments to quiet followers; without it there are none */
  constructor(recording: RecordingReader, clock?: Clock) {
    this.#recording = recording;
    this.#clock = clock;
  }

  /** A page of entries, or the live ones for a client that accepts `text/event-stream`. */
  respond(request: Request): Response {
    const after = Number(new URL(request.url).searchParams.get("after") ?? request.headers.get("last-event-id") ?? "0");
    if (!Number.isSafeInteger(after) || after < 0) return refuse(400, "after is not the id of an entry");
    const isLive = (request.headers.get("accept") ?? "").includes("text/event-stream");
    const prepare = new URL(request.url).searchParams.has("brief") ? withoutState : (entry: Entry) => entry;
    return isLive ? this.#follow(after, prepare, request.signal) : this.#page(after, prepare);
  }

  #page(after: number, prepare: Prepare): Response {
    const { lastId, dropped, bytes } = this.#recording;
    const entries: Entry[] = [];
    let size = 0;
    for (const recorded of this.#recording.entries(after, maxEntries)) {
      const entry = prepare(recorded);
      size += JSON.stringify(entry).length;
      // At least one, or the next question would be the same.
      if (size > maxBytes && entries.length > 0) break;
      entries.push(entry);
    }
    return jsonResponse(200, { lastId, dropped, bytes, next: entries.at(-1)?.id ?? after, entries });
  }

  #follow(after: number, prepare: Prepare, signal: AbortSignal): Response {
    if (this.#followers >= maxFollowers) {
      return refuse(503, `${maxFollowers} clients follow the recording already`, { "retry-after": "5" });
    }
    this.#followers++;
    const follower = new Follower(this.#recording, { after, prepare, clock: this.#clock });
    let hasEnded = false;
    const end = () => {
      if (hasEnded) return;
      hasEnded = true;
      this.#followers--;
      follower[Symbol.dispose]();
      signal.removeEventListener("abort", end);
    };
    signal.addEventListener("abort", end, { once: true });
    if (signal.aborted) end();
    const encoder = new TextEncoder();
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        const { text, isLast } = await follower.next();
        if (hasEnded) return controller.close();
        controller.enqueue(encoder.encode(text));
        if (!isLast) return;
        end();
        controller.close();
      },
      cancel: end,
    }, { highWaterMark: 0 });
    return new Response(body, {
      headers: {
        "content-type": "text/event-stream",
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
      },
    });
  }
}

/** The place of one client in the recording. */
class Follower implements Disposable {
  readonly #recording: RecordingReader;
  readonly #clock: Clock | undefined;
  readonly #prepare: Prepare;
  readonly #subscription: Disposable;
  #lastId: EntryId;
  #dropped: number;
  #wake: (() => void) | undefined;
  #hasEnded = false;

  constructor(
    recording: RecordingReader,
    { after, prepare, clock }: {
      readonly after: EntryId;
      readonly prepare: Prepare;
      readonly clock: Clock | undefined;
    },
  ) {
    this.#recording = recording;
    this.#clock = clock;
    this.#prepare = prepare;
    this.#lastId = after;
    this.#dropped = recording.dropped;
    this.#subscription = recording.subscribe(() => this.#wake?.());
  }

  /** The next events, as soon as there are any; a comment if there are none for a while. */
  async next(): Promise<{ readonly text: string; readonly isLast: boolean }> {
    let isQuiet = false;
    while (!this.#hasEnded) {
      const entries = this.#recording.entries(this.#lastId, maxPartEntries);
      if (this.#hasLost(entries[0])) {
        return { text: `event: behind\ndata: {"lastId":${this.#lastId}}\n\n`, isLast: true };
      }
      if (entries.length > 0) return { text: this.#eventsOf(entries), isLast: false };
      if (isQuiet) return { text: ": nothing has happened\n\n", isLast: false };
      isQuiet = await this.#pause() === "quiet";
    }
    return { text: "", isLast: true };
  }

  /** True if the recording has dropped entries that were not read. Some ids are in no entry in memory. */
  #hasLost(oldest: Entry | undefined): boolean {
    const { dropped } = this.#recording;
    const hasDropped = dropped !== this.#dropped;
    this.#dropped = dropped;
    return hasDropped && oldest !== undefined && oldest.id > this.#lastId + 1 &&
      this.#recording.entries(0, 1)[0]?.id === oldest.id;
  }

  #eventsOf(entries: readonly Entry[]): string {
    let text = "";
    for (const entry of entries) {
      const event = `id: ${entry.id}\ndata: ${JSON.stringify(this.#prepare(entry))}\n\n`;
      if (text !== "" && text.length + event.length > maxPartBytes) break;
      text += event;
      this.#lastId = entry.id;
    }
    return text;
  }

  async #pause(): Promise<"woken" | "quiet"> {
    const { promise, resolve } = Promise.withResolvers<"woken" | "quiet">();
    this.#wake = () => resolve("woken");
    using _timer = this.#clock?.timer(commentMs, () => resolve("quiet"));
    const how = await promise;
    this.#wake = undefined;
    return how;
  }

  [Symbol.dispose](): void {
    this.#hasEnded = true;
    this.#subscription[Symbol.dispose]();
    this.#wake?.();
  }
}

/** The page shows whole objects of one moment, and asks for them then. */
function withoutState(entry: Entry): Entry {
  if (entry.kind !== "change" && entry.kind !== "write" && entry.kind !== "read") return entry;
  const { state: _, ...rest } = entry;
  return rest as Entry;
}
