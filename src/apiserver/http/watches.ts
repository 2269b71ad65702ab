/**
 * Watches: opens all watches of a server, ends those of a kind that changes, and ends all of them when the server stops.
 */
import type { Clock, Random } from "../../async/mod.ts";
import { StatusError } from "../model/mod.ts";
import { type Call, type Registry, type Selection } from "../registry/mod.ts";
import { type Durability, parseResourceVersion, resourceVersionTooLarge } from "../storage/mod.ts";
import { contentTypes, type Format, streamTypes } from "./media_types.ts";
import { TimerQueue } from "./timer_queue.ts";
import type { ListParameters } from "./query_options.ts";
import type { Exchange, WatchService } from "./exchange.ts";
import { type EventWriter, objectEventWriter, SharedEvents, transformedEventWriter } from "./event_writers.ts";
import { WatchStream } from "./watch_stream.ts";

/** Options of {@link Watches}. */
export interface WatchesOptions {
  readonly registry: Registry;
  readonly clock: Clock;
  readonly random: Random;
  /** Milliseconds between two bookmarks of a watch. @default 60000, as the watch cache of kube-apiserver */
  readonly bookmarkMs?: number;
  /** The minimum duration of a watch without timeoutSeconds; the maximum is twice as long. @default 1800000 */
  readonly minTimeoutMs?: number;
  /** Events wait until it keeps their changes. @default the objects are in memory only */
  readonly durability?: Durability;
}

/** The start of a watch. */
interface WatchStart {
  /** Changes after this revision are sent. */
  readonly after: number;
  readonly initial:
    | { readonly snapshot: NonNullable<ReturnType<Registry["snapshot"]>>; readonly revision: number }
    | undefined;
}

/** The open watches of a server, which end when this is disposed. */
export class Watches implements WatchService, Disposable {
  readonly #options: WatchesOptions & Required<Omit<WatchesOptions, "durability">>;
  readonly #timers: TimerQueue;
  readonly #shared = new SharedEvents();
  /** By collection. */
  readonly #open = new Map<string, Set<WatchStream>>();
  readonly #kinds: Disposable;
  #isDisposed = false;

  constructor(options: WatchesOptions) {
    this.#options = { bookmarkMs: 60_000, minTimeoutMs: 1_800_000, ...options };
    this.#timers = new TimerQueue(options.clock);
    // Clients of a changed kind must start again, to get objects in the new form.
    this.#kinds = options.registry.kinds.onChange((collection) => this.#endAll(this.#open.get(collection)));
  }

  /** The number of open watches. */
  get size(): number {
    let count = 0;
    for (const streams of this.#open.values()) count += streams.size;
    return count;
  }

  /** Opens a watch. @throws StatusError 500 for a malformed resourceVersion, as kube-apiserver */
  open(exchange: Exchange, call: Call, selection: Selection, parameters: ListParameters): Response {
    const { kind, request, format, negotiated } = exchange;
    const writer = this.#writer(exchange);
    const start = watchStart(this.#options.registry, call, parameters);
    if (start instanceof StatusError) return streamed(errorBody(writer, start), negotiated.format);
    const { registry, bookmarkMs, durability } = this.#options;
    const { collection } = kind;
    const streams = this.#streams(collection);
    const stream = new WatchStream({
      kind,
      timers: this.#timers,
      open: (onChange) => registry.watch(call, selection, start.after, onChange),
      revision: () => durability?.storedRevision ?? registry.storage.revision,
      durability,
      droppedRevision: () => registry.storage.droppedRevision(collection),
      after: start.after,
      matches: selection.matches,
      namespace: selection.namespace,
      name: selection.name,
      initial: start.initial,
      hasBookmarks: parameters.allowWatchBookmarks,
      bookmarkMs,
      timeoutMs: this.#timeoutMs(parameters),
      writer,
      signal: request.signal,
      onEnd: (ended) => void streams.delete(ended),
    });
    streams.add(stream);
    if (this.#isDisposed) stream.close();
    else stream.start();
    return streamed(stream.body, format.negotiated.format);
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    this.#kinds[Symbol.dispose]();
    for (const streams of this.#open.values()) this.#endAll(streams);
    this.#timers[Symbol.dispose]();
  }

  #endAll(streams: ReadonlySet<WatchStream> | undefined): void {
    for (const stream of [...streams ?? []]) stream.close();
  }

  #streams(collection: string): Set<WatchStream> {
    let streams = this.#open.get(collection);
    if (streams === undefined) this.#open.set(collection, streams = new Set());
    return streams;
  }

  #timeoutMs(parameters: ListParameters): number {
    if (parameters.timeoutSeconds > 0) return parameters.timeoutSeconds * 1000;
    return this.#options.minTimeoutMs * (1 + this.#options.random.next());
  }

  #writer(exchange: Exchange): EventWriter {
    const { kind, negotiated, format } = exchange;
    // YAML is rejected when the response is created.
    const wire = negotiated.format === "protobuf" ? "protobuf" : "json";
    if (negotiated.transform === undefined) return objectEventWriter(kind, wire, this.#shared);
    const now = () => this.#options.clock.now();
    return transformedEventWriter(kind, wire, { transform: negotiated.transform, options: format.table, now });
  }
}

/** @returns a StatusError when the watch consists of a single ERROR event */
function watchStart(registry: Registry, call: Call, parameters: ListParameters): WatchStart | StatusError {
  const { resourceVersion, sendInitialEvents } = parameters;
  const { storage } = registry;
  const parsed = parseResourceVersion(resourceVersion);
  if (parsed.kind === "malformed") {
    throw new StatusError(500, "", `resourceVersion: Invalid value: ${JSON.stringify(resourceVersion)}: ${parsed.why}`);
  }
  if (sendInitialEvents && parsed.revision > storage.revision) {
    return resourceVersionTooLarge(parsed.revision, storage.revision);
  }
  // Version "0" without initial events starts at the live state.
  if (!sendInitialEvents) {
    return { after: parsed.revision === 0 ? storage.revision : parsed.revision, initial: undefined };
  }
  const snapshot = registry.snapshot(call);
  if (snapshot === undefined) throw new Error(`Cannot watch ${call.kind.plural}: the live state is missing`);
  const { revision } = storage;
  return { after: revision, initial: { snapshot, revision } };
}

function errorBody(writer: EventWriter, error: StatusError): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(writer.writeError(error.status));
      controller.close();
    },
  });
}

function streamed(body: ReadableStream<Uint8Array>, format: Format): Response {
  if (format === "yaml") throw notStreamable();
  const type = format === "protobuf" ? `${contentTypes.protobuf};stream=watch` : contentTypes.json;
  return new Response(body, { headers: { "content-type": type, "cache-control": "no-cache, private" } });
}

/** kube-apiserver does not stream YAML. */
function notStreamable(): StatusError {
  const message = `only the following media types are accepted: ${streamTypes.join(", ")}`;
  return new StatusError(406, "NotAcceptable", message);
}
