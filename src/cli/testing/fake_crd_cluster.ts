/**
 * FakeCrdCluster: the part of an API server that `install-crds` and `uninstall-crds` use: definitions with generations, stored
 * versions and field managers, and objects with the version that they are stored in.
 *
 * It can simulate a killed command before or after its n-th write. Caveats: validation, conversion and the apply of nested
 * fields are tested in tests/e2e, with a real server.
 */
import { resourceVersion } from "../../api/mod.ts";
import type { Transport } from "../../client/mod.ts";
import type { StoredCrd } from "../../schema/mod.ts";
import { statusResponse } from "./fake_server.ts";

/** An object, and how it is stored. */
export interface FakeObject {
  readonly namespace: string;
  readonly name: string;
  readonly spec?: object;
  readonly finalizers?: readonly string[];
  /** The version that it is stored in. */
  readonly storedIn: string;
}

interface StoredObject extends FakeObject {
  readonly resourceVersion: number;
}

/** Thrown instead of a response when the command is killed. */
export class Killed extends Error {}

const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/";

/** A cluster with a few kinds, one of which has objects. */
export class FakeCrdCluster {
  /** `METHOD /path?query` of all requests. */
  readonly requests: string[] = [];
  /** Returns a response that replaces that of the cluster, or undefined. */
  intercept: (request: Request, line: string) => Response | undefined = () => undefined;
  /** The write at which the command is killed, counted from 1. */
  killAt: { readonly write: number; readonly when: "before" | "after" } | undefined;
  /** The maximum size of a page, whatever the request says. */
  pageSize = Infinity;
  readonly #crds = new Map<string, StoredCrd>();
  #objects: readonly StoredObject[] = [];
  #version = 10;
  #writes = 0;

  /** Stores a definition, as another program would have. */
  install(crd: Omit<StoredCrd, "status">, status: StoredCrd["status"] = {}, owner = "kubectl-client-side-apply"): void {
    const storage = crd.spec.versions.filter((version) => version.storage).map(({ name }) => name);
    const conditions = [{ type: "Established", status: "True", reason: "Ok", message: "" }] as const;
    this.#put({ ...crd, status: { storedVersions: storage, conditions, ...status } }, owner);
  }

  /** Stores the objects of the kind that has objects. */
  store(objects: readonly FakeObject[]): void {
    this.#objects = objects.map((object) => ({ ...object, resourceVersion: ++this.#version }));
  }

  /** Removes a definition, as the server does after its deletion. */
  remove(name: string): void {
    this.#crds.delete(name);
  }

  /** The stored definition. */
  crd(name: string): StoredCrd | undefined {
    return this.#crds.get(name);
  }

  /** The stored objects. */
  get objects(): readonly FakeObject[] {
    return this.#objects;
  }

  /** The requests that write. */
  get writes(): readonly string[] {
    return this.requests.filter((line) => !line.startsWith("GET"));
  }

  readonly transport: Transport = async (request) => {
    const { pathname, search } = new URL(request.url);
    const line = `${request.method} ${pathname}${search}`;
    this.requests.push(line);
    const body = request.method === "GET" ? undefined : await request.text();
    const isWrite = body !== undefined && !search.includes("dryRun=All");
    if (isWrite && ++this.#writes === this.killAt?.write && this.killAt.when === "before") throw new Killed(line);
    const response = this.intercept(request, line) ?? this.#respond(request, body);
    if (isWrite && this.#writes === this.killAt?.write) throw new Killed(line);
    return response;
  };

  #respond(request: Request, body: string | undefined): Response {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === "/version") return Response.json({ gitVersion: "v1.36.3" });
    if (pathname.startsWith(crds)) return this.#respondToCrd(request, pathname.slice(crds.length), body);
    if (/^\/apis\/[^/]+\/[^/]+$/.test(pathname)) return this.#discovery(pathname);
    if (request.method === "GET") return this.#page(searchParams);
    return request.method === "PATCH"
      ? this.#rewrite(pathname, body ?? "{}")
      : statusResponse(405, "MethodNotAllowed", "no");
  }

  #respondToCrd(request: Request, path: string, body: string | undefined): Response {
    const { searchParams } = new URL(request.url);
    const [name = "", subresource] = path.split("/");
    const live = this.#crds.get(name);
    if (request.method === "DELETE") return this.#delete(live);
    if (request.method === "PATCH" && body !== undefined) {
      const value = JSON.parse(body);
      if (request.headers.get("content-type") === "application/apply-patch+yaml") {
        return this.#apply(live, value, searchParams);
      }
      return this.#merge(live, value, subresource);
    }
    return live === undefined ? statusResponse(404, "NotFound", "there is no such definition") : Response.json(live);
  }

