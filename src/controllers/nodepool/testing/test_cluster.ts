/**
 * TestCluster: a small API server in memory for the tests of this folder: objects by path, versions, merge and JSON patches,
 * conflicts, and managedFields of labels. The controller uses it through a real Client and Toolbox.
 *
 * The cache is a copy of the server's objects that `sync()` makes, so that a test can use a stale cache.
 */
import fastJsonPatch, { type Operation } from "fast-json-patch";
import type { Infer, KubeObject, Resource, StringMap } from "../../../api/mod.ts";
import { apiVersionOf, isSelected, objectKey, resourceVersion } from "../../../api/mod.ts";
import { VirtualClock } from "../../../async/mod.ts";
import { Client } from "../../../client/mod.ts";
import { type EventNote, type Result, Toolbox } from "../../../controller/mod.ts";
import { declaredTransport } from "../../../manager/mod.ts";
import { logger } from "../../../observe/mod.ts";
import { statusResponse } from "../../../../tests/fakes/toolbox.ts";
import { assert } from "../../../../tests/testing.ts";
import { Node, RuntimeClass } from "../../../mod.ts";
import { nodepoolController } from "../controller.ts";
import { NodePool } from "../resource.ts";

/** A request that the server received. */
export interface Handled {
  readonly method: string;
  readonly path: string;
}

type Json = { [key: string]: unknown };
interface StoredObject extends KubeObject {
  readonly spec?: Json;
  readonly status?: Json;
}

const kinds: readonly Resource[] = [NodePool, RuntimeClass, Node];

/** The server, its cache, and the reconciles of the controller. */
export class TestCluster {
  readonly handled: Handled[] = [];
  readonly events: EventNote[] = [];
  readonly clock = new VirtualClock();
  /** Replaces the response of the server, unless it returns undefined. */
  fault: ((request: Handled) => Response | undefined) | undefined;
  readonly #objects = new Map<string, StoredObject>();
  #cached: readonly StoredObject[] = [];
  #version = 100;

  /** The requests that write. */
  get writes(): readonly string[] {
    return this.handled.filter(({ method }) => method !== "GET").map(({ method, path }) => `${method} ${path}`);
  }

  /** Stores an object, as another client would. */
  put(object: { readonly apiVersion?: string; readonly kind: string; readonly metadata: Json } & Json): void {
    const resource = kinds.find(({ kind }) => kind === object.kind);
    assert(resource !== undefined, `unknown kind ${object.kind}`);
    const uid = `uid-${++this.#version}`;
    const whole = {
      apiVersion: apiVersionOf(resource),
      ...object,
      metadata: { uid, generation: 1, ...object.metadata },
    };
    this.#store(pathOf(resource, String(object.metadata.name)), JSON.parse(JSON.stringify(whole)));
  }

  /** Stores a Node with these labels and other fields. */
  node(name: string, labels: StringMap, rest: Json = {}): void {
    this.put({ kind: "Node", metadata: { name, labels }, spec: {}, ...rest });
  }

  /** Stores a pool. */
  pool(name: string, spec: Json): void {
    this.put({ kind: "NodePool", metadata: { name }, spec: { labels: {}, taints: [], handler: "runc", ...spec } });
  }

  /** Changes an object by a merge patch, as another field manager. */
  edit(resource: Resource, name: string, patch: Json, manager = "other"): void {
    const path = pathOf(resource, name);
    const live = this.#objects.get(path);
    assert(live !== undefined, `there is no ${path}`);
    const generation = (live.metadata.generation ?? 1) + ("spec" in patch || isDeletion(patch) ? 1 : 0);
    const next = merged(live, patch);
    this.#store(path, owned({ ...next, metadata: { ...next.metadata, generation } }, patch, manager));
  }

  /** Returns the object, or undefined. */
  find<R extends Resource>(resource: R, name: string): Infer<R> | undefined {
    return this.#objects.get(pathOf(resource, name)) as Infer<R> | undefined;
  }

  /** Returns the object. */
  get<R extends Resource>(resource: R, name: string): Infer<R> {
    const found = this.find(resource, name);
    assert(found !== undefined, `there is no ${resource.kind} ${name}`);
    return found;
  }

  remove(resource: Resource, name: string): void {
    this.#objects.delete(pathOf(resource, name));
  }

