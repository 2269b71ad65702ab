/**
 * FakeCluster: the minimum of an API server that a Manager needs, as a Transport: watches with initial events, and storage
 * for writes. It has no schemas and no admission, and an apply is a merge that can create. Tests that depend on more use
 * the embedded API server or a real one.
 */
import type { KubeObject, ObjectMeta } from "../../src/api/mod.ts";
import { onAbort } from "../../src/async/mod.ts";
import type { Transport } from "../../src/client/mod.ts";

interface Stored extends KubeObject {
  readonly metadata: ObjectMeta;
}

/** A write that the server received. */
export interface Write {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
}

type Line = { readonly type: string; readonly object: unknown };

interface Watcher {
  readonly path: string;
  readonly signal: AbortSignal;
  readonly send: (line: Line) => void;
  readonly end: () => void;
}

/** Responds to a request instead of the server; undefined lets the server handle the request. */
export type Interceptor = (request: Request, path: string) => Promise<Response | undefined> | Response | undefined;

const applyPatch = "application/apply-patch+yaml";
const encoder = new TextEncoder();

export class FakeCluster {
  readonly writes: Write[] = [];
  /** Called before each request. */
  intercept: Interceptor = () => undefined;
  readonly #objects = new Map<string, Stored>();
  readonly #watchers = new Set<Watcher>();
  #version = 1;

  readonly transport: Transport = async (request) => {
    request.signal.throwIfAborted();
    const url = new URL(request.url);
    const path = url.pathname;
    const response = await this.intercept(request, path);
    if (response !== undefined) return response;
    if (request.method !== "GET") return await this.#write(request, path);
    if (url.searchParams.get("watch") === "true") return this.#watch(path, request.signal);
    const found = this.#objects.get(path);
    return found === undefined ? statusResponse(404, "NotFound") : Response.json(found);
  };

  /** The number of open watches. */
  get openWatches(): number {
    return this.#watchers.size;
  }

  /** The object at a path such as `/api/v1/namespaces/shop/configmaps/a`. */
  get(path: string): Stored | undefined {
    return this.#objects.get(path);
  }

  /** Stores an object, as another client would. @param path The path of the object. */
  put(path: string, object: KubeObject): void {
    const before = this.#objects.get(path);
    const uid = before?.metadata.uid ?? object.metadata.uid ?? `uid-${this.#version}`;
    const metadata = { ...object.metadata, uid, resourceVersion: this.#next() };
    const stored: Stored = { ...object, metadata };
    this.#objects.set(path, stored);
    this.#send(path, { type: before === undefined ? "ADDED" : "MODIFIED", object: stored });
  }

  /** Deletes an object, as another client would. */
  remove(path: string): void {
    const deleted = this.#objects.get(path);
    if (deleted === undefined) return;
    this.#objects.delete(path);
    const metadata = { ...deleted.metadata, resourceVersion: this.#next() };
    this.#send(path, { type: "DELETED", object: { ...deleted, metadata } });
  }

  /** Closes all watches, as a server that ends. */
  endWatches(): void {
    for (const { end } of [...this.#watchers]) end();
  }

  /** Forgets all watches without a word to their clients, as a network that swallows everything. */
  abandonWatches(): void {
    this.#watchers.clear();
  }

  async #write(request: Request, path: string): Promise<Response> {
    const text = await request.text();
    const body: unknown = text === "" ? {} : JSON.parse(text);
    this.writes.push({ method: request.method, path, body });
    const target = request.method === "POST"
      ? `${path}/${(body as KubeObject).metadata.name}`
      : path.replace(/\/status$/, "");
    if (request.method === "DELETE") {
      this.remove(target);
      return Response.json({ kind: "Status", status: "Success" });
    }
    if (request.method === "POST" && this.#objects.has(target)) return statusResponse(409, "AlreadyExists");
    const before = this.#objects.get(target);
    const patch = Array.isArray(body) ? before : body as KubeObject;
    const isCreate = request.method === "POST" || request.headers.get("content-type") === applyPatch;
    if (patch === undefined || (before === undefined && !isCreate)) return statusResponse(404, "NotFound");
    const expected = patch === before ? undefined : patch.metadata?.resourceVersion;
    if (before !== undefined && expected !== undefined && expected !== before.metadata.resourceVersion) {
      return statusResponse(409, "Conflict");
    }
    // A merge patch removes what is null.
    const merged = JSON.stringify({ ...before, ...patch, metadata: { ...before?.metadata, ...patch.metadata } });
    this.put(target, JSON.parse(merged, (_key, value) => value === null ? undefined : value));
    return Response.json(this.#objects.get(target), { status: before === undefined ? 201 : 200 });
  }

  #watch(collection: string, signal: AbortSignal): Response {
    const stream = new ReadableStream<Uint8Array>({
      start: (controller) => {
        const send = (line: Line) => controller.enqueue(encoder.encode(`${JSON.stringify(line)}\n`));
        const end = () => {
          if (this.#watchers.delete(watcher)) controller.close();
        };
        const watcher: Watcher = { path: collection, signal, send, end };
        this.#watchers.add(watcher);
        onAbort(signal, end);
        for (const [path, object] of this.#objects) if (isIn(collection, path)) send({ type: "ADDED", object });
        const annotations = { "k8s.io/initial-events-end": "true" };
        send({ type: "BOOKMARK", object: { metadata: { resourceVersion: String(this.#version), annotations } } });
      },
      cancel: () => {
        for (const watcher of this.#watchers) if (watcher.signal === signal) this.#watchers.delete(watcher);
      },
    });
    return new Response(stream, { headers: { "content-type": "application/json" } });
  }

  #send(path: string, line: Line): void {
    for (const watcher of this.#watchers) if (isIn(watcher.path, path)) watcher.send(line);
  }

  #next(): NonNullable<ObjectMeta["resourceVersion"]> {
    return String(++this.#version) as NonNullable<ObjectMeta["resourceVersion"]>;
  }
}

/** True when `path` is an object of the collection, which may cover one namespace or all of them. */
function isIn(collection: string, path: string): boolean {
  const plural = collection.slice(collection.lastIndexOf("/") + 1);
  const prefix = collection.slice(0, collection.lastIndexOf("/"));
  const parts = path.split("/");
  return parts.at(-2) === plural && path.startsWith(prefix);
}

/** A response with an error Status. */
export function statusResponse(code: number, reason: string): Response {
  return Response.json({ kind: "Status", status: "Failure", code, reason, message: reason }, { status: code });
}
