/**
 * FakeCluster: the least of an API server that a Manager needs, as a Transport: lists, watches with initial events, and
 * plain storage for writes. Knows no schema and no admission, and of apply only that it creates; what those do is tested
 * on real servers.
 */
import type { KubeObject, ObjectMeta } from "../../src/api/mod.ts";
import type { Transport } from "../../src/client/mod.ts";

interface Stored extends KubeObject {
  readonly metadata: ObjectMeta;
}

/** A write as the server saw it. */
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
}

/** What a test may put in the way of a request; undefined lets it through. */
export type Interceptor = (request: Request, path: string) => Promise<Response | undefined> | Response | undefined;

const applyPatch = "application/apply-patch+yaml";
const encoder = new TextEncoder();

export class FakeCluster {
  readonly writes: Write[] = [];
  /** Asked before each request. */
  intercept: Interceptor = () => undefined;
  readonly #objects = new Map<string, Stored>();
  readonly #watchers = new Set<Watcher>();
  #version = 1;

  readonly transport: Transport = async (request) => {
    request.signal.throwIfAborted();
    const url = new URL(request.url);
    const path = url.pathname;
    const answer = await this.intercept(request, path);
    if (answer !== undefined) return answer;
    if (request.method !== "GET") return await this.#write(request, path);
    if (url.searchParams.get("watch") === "true") return this.#watch(path, request.signal);
    const found = this.#objects.get(path);
    return found === undefined ? refused(404, "NotFound") : Response.json(found);
  };

  /** Watches that are open at the moment. */
  get openWatches(): number {
    return this.#watchers.size;
  }

  /** The object at a path such as `/api/v1/namespaces/shop/configmaps/a`. */
  get(path: string): Stored | undefined {
    return this.#objects.get(path);
  }

  /** Stores an object, as somebody else would. @param path Of the object itself. */
  put(path: string, object: KubeObject): void {
    const before = this.#objects.get(path);
    const uid = before?.metadata.uid ?? object.metadata.uid ?? `uid-${this.#version}`;
    const metadata = { ...object.metadata, uid, resourceVersion: this.#next() };
    const stored: Stored = { ...object, metadata };
    this.#objects.set(path, stored);
    this.#tell(path, { type: before === undefined ? "ADDED" : "MODIFIED", object: stored });
  }

  /** Takes an object away. */
  remove(path: string): void {
    const gone = this.#objects.get(path);
    if (gone === undefined) return;
    this.#objects.delete(path);
    const metadata = { ...gone.metadata, resourceVersion: this.#next() };
    this.#tell(path, { type: "DELETED", object: { ...gone, metadata } });
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
    if (request.method === "POST" && this.#objects.has(target)) return refused(409, "AlreadyExists");
    const before = this.#objects.get(target);
    const patch = Array.isArray(body) ? before : body as KubeObject;
    const isCreate = request.method === "POST" || request.headers.get("content-type") === applyPatch;
    if (patch === undefined || (before === undefined && !isCreate)) return refused(404, "NotFound");
    const wanted = patch === before ? undefined : patch.metadata?.resourceVersion;
    if (before !== undefined && wanted !== undefined && wanted !== before.metadata.resourceVersion) {
      return refused(409, "Conflict");
    }
    this.put(target, { ...before, ...patch, metadata: { ...before?.metadata, ...patch.metadata } });
    return Response.json(this.#objects.get(target), { status: before === undefined ? 201 : 200 });
  }

  #watch(collection: string, signal: AbortSignal): Response {
    const stream = new ReadableStream<Uint8Array>({
      start: (controller) => {
        const send = (line: Line) => controller.enqueue(encoder.encode(`${JSON.stringify(line)}\n`));
        const end = () => {
          if (this.#watchers.delete(watcher)) controller.close();
        };
        const watcher: Watcher = { path: collection, signal, send };
        this.#watchers.add(watcher);
        signal.addEventListener("abort", end, { once: true });
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

  #tell(path: string, line: Line): void {
    for (const watcher of this.#watchers) if (isIn(watcher.path, path)) watcher.send(line);
  }

  #next(): NonNullable<ObjectMeta["resourceVersion"]> {
    return String(++this.#version) as NonNullable<ObjectMeta["resourceVersion"]>;
  }
}

/** True when `path` is an object of the collection, in one namespace or, for a collection of all, in any. */
function isIn(collection: string, path: string): boolean {
  const plural = collection.slice(collection.lastIndexOf("/") + 1);
  const prefix = collection.slice(0, collection.lastIndexOf("/"));
  const parts = path.split("/");
  return parts.at(-2) === plural && path.startsWith(prefix);
}

function refused(code: number, reason: string): Response {
  return Response.json({ kind: "Status", status: "Failure", code, reason, message: reason }, { status: code });
}
