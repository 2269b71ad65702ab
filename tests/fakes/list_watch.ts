/**
 * FakeApi: an API server at the ListWatch seam, for one kind: objects, versions, a history to watch from, pages,
 * bookmarks, WatchList, compaction. It answers by the rules of a real one, and misbehaves only where a test says so:
 * `refuse`, `stream`, and the methods that act on open watches.
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
import type { Clock } from "../../src/async/mod.ts";

/** The objects of a FakeApi: enough of one to be changed. */
export interface Thing extends KubeObject {
  readonly spec?: { readonly value: number };
}

/** What the client's ApiError looks like. */
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

/** One request that was made. */
export type FakeRequest =
  | { readonly kind: "list"; readonly options: ListOptions }
  | { readonly kind: "watch"; readonly options: WatchOptions };

/** A watch that does as it is told: sends batches, then ends so. */
export interface ScriptedStream {
  readonly batches: readonly (readonly WatchEvent<Thing>[])[];
  readonly then: "close" | "hang" | "go on" | Error;
}

/** Options of a {@link FakeApi}. */
export interface FakeApiOptions {
  /** Closes watches after timeoutSeconds on this clock. @default never */
  readonly clock?: Clock;
  /** False: WatchList is refused with 422. @default true */
  readonly watchList?: boolean;
  /** False: no watch cache, so limits are honoured at every version. @default true */
  readonly watchCache?: boolean;
  /** Version of the state before the first change. @default 100 */
  readonly firstVersion?: number;
}

interface Change {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly object: Thing;
  readonly version: number;
}

/** One API server, one kind. */
export class FakeApi implements ListWatch<Thing> {
  readonly requests: FakeRequest[] = [];
  readonly #options: FakeApiOptions;
  readonly #objects = new Map<ObjectKey, Thing>();
  readonly #refusals = { list: new Array<Error | "hang">(), watch: new Array<Error | "hang">() };
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

