/**
 * A few objects behind the wire of the Kubernetes API, for the tests of this folder: reads, creates, replaces and JSON
 * patches, with resource versions and conflicts as the API server has them.
 */
import fastJsonPatch from "fast-json-patch";
import { Client } from "../client/mod.ts";

interface Stored {
  readonly metadata: { readonly name: string; readonly resourceVersion: string; readonly annotations?: object };
  readonly [field: string]: unknown;
}

/** What happened, in order: `POST /api/v1/…`. Reads are not in it. */
export interface FakeApi {
  readonly client: Client;
  readonly writes: string[];
  /** Called before each write; what it throws or changes comes first. */
  beforeWrite: (line: string) => void;
  put(path: string, object: object): void;
  get(path: string): Stored | undefined;
}

/** Makes one that is empty. */
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
    client: new Client(async (request) => await answer(request)),
    writes,
    beforeWrite: () => {},
    put: (path, object) => void store(path, object),
    get: (path) => objects.get(path),
  };
  async function answer(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    const held = objects.get(pathname);
    if (request.method === "GET") return held === undefined ? failure(404, "NotFound") : Response.json(held);
    const body = await request.json();
    api.beforeWrite(`${request.method} ${pathname}`);
    const present = objects.get(pathname);
    if (request.method === "POST") {
      const path = `${pathname}/${body.metadata.name}`;
      if (objects.has(path)) return failure(409, "AlreadyExists");
      writes.push(`POST ${path}`);
      return Response.json(store(path, body), { status: 201 });
    }
    if (present === undefined) return failure(404, "NotFound");
    const wanted = request.method === "PUT"
      ? body
      : fastJsonPatch.applyPatch(structuredClone(present), body, true).newDocument;
    if (wanted.metadata.resourceVersion !== present.metadata.resourceVersion) return failure(409, "Conflict");
    writes.push(`${request.method} ${pathname}`);
    return Response.json(store(pathname, wanted));
  }
  return api;
}

function failure(code: number, reason: string): Response {
  const status = { apiVersion: "v1", kind: "Status", status: "Failure", code, reason, message: reason };
  return Response.json(status, { status: code });
}
