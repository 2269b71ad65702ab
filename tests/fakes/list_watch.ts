/**
 * FakeApi: an API server as a ListWatch, for one kind: objects, versions, a history to watch from, pages, bookmarks,
 * WatchList, compaction. It follows the rules of a real server, and fails only where a test wants it: `failNext`,
 * `scriptWatches`, and the methods that act on open watches.
 */
import {
  type ApiStatus,
  compareResourceVersions,
  initialEventsEnd,
  keyOf,
  type KubeObject,
  type ListOptions,
  type ListPage,
  type ListWatch,
  type ObjectKey,
  objectKey,
  type ResourceVersion,
  resourceVersion,
  type WatchEvent,
  type WatchOptions,
} from "../../src/api/mod.ts";
import { type Clock, onAbort } from "../../src/async/mod.ts";

/** The objects of a FakeApi, with one field that can change. */
export interface Thing extends KubeObject {
  readonly spec?: { readonly value: number };
}

/** An error of the same shape as the client's ApiError. */
export class FakeApiError extends Error {
  override readonly name = "ApiError";
  readonly code: number;
  readonly reason: string;
  readonly status: ApiStatus;
  readonly retryAfterMs: number | undefined;

  constructor(
    code: number,
    reason: string,
    options: { readonly retryAfterMs?: number; readonly status?: ApiStatus } = {},
  ) {
    super(`${code} ${reason}`);
    this.code = code;
    this.reason = reason;
    this.status = options.status ?? { code, reason, message: `${code} ${reason}` };
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** One received request. */
export type FakeRequest =
  | { readonly kind: "list"; readonly options: ListOptions }
  | { readonly kind: "watch"; readonly options: WatchOptions };

/** A watch that sends the given batches and then ends in the given way. */
export interface ScriptedStream {
  readonly batches: readonly (readonly WatchEvent<Thing>[])[];
  readonly then: "close" | "hang" | "continue" | Error;
}

/** Options of a {@link FakeApi}. */
export interface FakeApiOptions {
  /** Closes watches after timeoutSeconds on this clock. @default never */
  readonly clock?: Clock;
  /** False: WatchList is rejected with 422. @default true */
  readonly hasWatchList?: boolean;
  /** False: no watch cache, so limits apply at every version. @default true */
  readonly hasWatchCache?: boolean;
  /** Version before the first change. @default 100 */
  readonly firstVersion?: number;
}

interface Change {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly object: Thing;
  readonly version: number;
}

/** An API server with one kind. */
export class FakeApi implements ListWatch<Thing> {
  readonly requests: FakeRequest[] = [];
  readonly #options: FakeApiOptions;
  readonly #objects = new Map<ObjectKey, Thing>();
  readonly #failures = { list: new Array<Error | "hang">(), watch: new Array<Error | "hang">() };
  readonly #streams: ScriptedStream[] = [];
  readonly #open = new Set<Connection>();
  #history: Change[] = [];
  #version: number;
  #compacted: number;
  #uids = 0;

  constructor(options: FakeApiOptions = {}) {
    this.#options = options;
    this.#version = options.firstVersion ?? 100;
    this.#compacted = this.#version;
  }

  /** The version of the current state. */
  get version(): ResourceVersion {
    return resourceVersion(String(this.#version));
  }

  /** Watches that are open now. */
  get openWatches(): number {
    return this.#open.size;
  }

  /** The received list requests. */
  lists(): readonly ListOptions[] {
    return this.requests.flatMap((request) => request.kind === "list" ? [request.options] : []);
  }

  /** The received watch requests. */
  watches(): readonly WatchOptions[] {
    return this.requests.flatMap((request) => request.kind === "watch" ? [request.options] : []);
  }

  /** The current objects by key. */
  objects(): ReadonlyMap<ObjectKey, Thing> {
    return this.#objects;
  }

  /** Creates an object, or changes the existing one. */
  put(name: string, options: { readonly namespace?: string; readonly value?: number } = {}): Thing {
    const { namespace = "default", value = 0 } = options;
    const key = objectKey({ namespace, name });
    const existing = this.#objects.get(key);
    this.#version++;
    const object: Thing = {
      apiVersion: "example.dev/v1",
      kind: "Thing",
      metadata: {
        name,
        namespace,
        uid: existing?.metadata.uid ?? `uid-${++this.#uids}`,
        resourceVersion: this.version,
      },
      spec: { value },
    };
    this.#objects.set(key, object);
    this.#record({ type: existing === undefined ? "ADDED" : "MODIFIED", object, version: this.#version });
    return object;
  }

  /** Deletes an object; does nothing when it does not exist. */
  delete(name: string, namespace = "default"): void {
    const key = objectKey({ namespace, name });
    const existing = this.#objects.get(key);
    if (existing === undefined) return;
    this.#version++;
    this.#objects.delete(key);
    const object = { ...existing, metadata: { ...existing.metadata, resourceVersion: this.version } };
    this.#record({ type: "DELETED", object, version: this.#version });
  }

  /** Increments the version, as a change of another kind does. */
  changeElsewhere(): void {
    this.#version++;
  }

  /** Compacts the history: watches from older versions get 410. */
  compact(): void {
    this.#compacted = this.#version;
    this.#history = [];
  }

  /** Restores the server to `version` with exactly these objects, as from a backup. */
  restore(version: number, objects: readonly Thing[]): void {
    this.#version = version;
    this.#compacted = version;
    this.#history = [];
    this.#objects.clear();
    for (const object of objects) this.#objects.set(keyOf(object), object);
  }

  /** Sends a bookmark to every open watch. */
  bookmark(): void {
    this.send([bookmarkAt(this.#version)]);
  }

  /** Sends the given events to every open watch. */
  send(batch: readonly WatchEvent<Thing>[]): void {
    for (const connection of this.#open) connection.push(batch);
  }

  /** Ends every open watch, with an error if there is one. */
  endWatches(error?: Error): void {
    for (const connection of [...this.#open]) connection.end(error);
  }

  /** Makes the next requests fail with the given errors; "hang" does not respond until aborted. */
  failNext(kind: "list" | "watch", ...errors: readonly (Error | "hang")[]): void {
    this.#failures[kind].push(...errors);
  }

  /** Makes the next watches run as scripted. */
  scriptWatches(...streams: readonly ScriptedStream[]): void {
    this.#streams.push(...streams);
  }

  async list(options: ListOptions, signal: AbortSignal): Promise<ListPage<Thing>> {
    this.requests.push({ kind: "list", options });
    await this.#failIfScripted("list", signal);
    const requested = options.resourceVersion ?? "";
    if (options.continue !== undefined) return this.#nextPage(options);
    if (requested !== "" && Number(requested) > this.#version) throw tooLarge();
    const items = [...this.#objects.values()];
    const fromCache = (this.#options.hasWatchCache ?? true) && requested === "0";
    return this.#page(items, { version: this.#version, from: 0, limit: fromCache ? undefined : options.limit });
  }

  async *watch(options: WatchOptions, signal: AbortSignal): AsyncGenerator<readonly WatchEvent<Thing>[]> {
    this.requests.push({ kind: "watch", options });
    await this.#failIfScripted("watch", signal);
    const scripted = this.#streams.shift();
    const connection = new Connection(signal);
    try {
      if (scripted === undefined || scripted.then === "continue") this.#begin(connection, options);
      for (const batch of scripted?.batches ?? []) connection.push(batch);
      if (scripted?.then === "close") connection.end();
      else if (scripted?.then instanceof Error) connection.end(scripted.then);
      using _closing = this.#options.clock?.timer((options.timeoutSeconds ?? Infinity) * 1000, () => connection.end());
      yield* connection.batches();
    } finally {
      this.#open.delete(connection);
    }
  }

  readonly #snapshots = new Map<string, readonly Thing[]>();

  #nextPage(options: ListOptions): ListPage<Thing> {
    const [version = "", from = ""] = (options.continue ?? "").split(":");
    const items = this.#snapshots.get(version);
    if (items === undefined || Number(version) < this.#compacted) throw new FakeApiError(410, "Expired");
    return this.#page(items, { version: Number(version), from: Number(from), limit: options.limit });
  }

  #page(items: readonly Thing[], at: { version: number; from: number; limit: number | undefined }): ListPage<Thing> {
    const to = at.limit === undefined ? items.length : at.from + at.limit;
    const hasMore = to < items.length;
    if (hasMore) this.#snapshots.set(String(at.version), items);
    return {
      items: items.slice(at.from, to),
      resourceVersion: resourceVersion(String(at.version)),
      ...(hasMore ? { continue: `${at.version}:${to}` } : {}),
    };
  }

  #begin(connection: Connection, options: WatchOptions): void {
    const requested = options.resourceVersion ?? "";
    const initial = [...this.#objects.values()].map((object) => ({ type: "ADDED", object }) as const);
    if (options.sendInitialEvents === true) {
      if (this.#options.hasWatchList === false) throw new FakeApiError(422, "Invalid");
      if (requested !== "" && Number(requested) > this.#version) throw tooLarge();
      connection.push(initial);
      connection.push([bookmarkAt(this.#version, { [initialEventsEnd]: "true" })]);
    } else if (requested === "" || requested === "0") {
      connection.push(initial);
    } else {
      if (Number(requested) < this.#compacted) throw new FakeApiError(410, "Expired");
      connection.push(
        this.#history.filter((change) => (compareResourceVersions(String(change.version), requested) ?? 0) > 0),
      );
    }
    this.#open.add(connection);
  }

  #record(change: Change): void {
    this.#history.push(change);
    this.send([change]);
  }

  async #failIfScripted(kind: "list" | "watch", signal: AbortSignal): Promise<void> {
    await Promise.resolve();
    signal.throwIfAborted();
    const failure = this.#failures[kind].shift();
    if (failure === "hang") await new Promise((_, reject) => onAbort(signal, () => reject(signal.reason)));
    else if (failure !== undefined) throw failure;
  }
}

/** A BOOKMARK event. */
export function bookmarkAt(version: number, annotations?: Readonly<Record<string, string>>): WatchEvent<Thing> {
  const metadata = { resourceVersion: resourceVersion(String(version)), ...(annotations ? { annotations } : {}) };
  return { type: "BOOKMARK", object: { metadata } };
}

/** The error for a version that the server does not have yet, in the current wire format. */
export function tooLarge(): FakeApiError {
  const details = { causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }] };
  return new FakeApiError(504, "Timeout", { status: { code: 504, reason: "Timeout", details } });
}

/** One open watch. */
class Connection {
  readonly #signal: AbortSignal;
  readonly #queue: (readonly WatchEvent<Thing>[])[] = [];
  #ended: { readonly error: Error | undefined } | undefined;
  #wake: () => void = () => {};

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    onAbort(signal, () => this.#wake());
  }

  push(batch: readonly WatchEvent<Thing>[]): void {
    if (batch.length === 0) return;
    this.#queue.push(batch);
    this.#wake();
  }

  end(error?: Error): void {
    this.#ended ??= { error };
    this.#wake();
  }

  async *batches(): AsyncGenerator<readonly WatchEvent<Thing>[]> {
    while (true) {
      this.#signal.throwIfAborted();
      const batch = this.#queue.shift();
      if (batch !== undefined) yield batch;
      else if (this.#ended?.error !== undefined) throw this.#ended.error;
      else if (this.#ended !== undefined) return;
      else await new Promise<void>((resolve) => this.#wake = resolve);
    }
  }
}
