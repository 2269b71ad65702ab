/**
 * A small API server in memory for the tests of this folder: objects by path, versions, merge and JSON patches, conflicts,
 * and managedFields of labels as far as they matter here. The controller meets it through a real Client and Toolbox.
 *
 * The cache is a picture of the server that `sync()` takes, so a test can let it lag.
 */
import type { Infer, KubeObject, Resource, StringMap } from "../../api/mod.ts";
import { apiVersionOf, objectKey, resourceVersion } from "../../api/mod.ts";
import { VirtualClock } from "../../async/mod.ts";
import { Client } from "../../client/mod.ts";
import { type EventNote, type Result, Toolbox } from "../../controller/mod.ts";
import { declaredTransport } from "../../manager/mod.ts";
import { logger } from "../../observe/mod.ts";
import { isSelected } from "../../api/mod.ts";
import { statusResponse } from "../../../tests/fakes/toolbox.ts";
import { assert } from "../../../tests/testing.ts";
import { Node, RuntimeClass } from "../../mod.ts";
import { nodepoolController } from "./controller.ts";
import { NodePool } from "./resource.ts";

/** A request that the server answered. */
export interface Handled {
  readonly method: string;
  readonly path: string;
}

type Json = { [key: string]: unknown };
interface Stored extends KubeObject {
  readonly spec?: Json;
  readonly status?: Json;
}

const kinds: readonly Resource[] = [NodePool, RuntimeClass, Node];

/** The server, its cache, and the controller's attempts. */
export class Rig {
  readonly handled: Handled[] = [];
  readonly events: EventNote[] = [];
  readonly clock = new VirtualClock();
  /** Answers instead of the server, where it returns something. */
  fault: ((request: Handled) => Response | undefined) | undefined;
  readonly #objects = new Map<string, Stored>();
  #cached: readonly Stored[] = [];
  #version = 100;

  /** Requests that would change something. */
  get writes(): readonly string[] {
    return this.handled.filter(({ method }) => method !== "GET").map(({ method, path }) => `${method} ${path}`);
  }

  /** Stores an object as somebody else would. */
  put(object: { readonly apiVersion?: string; readonly kind: string; readonly metadata: Json } & Json): void {
    const resource = kinds.find(({ kind }) => kind === object.kind);
    assert(resource !== undefined, `the rig knows no ${object.kind}`);
    const uid = `uid-${++this.#version}`;
    const whole = {
      apiVersion: apiVersionOf(resource),
      ...object,
      metadata: { uid, generation: 1, ...object.metadata },
    };
    this.#store(pathOf(resource, String(object.metadata.name)), JSON.parse(JSON.stringify(whole)));
  }

  /** Stores a Node with these labels, and what else is said. */
  node(name: string, labels: StringMap, rest: Json = {}): void {
    this.put({ kind: "Node", metadata: { name, labels }, spec: {}, ...rest });
  }

  /** Stores a pool. */
  pool(name: string, spec: Json): void {
    this.put({ kind: "NodePool", metadata: { name }, spec: { labels: {}, taints: [], handler: "runc", ...spec } });
  }

  /** Changes an object by a merge patch, as another field manager. */
  edit(resource: Resource, name: string, patch: Json, manager = "somebody"): void {
    const path = pathOf(resource, name);
    const live = this.#objects.get(path);
    assert(live !== undefined, `there is no ${path}`);
    const generation = (live.metadata.generation ?? 1) + ("spec" in patch || isDeletion(patch) ? 1 : 0);
    const next = merged(live, patch);
    this.#store(path, owned({ ...next, metadata: { ...next.metadata, generation } }, patch, manager));
  }

  /** The object, or undefined. */
  find<R extends Resource>(resource: R, name: string): Infer<R> | undefined {
    return this.#objects.get(pathOf(resource, name)) as Infer<R> | undefined;
  }

  /** The object. */
  get<R extends Resource>(resource: R, name: string): Infer<R> {
    const found = this.find(resource, name);
    assert(found !== undefined, `there is no ${resource.kind} ${name}`);
    return found;
  }

  remove(resource: Resource, name: string): void {
    this.#objects.delete(pathOf(resource, name));
  }

