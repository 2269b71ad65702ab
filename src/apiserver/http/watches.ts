/**
 * Watches: all open watches of a server. It begins them, ends those of a kind that goes, and all of them when the server
 * stops.
 */
import type { Clock, Random } from "../../async/mod.ts";
import { Refusal } from "../model/mod.ts";
import { type Call, type Registry, type Selection } from "../registry/mod.ts";
import { parseResourceVersion, tooLarge } from "../storage/mod.ts";
import { type EventWriter, objectEventWriter, SharedLine, transformedEventWriter } from "./event_writer.ts";
import { contentTypes } from "./media_types.ts";
import { Pacer } from "./pacer.ts";
import type { ListParameters } from "./query_options.ts";
import type { Exchange } from "./resource_handler.ts";
import { WatchStream } from "./watch_stream.ts";

/** Options of {@link Watches}. */
export interface WatchesOptions {
  readonly registry: Registry;
  readonly clock: Clock;
  readonly random: Random;
  /** Milliseconds between two bookmarks of a watch. @default 60000, as the watch cache of kube-apiserver */
  readonly bookmarkMs?: number;
  /** The shortest time a watch runs that does not say how long; the longest is twice that. @default 1800000 */
  readonly minTimeoutMs?: number;
}

/** Where a watch begins. */
interface Beginning {
  /** Changes after this revision are sent. */
  readonly after: number;
  readonly initial:
    | { readonly snapshot: NonNullable<ReturnType<Registry["snapshot"]>>; readonly revision: number }
    | undefined;
}

/** The open watches of a server. Dispose it and they end. */
export class Watches implements Disposable {
  readonly #options: Required<WatchesOptions>;
  readonly #pacer: Pacer;
  readonly #shared = new SharedLine();
  /** By collection. */
  readonly #open = new Map<string, Set<WatchStream>>();
  readonly #kinds: Disposable;

  constructor(options: WatchesOptions) {
    this.#options = { bookmarkMs: 60_000, minTimeoutMs: 1_800_000, ...options };
    this.#pacer = new Pacer(options.clock);
    // Clients of a kind that changed begin anew, and get objects of the new form.
    this.#kinds = options.registry.kinds.onChange((collection) => this.#endAll(this.#open.get(collection)));
  }

  /** Open watches. */
  get size(): number {
    let count = 0;
    for (const streams of this.#open.values()) count += streams.size;
    return count;
  }

  /** Begins a watch. @throws Refusal 500 when its resourceVersion is none, as the real server */
  open(exchange: Exchange, call: Call, selection: Selection, parameters: ListParameters): Response {
    const { kind, request, form, negotiated } = exchange;
    const writer = this.#writer(exchange);
    const begun = beginning(this.#options.registry, call, parameters);
    if (begun instanceof Refusal) return streamed(errorBody(writer, begun), negotiated.format);
    const { registry, bookmarkMs } = this.#options;
    const { collection } = kind;
    const streams = this.#streams(collection);
    const stream: WatchStream = new WatchStream({
      kind,
      pacer: this.#pacer,
      open: (onChange) => registry.watch(call, selection, begun.after, onChange),
      revision: () => registry.storage.revision,
      droppedRevision: () => registry.storage.droppedRevision(collection),
      after: begun.after,
      matches: selection.matches,
      namespace: selection.namespace,
      name: selection.name,
      initial: begun.initial,
      hasBookmarks: parameters.allowWatchBookmarks,
      bookmarkMs,
      timeoutMs: this.#timeoutMs(parameters),
      writer,
      signal: request.signal,
      onEnd: () => void streams.delete(stream),
    });
    streams.add(stream);
    return streamed(stream.body, form.negotiated.format);
  }

  [Symbol.dispose](): void {
    this.#kinds[Symbol.dispose]();
    for (const streams of this.#open.values()) this.#endAll(streams);
    this.#pacer[Symbol.dispose]();
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
    const { kind, negotiated, form } = exchange;
    if (negotiated.transform === undefined) return objectEventWriter(kind, this.#shared);
    return transformedEventWriter(kind, negotiated.transform, form.table, () => this.#options.clock.now());
  }
}

/** @returns a refusal where the watch answers with an ERROR event only */
function beginning(registry: Registry, call: Call, parameters: ListParameters): Beginning | Refusal {
  const { resourceVersion, sendInitialEvents } = parameters;
  const { storage } = registry;
  const parsed = parseResourceVersion(resourceVersion);
  if (parsed.kind === "malformed") {
    throw new Refusal(500, "", `resourceVersion: Invalid value: ${JSON.stringify(resourceVersion)}: ${parsed.why}`);
  }
  if (sendInitialEvents && parsed.revision > storage.revision) return tooLarge(parsed.revision, storage.revision);
  // Version "0" without initial events begins wherever the server is.
  if (!sendInitialEvents) {
    return { after: parsed.revision === 0 ? storage.revision : parsed.revision, initial: undefined };
  }
  const snapshot = registry.snapshot(call);
  if (snapshot === undefined) throw new Error(`Cannot watch ${call.kind.plural}: the present state is not kept`);
  const { revision } = storage;
  return { after: revision, initial: { snapshot, revision } };
}

function errorBody(writer: EventWriter, refusal: Refusal): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(writer.writeError(refusal.status));
      controller.close();
    },
  });
}

function streamed(body: ReadableStream<Uint8Array>, format: "json" | "yaml"): Response {
  if (format === "yaml") throw notStreamable();
  return new Response(body, {
    headers: { "content-type": contentTypes.json, "cache-control": "no-cache, private" },
  });
}

/** YAML has no framing of its own here. */
function notStreamable(): Refusal {
  const types = ["application/json", "application/vnd.kubernetes.protobuf"].map((type) => `${type};stream=watch`);
  const message = `only the following media types are accepted: ${types.join(", ")}`;
  return new Refusal(406, "NotAcceptable", message);
}
