/**
 * A fake API server for the tests of this folder: it reads, creates, replaces, JSON-patches and deletes objects, with resource
 * versions and conflicts like the real one.
 */
import fastJsonPatch from "fast-json-patch";
import { Client } from "../../client/mod.ts";

interface Stored {
  readonly metadata: { readonly name: string; readonly resourceVersion: string; readonly annotations?: object };
  readonly [field: string]: unknown;
}

/** The client of the fake API server, and its objects. */
export interface FakeApi {
  readonly client: Client;
  /** Successful writes in order: `POST /api/v1/…`. */
  readonly writes: string[];
  /** Called before each write. It may change objects or throw. */
  beforeWrite: (line: string) => void;
  put(path: string, object: object): void;
  get(path: string): Stored | undefined;
}

/** Creates a fake API server without objects. */
export function fakeApi(): FakeApi {
  const objects = new Map<string, Stored>();
  const writes: string[] = [];
  let version = 0;
  const store = (path: string, object: object): Stored => {
    const metadata = { ...Reflect.get(object, "metadata"), resourceVersion: String(++version) };
    const stored: Stored = { ...object, metadata };
    objects.set(path, stored);
    return stored;
  };
  const api: FakeApi = {
    client: new Client(async (request) => await respond(request)),
    writes,
    beforeWrite: () => {},
    put: (path, object) => void store(path, object),
    get: (path) => objects.get(path),
  };
  async function respond(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    const found = objects.get(pathname);
    if (request.method === "GET") return found === undefined ? failure(404, "NotFound") : Response.json(found);
    const body = await request.json();
    api.beforeWrite(`${request.method} ${pathname}`);
    const live = objects.get(pathname);
    if (request.method === "POST") {
      const path = `${pathname}/${body.metadata.name}`;
      if (objects.has(path)) return failure(409, "AlreadyExists");
      writes.push(`POST ${path}`);
      return Response.json(store(path, body), { status: 201 });
    }
    if (live === undefined) return failure(404, "NotFound");
    if (request.method === "DELETE") {
      const { uid, resourceVersion } = { ...live.metadata, ...body.preconditions };
      if (uid !== Reflect.get(live.metadata, "uid") || resourceVersion !== live.metadata.resourceVersion) {
        return failure(409, "Conflict");
      }
      writes.push(`DELETE ${pathname}`);
      objects.delete(pathname);
      return Response.json({ kind: "Status", apiVersion: "v1", status: "Success" });
    }
    const desired = request.method === "PUT"
      ? body
      : fastJsonPatch.applyPatch(structuredClone(live), body, true).newDocument;
    if (desired.metadata.resourceVersion !== live.metadata.resourceVersion) return failure(409, "Conflict");
    writes.push(`${request.method} ${pathname}`);
    return Response.json(store(pathname, desired));
  }
  return api;
}

function failure(code: number, reason: string): Response {
  const status = { apiVersion: "v1", kind: "Status", status: "Failure", code, reason, message: reason };
  return Response.json(status, { status: code });
}
