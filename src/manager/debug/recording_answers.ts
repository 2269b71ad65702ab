/**
 * The recording over HTTP: pages of entries after an id, and the entries as they happen, as server-sent events.
 *
 * Guarantees: a page has at most 2,000 entries and 4 MiB; a client that reads its events more slowly than they happen is
 * ended when 1,000 of them wait, with an event that says so; at most 4 clients follow at once.
 */
import type { Entry, RecordingReader } from "../../observe/mod.ts";
import { jsonResponse, refuse } from "./debug_guard.ts";

const maxEntries = 2_000;
const maxBytes = 4 * 1024 * 1024;
const maxWaiting = 1_000;
const maxFollowers = 4;

/** Answers about one recording. */
export class RecordingAnswers {
  readonly #recording: RecordingReader;
  #followers = 0;

  constructor(recording: RecordingReader) {
    this.#recording = recording;
  }

  /** A page of entries, or the live ones for a client that accepts `text/event-stream`. */
  respond(request: Request): Response {
    const after = Number(new URL(request.url).searchParams.get("after") ?? request.headers.get("last-event-id") ?? "0");
    if (!Number.isSafeInteger(after) || after < 0) return refuse(400, "after is not the id of an entry");
    const isLive = (request.headers.get("accept") ?? "").includes("text/event-stream");
    return isLive ? this.#follow(after, request.signal) : this.#page(after);
  }

  #page(after: number): Response {
    const { lastId, dropped, bytes } = this.#recording;
    const entries: Entry[] = [];
    let size = 0;
    for (const entry of this.#recording.entries(after)) {
      size += JSON.stringify(entry).length;
      if (entries.length >= maxEntries || size > maxBytes) break;
      entries.push(entry);
    }
    return jsonResponse(200, { lastId, dropped, bytes, next: entries.at(-1)?.id ?? after, entries });
  }

  #follow(after: number, signal: AbortSignal): Response {
    if (this.#followers >= maxFollowers) return refuse(503, `${maxFollowers} clients follow the recording already`);
    const encoder = new TextEncoder();
    let subscription: Disposable | undefined;
    const end = () => {
      if (subscription === undefined) return;
      subscription[Symbol.dispose]();
      subscription = undefined;
      this.#followers--;
    };
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#followers++;
        const close = () => {
          end();
          try {
            controller.close();
          } catch {
            // The client has cancelled it already.
          }
        };
        const send = (entry: Entry) => {
          if (subscription === undefined) return;
          if ((controller.desiredSize ?? 0) > 0) {
            return controller.enqueue(encoder.encode(`id: ${entry.id}\ndata: ${JSON.stringify(entry)}\n\n`));
          }
          controller.enqueue(encoder.encode(`event: behind\ndata: {"lastId":${entry.id - 1}}\n\n`));
          close();
        };
        subscription = this.#recording.subscribe(send);
        signal.addEventListener("abort", close, { once: true });
        for (const entry of this.#recording.entries(after).slice(0, maxWaiting / 2)) send(entry);
      },
      cancel: end,
    }, { highWaterMark: maxWaiting });
    return new Response(body, {
      headers: {
        "content-type": "text/event-stream",
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
      },
    });
  }
}