  /** The version of the present state. */
  get version(): ResourceVersion {
    return resourceVersion(String(this.#version));
  }

  /** Watches that are open now. */
  get openWatches(): number {
    return this.#open.size;
  }

  /** Requests of one kind. */
  lists(): readonly ListOptions[] {
    return this.requests.flatMap((request) => request.kind === "list" ? [request.options] : []);
  }

  watches(): readonly WatchOptions[] {
    return this.requests.flatMap((request) => request.kind === "watch" ? [request.options] : []);
  }

  /** The present objects by key. */
  objects(): ReadonlyMap<ObjectKey, Thing> {
    return this.#objects;
  }

  /** Creates an object, or changes it when there is one. */
  put(name: string, options: { readonly namespace?: string; readonly value?: number } = {}): Thing {
    const { namespace = "default", value = 0 } = options;
    const key = objectKey({ namespace, name });
    const present = this.#objects.get(key);
    this.#version++;
    const object: Thing = {
      apiVersion: "example.dev/v1",
      kind: "Thing",
      metadata: {
        name,
        namespace,
        uid: present?.metadata.uid ?? `uid-${++this.#uids}`,
        resourceVersion: this.version,
      },
      spec: { value },
    };
    this.#objects.set(key, object);
    this.#record({ type: present === undefined ? "ADDED" : "MODIFIED", object, version: this.#version });
    return object;
  }

  /** Deletes an object; does nothing when there is none. */
  delete(name: string, namespace = "default"): void {
    const key = objectKey({ namespace, name });
    const present = this.#objects.get(key);
    if (present === undefined) return;
    this.#version++;
    this.#objects.delete(key);
    const object = { ...present, metadata: { ...present.metadata, resourceVersion: this.version } };
    this.#record({ type: "DELETED", object, version: this.#version });
  }

  /** Lets time pass elsewhere in the cluster: the version moves, nothing of this kind changes. */
  elsewhere(): void {
    this.#version++;
  }

  /** Forgets the history up to now: watches from before get 410. */
  compact(): void {
    this.#compacted = this.#version;
    this.#history = [];
  }

  /** Takes the server back to `version` with exactly these objects, as a restore from a backup does. */
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

  /** Sends events of the test's own to every open watch. */
  send(batch: readonly WatchEvent<Thing>[]): void {
    for (const connection of this.#open) connection.push(batch);
  }

  /** Ends every open watch: cleanly, or with an error. */
  endWatches(error?: Error): void {
    for (const connection of [...this.#open]) connection.end(error);
  }

  /** The next requests of a kind fail so, one after the other; "hang" answers nothing until aborted. */
  refuse(kind: "list" | "watch", ...errors: readonly (Error | "hang")[]): void {
    this.#refusals[kind].push(...errors);
  }

  /** The next watches do as they are told. */
  stream(...streams: readonly ScriptedStream[]): void {
    this.#streams.push(...streams);
  }

  async list(options: ListOptions, signal: AbortSignal): Promise<ListPage<Thing>> {
    this.requests.push({ kind: "list", options });
    await this.#maybeRefused("list", signal);
    const asked = options.resourceVersion ?? "";
    if (options.continue !== undefined) return this.#nextPage(options);
    if (asked !== "" && Number(asked) > this.#version) throw tooLarge();
    const items = [...this.#objects.values()];
    const fromCache = (this.#options.watchCache ?? true) && asked === "0";
    return this.#page(items, { version: this.#version, from: 0, limit: fromCache ? undefined : options.limit });
  }

  async *watch(options: WatchOptions, signal: AbortSignal): AsyncGenerator<readonly WatchEvent<Thing>[]> {
    this.requests.push({ kind: "watch", options });
    await this.#maybeRefused("watch", signal);
    const scripted = this.#streams.shift();
    const connection = new Connection(signal);
    try {
      if (scripted === undefined || scripted.then === "go on") this.#begin(connection, options);
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
    const more = to < items.length;
    if (more) this.#snapshots.set(String(at.version), items);
    return {
      items: items.slice(at.from, to),
      resourceVersion: resourceVersion(String(at.version)),
      ...(more ? { continue: `${at.version}:${to}` } : {}),
    };
  }

  #begin(connection: Connection, options: WatchOptions): void {
    const asked = options.resourceVersion ?? "";
    const initial = [...this.#objects.values()].map((object) => ({ type: "ADDED", object }) as const);
    if (options.sendInitialEvents === true) {
      if (this.#options.watchList === false) throw new FakeApiError(422, "Invalid");
      if (asked !== "" && Number(asked) > this.#version) throw tooLarge();
      connection.push(initial);
      connection.push([bookmarkAt(this.#version, { [initialEventsEnd]: "true" })]);
    } else if (asked === "" || asked === "0") {
      connection.push(initial);
    } else {
      if (Number(asked) < this.#compacted) throw new FakeApiError(410, "Expired");
      connection.push(
        this.#history.filter((change) => (compareResourceVersions(String(change.version), asked) ?? 0) > 0),
      );
    }
    this.#open.add(connection);
  }

  #record(change: Change): void {
    this.#history.push(change);
    this.send([change]);
  }

  async #maybeRefused(kind: "list" | "watch", signal: AbortSignal): Promise<void> {
    await Promise.resolve();
    signal.throwIfAborted();
    const refusal = this.#refusals[kind].shift();
    if (refusal === "hang") await new Promise((_, reject) => onAbort(signal, () => reject(signal.reason)));
    else if (refusal !== undefined) throw refusal;
  }
}

/** A BOOKMARK event. */
export function bookmarkAt(version: number, annotations?: Readonly<Record<string, string>>): WatchEvent<Thing> {
  const metadata = { resourceVersion: resourceVersion(String(version)), ...(annotations ? { annotations } : {}) };
  return { type: "BOOKMARK", object: { metadata } };
}

/** The error of a version that the server does not have yet, in its present wire format. */
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

function onAbort(signal: AbortSignal, fn: () => void): void {
  if (signal.aborted) fn();
  else signal.addEventListener("abort", fn, { once: true });
}