  /** Updates the cache. Like the real one it has no managedFields. */
  sync(): void {
    this.#cached = [...this.#objects.values()].map(({ metadata: { managedFields: _, ...metadata }, ...rest }) => ({
      ...rest,
      metadata,
    }));
  }

  /** Reconciles a pool once, with an updated cache. */
  async reconcile(pool: string): Promise<Result> {
    this.sync();
    return await this.attempt(pool);
  }

  /** Reconciles a pool until that writes nothing. @returns The number of reconciles */
  async settle(pool: string): Promise<number> {
    for (let count = 1; count <= 10; count++) {
      const before = this.writes.length;
      await this.reconcile(pool);
      if (this.writes.length === before) return count;
    }
    throw new Error(`Cannot settle "${pool}": ${this.writes.join(", ")}`);
  }

  /** Reconciles a pool once, with the present cache. */
  async attempt(pool: string): Promise<Result> {
    const key = objectKey({ name: pool });
    const ofKind = (resource: Resource) => this.#cached.filter(({ kind }) => kind === resource.kind);
    const toolbox = new Toolbox({
      request: { key, name: pool },
      client: new Client(declaredTransport((request) => this.#respond(request), nodepoolController)),
      caches: {
        find: <R extends Resource>(resource: R, name: string) =>
          ofKind(resource).find(({ metadata }) => metadata.name === name) as Infer<R> | undefined,
        list: <R extends Resource>(resource: R, { labelSelector = {} }) =>
          ofKind(resource).filter((object) => isSelected(labelSelector, object)) as unknown as readonly Infer<R>[],
      },
      events: { record: (note) => void this.events.push(note) },
      signal: new AbortController().signal,
      log: logger("test"),
      clock: this.clock,
      fieldManager: "nodepool",
      causes: [],
      retries: 0,
      onRepair: () => {},
    });
    return await nodepoolController.reconciler(toolbox.request, toolbox);
  }

  async #respond(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    const handled = { method: request.method, path: pathname };
    this.handled.push(handled);
    const text = await request.text();
    const fault = this.fault?.(handled);
    if (fault !== undefined) return fault;
    const body = text === "" ? undefined : JSON.parse(text);
    const list = kinds.find((resource) => pathOf(resource, "") === `${pathname}/`);
    if (list !== undefined) return request.method === "POST" ? this.#create(list, body) : this.#list(list);
    const path = pathname.replace(/\/status$/, "");
    const live = this.#objects.get(path);
    if (live === undefined) return isApply(request) ? this.#put(path, body) : statusResponse(404, "NotFound");
    if (request.method === "DELETE") return this.#delete(path);
    return request.method === "GET" ? Response.json(live) : this.#patch(path, live, body);
  }

  #list(resource: Resource): Response {
    const items = [...this.#objects.values()].filter(({ kind }) => kind === resource.kind);
    const metadata = { resourceVersion: String(this.#version) };
    return Response.json({ apiVersion: apiVersionOf(resource), kind: `${resource.kind}List`, metadata, items });
  }

  #create(resource: Resource, body: StoredObject): Response {
    const path = pathOf(resource, body.metadata.name ?? "");
    if (this.#objects.has(path)) return statusResponse(409, "AlreadyExists");
    return this.#put(path, body);
  }

  #put(path: string, body: StoredObject): Response {
    const uid = `uid-${++this.#version}`;
    return Response.json(this.#store(path, { ...body, metadata: { ...body.metadata, uid } }), { status: 201 });
  }

  #delete(path: string): Response {
    this.#objects.delete(path);
    return Response.json({ kind: "Status", status: "Success" });
  }

  #patch(path: string, live: StoredObject, body: unknown): Response {
    if (Array.isArray(body)) return this.#patchJson(path, live, body);
    const patch = body as Json & { metadata?: { resourceVersion?: string } };
    const expected = patch.metadata?.resourceVersion;
    if (expected !== undefined && expected !== live.metadata.resourceVersion) return statusResponse(409, "Conflict");
    return Response.json(this.#store(path, owned(merged(live, patch), patch, "nodepool")));
  }

  /** As kube-apiserver does it: what is missing is equal to null. */
  #patchJson(path: string, live: StoredObject, operations: readonly Operation[]): Response {
    const isMissing = (one: Operation) => fastJsonPatch.getValueByPointer(live, one.path) === undefined;
    const checked = operations.filter((one) => !(one.op === "test" && one.value === null && isMissing(one)));
    try {
      const { newDocument } = fastJsonPatch.applyPatch(structuredClone(live), checked);
      return Response.json(this.#store(path, newDocument));
    } catch (error) {
      if (error instanceof fastJsonPatch.JsonPatchError) return statusResponse(422, "Invalid");
      throw error;
    }
  }

  /** A write without a change keeps the version. A deleted object without finalizers is removed. */
  #store(path: string, object: StoredObject): StoredObject {
    const before = this.#objects.get(path);
    if (before !== undefined && JSON.stringify(before) === JSON.stringify(object)) return before;
    const version = resourceVersion(String(++this.#version));
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion: version } };
    const isRemoved = stored.metadata.deletionTimestamp !== undefined &&
      (stored.metadata.finalizers ?? []).length === 0;
    if (isRemoved) this.#objects.delete(path);
    else this.#objects.set(path, stored);
    return stored;
  }
}

function pathOf(resource: Resource, name: string): string {
  const prefix = resource.group === "" ? "/api/v1" : `/apis/${apiVersionOf(resource)}`;
  return `${prefix}/${resource.plural}/${name}`;
}

/** The only PATCH that creates objects. */
function isApply(request: Request): boolean {
  return request.headers.get("content-type") === "application/apply-patch+yaml";
}

function isDeletion(patch: Json): boolean {
  return typeof patch.metadata === "object" && patch.metadata !== null && "deletionTimestamp" in patch.metadata;
}

/** RFC 7386. */
function merged<T>(live: T, patch: unknown): T {
  if (!isObject(patch)) return patch as T;
  const next: Json = isObject(live) ? { ...live } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete next[key];
    else next[key] = merged(next[key], value);
  }
  return next as T;
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Makes the writer of a patch the manager of its labels. Caveats: other managers keep all labels. */
function owned(object: StoredObject, patch: Json, manager: string): StoredObject {
  const labels = isObject(patch.metadata) && isObject(patch.metadata.labels) ? Object.keys(patch.metadata.labels) : [];
  if (labels.length === 0) return object;
  const fieldsV1 = { "f:metadata": { "f:labels": Object.fromEntries(labels.map((label) => [`f:${label}`, {}])) } };
  const entry = { manager, operation: "Update" as const, fieldsV1 };
  return {
    ...object,
    metadata: { ...object.metadata, managedFields: [...(object.metadata.managedFields ?? []), entry] },
  };
}