  #apply(live: StoredCrd | undefined, crd: StoredCrd, query: URLSearchParams): Response {
    const owner = live?.metadata.managedFields?.[0]?.manager;
    const manager = query.get("fieldManager") ?? "";
    const changes = JSON.stringify(live?.spec) !== JSON.stringify(crd.spec);
    if (live !== undefined && owner !== manager && changes && query.get("force") !== "true") {
      const causes = [{
        reason: "FieldManagerConflict",
        message: `conflict with "${owner}" using apiextensions.k8s.io/v1`,
        field: ".spec.versions",
      }];
      const status = { kind: "Status", status: "Failure", code: 409, reason: "Conflict", message: "Apply failed" };
      return Response.json({ ...status, details: { causes } }, { status: 409 });
    }
    const storedVersions = storedAfter(live, crd);
    const gone = storedVersions.find((version) => !crd.spec.versions.some(({ name }) => name === version));
    if (gone !== undefined) {
      return statusResponse(422, "Invalid", `status.storedVersions[0]: missing from spec.versions; ${gone}`);
    }
    const annotations = { ...live?.metadata.annotations, ...crd.metadata.annotations };
    const metadata = { ...crd.metadata, ...(Object.keys(annotations).length === 0 ? {} : { annotations }) };
    const conditions = [{ type: "Established", status: "True", reason: "Ok", message: "" }] as const;
    const next: StoredCrd = { ...crd, metadata, status: { storedVersions, conditions } };
    return Response.json(query.has("dryRun") ? next : this.#put(next, manager, live), {
      status: live === undefined ? 201 : 200,
    });
  }

  #merge(live: StoredCrd | undefined, value: MergeValue, subresource: string | undefined): Response {
    if (live === undefined) return statusResponse(404, "NotFound", "there is no such definition");
    const { metadata } = value;
    if (metadata?.resourceVersion !== undefined && metadata.resourceVersion !== live.metadata.resourceVersion) {
      return statusResponse(409, "Conflict", "the object has been modified");
    }
    const merged = Object.entries({ ...live.metadata.annotations, ...metadata?.annotations });
    const annotations = Object.fromEntries(merged.filter((entry): entry is [string, string] => entry[1] !== null));
    const status = subresource === "status" ? { ...live.status, ...value.status } : live.status;
    return Response.json(this.#put({ ...live, metadata: { ...live.metadata, annotations }, status }, undefined, live));
  }

  /** Deletes a definition and its objects, unless objects have finalizers. */
  #delete(live: StoredCrd | undefined): Response {
    if (live === undefined) return statusResponse(404, "NotFound", "there is no such definition");
    const name = live.metadata.name ?? "";
    this.#objects = this.#objects.filter(({ finalizers = [] }) => finalizers.length > 0);
    if (this.#objects.length === 0) this.#crds.delete(name);
    else {this.#put(
        { ...live, metadata: { ...live.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } },
        undefined,
        live,
      );}
    return Response.json({ kind: "Status", status: "Success" });
  }

  #put(crd: StoredCrd, manager: string | undefined, before?: StoredCrd): StoredCrd {
    const isNewSpec = JSON.stringify(before?.spec) !== JSON.stringify(crd.spec);
    const generation = (before?.metadata.generation ?? 0) + (isNewSpec ? 1 : 0);
    const managedFields = manager === undefined ? before?.metadata.managedFields : [{ manager }];
    const bookkeeping = { uid: before?.metadata.uid ?? "u1", generation, managedFields };
    const metadata = { ...crd.metadata, ...bookkeeping, resourceVersion: resourceVersion(String(++this.#version)) };
    const put = { ...crd, metadata };
    this.#crds.set(crd.metadata.name ?? "", put);
    return put;
  }

  #discovery(pathname: string): Response {
    const [, , group = "", version = ""] = pathname.split("/");
    const served = [...this.#crds.values()].filter(({ spec }) =>
      spec.group === group && spec.versions.some((one) => one.name === version && one.served)
    );
    if (served.length === 0) return statusResponse(404, "NotFound", "not served");
    return Response.json({ resources: served.map(({ spec }) => ({ name: spec.names.plural })) });
  }

  #page(query: URLSearchParams): Response {
    const start = Number(query.get("continue") ?? 0);
    const end = start + Math.min(this.pageSize, Number(query.get("limit") ?? Infinity));
    const items = this.#objects.slice(start, end).map((held) => objectOf(held));
    const next = end < this.#objects.length ? String(end) : "";
    const metadata = { resourceVersion: String(this.#version), continue: next };
    return Response.json({ apiVersion: "v1", kind: "List", metadata, items });
  }

  /** Writes an object in the storage version of its definition. Only another version is a change. */
  #rewrite(pathname: string, body: string): Response {
    const [name, , namespace] = pathname.split("/").reverse();
    const held = this.#objects.find((one) => one.name === name && one.namespace === namespace);
    if (held === undefined) return statusResponse(404, "NotFound", "there is no such object");
    const { metadata }: { metadata: { resourceVersion?: string } } = JSON.parse(body);
    if (metadata.resourceVersion !== String(held.resourceVersion)) {
      return statusResponse(409, "Conflict", "it was modified");
    }
    const [crd] = this.#crds.values();
    const storedIn = crd?.spec.versions.find(({ storage }) => storage)?.name ?? "";
    const next = storedIn === held.storedIn ? held : { ...held, storedIn, resourceVersion: ++this.#version };
    this.#objects = this.#objects.map((one) => one === held ? next : one);
    return Response.json({ ...objectOf(next), apiVersion: pathname.split("/").slice(2, 4).join("/") });
  }
}

interface MergeValue {
  readonly metadata?: {
    readonly resourceVersion?: string;
    readonly annotations?: Readonly<Record<string, string | null>>;
  };
  readonly status?: StoredCrd["status"];
}

function objectOf({ namespace, name, resourceVersion: version, spec = {}, finalizers }: StoredObject): object {
  const metadata = { namespace, name, uid: `uid-${name}`, resourceVersion: String(version), finalizers };
  return { apiVersion: "example.dev/v1", kind: "Website", metadata, spec };
}

/** Adds the storage versions to the stored versions, as the server does. */
function storedAfter(live: StoredCrd | undefined, crd: StoredCrd): readonly string[] {
  const storage = crd.spec.versions.filter((version) => version.storage).map(({ name }) => name);
  return [...new Set([...live?.status?.storedVersions ?? [], ...storage])];
}