  /** Brings the cache up to date. Like the real one it keeps no managedFields. */
  sync(): void {
    this.#cached = [...this.#objects.values()].map(({ metadata: { managedFields: _, ...metadata }, ...rest }) => ({
      ...rest,
      metadata,
    }));
  }

  /** One attempt at a pool, from an up-to-date cache. */
  async reconcile(pool: string): Promise<Result> {
    this.sync();
    return await this.attempt(pool);
  }

  /** Attempts until one writes nothing. @returns how many there were */
  async settle(pool: string): Promise<number> {
    for (let attempts = 1; attempts <= 10; attempts++) {
      const before = this.writes.length;
      await this.reconcile(pool);
      if (this.writes.length === before) return attempts;
    }
    throw new Error(`Cannot settle "${pool}": ${this.writes.join(", ")}`);
  }

  /** One attempt at a pool, from the cache as it is. */
  async attempt(pool: string): Promise<Result> {
    const key = objectKey({ name: pool });
    const ofKind = (resource: Resource) => this.#cached.filter(({ kind }) => kind === resource.kind);
    const toolbox = new Toolbox({
      request: { key, name: pool },
      client: new Client(declaredTransport((request) => this.#answer(request), nodepoolController)),
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
      onWrite: () => {},
      onRepair: () => {},
    });
    return await nodepoolController.reconciler(toolbox.request, toolbox);
  }

  async #answer(request: Request): Promise<Response> {
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

  #create(resource: Resource, body: Stored): Response {
    const path = pathOf(resource, body.metadata.name ?? "");
    if (this.#objects.has(path)) return statusResponse(409, "AlreadyExists");
    return this.#put(path, body);
  }

  #put(path: string, body: Stored): Response {
    const uid = `uid-${++this.#version}`;
    return Response.json(this.#store(path, { ...body, metadata: { ...body.metadata, uid } }), { status: 201 });
  }

  #delete(path: string): Response {
    this.#objects.delete(path);
    return Response.json({ kind: "Status", status: "Success" });
  }

  #patch(path: string, live: Stored, body: unknown): Response {
    if (Array.isArray(body)) return Response.json(this.#store(path, finalizersPatched(live, body)));
    const patch = body as Json & { metadata?: { resourceVersion?: string } };
    const wanted = patch.metadata?.resourceVersion;
    if (wanted !== undefined && wanted !== live.metadata.resourceVersion) return statusResponse(409, "Conflict");
    return Response.json(this.#store(path, owned(merged(live, patch), patch, "nodepool")));
  }

  /** A write that changes nothing makes no version; an object whose last finalizer goes, goes. */
  #store(path: string, object: Stored): Stored {
    const before = this.#objects.get(path);
    if (before !== undefined && JSON.stringify(before) === JSON.stringify(object)) return before;
    const version = resourceVersion(String(++this.#version));
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion: version } };
    const isGone = stored.metadata.deletionTimestamp !== undefined && (stored.metadata.finalizers ?? []).length === 0;
    if (isGone) this.#objects.delete(path);
    else this.#objects.set(path, stored);
    return stored;
  }
}

function pathOf(resource: Resource, name: string): string {
  const prefix = resource.group === "" ? "/api/v1" : `/apis/${apiVersionOf(resource)}`;
  return `${prefix}/${resource.plural}/${name}`;
}

/** The one kind of PATCH that creates. */
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

/** Finalizers come and go by JSON patch. */
function finalizersPatched(live: Stored, operations: readonly { op: string; path: string; value?: unknown }[]): Stored {
  const finalizers = [...(live.metadata.finalizers ?? [])];
  for (const { op, path, value } of operations) {
    if (op === "add") finalizers.push(...[value].flat().map(String));
    if (op === "remove") finalizers.splice(Number(path.split("/").at(-1)), 1);
  }
  return { ...live, metadata: { ...live.metadata, finalizers } };
}

/** Gives the labels that a patch names to its writer; other writers keep those whose value did not change. */
function owned(object: Stored, patch: Json, manager: string): Stored {
  const labels = isObject(patch.metadata) && isObject(patch.metadata.labels) ? Object.keys(patch.metadata.labels) : [];
  if (labels.length === 0) return object;
  const fieldsV1 = { "f:metadata": { "f:labels": Object.fromEntries(labels.map((label) => [`f:${label}`, {}])) } };
  const entry = { manager, operation: "Update" as const, fieldsV1 };
  return {
    ...object,
    metadata: { ...object.metadata, managedFields: [...(object.metadata.managedFields ?? []), entry] },
  };
}
