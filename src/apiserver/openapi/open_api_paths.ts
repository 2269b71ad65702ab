/**
 * openApiPaths(): answers `/openapi/v3`, `/openapi/v3/GROUP-VERSION` and `/openapi/v2`. A document is written when it is
 * asked for, and again when a kind of its group has changed. Its ETag and the hash in the index come from what it is made
 * of, so that the index of all documents costs none of them.
 */
import { createHash } from "node:crypto";
import { CustomKind } from "../crd/mod.ts";
import { serverVersion } from "../discovery/mod.ts";
import type { PathHandler } from "../http/mod.ts";
import type { JsonObject, Kind } from "../model/mod.ts";
import type { KindRegistry } from "../registry/mod.ts";
import { BuiltinComponents } from "./builtin_components.ts";
import { encodeSwagger } from "./gnostic.ts";
import { groupVersionDocument } from "./group_version_document.ts";
import { negotiateSwagger, swaggerTypes } from "./_negotiation.ts";
import { swaggerOf } from "./swagger.ts";

/** One group and version. */
interface Subject {
  readonly group: string;
  readonly version: string;
  readonly kinds: Kind[];
}

const root = "/openapi/v3";

/** Answers for the kinds of a registry. */
export function openApiPaths(kinds: KindRegistry): PathHandler {
  const documents = new Documents(kinds);
  return {
    handle(request, path, query) {
      if (!path.startsWith("/openapi/") || (request.method !== "GET" && request.method !== "HEAD")) return undefined;
      if (path === root || path === `${root}/`) return indexAnswer(request, documents);
      if (path.startsWith(`${root}/`)) {
        return versionAnswer(request, { documents, path: path.slice(root.length + 1), hash: query.get("hash") ?? "" });
      }
      return path === "/openapi/v2" ? swaggerAnswer(request, documents) : undefined;
    },
  };
}

function indexAnswer(request: Request, documents: Documents): Response {
  const paths = documents.paths().map((path) => [path, { serverRelativeURL: urlOf(path, documents.hash(path)) }]);
  const text = JSON.stringify({ paths: Object.fromEntries(paths) });
  // The real server does not name its type either.
  return cached(request, text, { etag: hashOf(text), type: "text/plain; charset=utf-8" });
}

function urlOf(path: string, hash: string): string {
  return `${root}/${path}?hash=${hash}`;
}

function versionAnswer(
  request: Request,
  { documents, path, hash }: { readonly documents: Documents; readonly path: string; readonly hash: string },
): Response {
  if (!documents.has(path)) return new Response(null, { status: 404 });
  const accept = request.headers.get("accept") ?? "";
  if (accept !== "" && !/application\/(json|\*)|\*\/\*/.test(accept)) return new Response(null, { status: 406 });
  const etag = documents.hash(path);
  if (hash !== "" && hash !== etag) {
    return new Response(null, { status: 301, headers: { location: urlOf(path, etag), vary: "Accept" } });
  }
  const caching: Record<string, string> = hash === "" ? {} : { "cache-control": "public, immutable" };
  if (isKnown(request, etag)) return notModified(etag, caching);
  return cached(request, documents.text(path), { etag, type: "application/json", headers: caching });
}

function swaggerAnswer(request: Request, documents: Documents): Response {
  const form = negotiateSwagger(request.headers.get("accept") ?? "");
  if (form === undefined) return new Response(null, { status: 406 });
  const etag = hashOf(documents.paths().map((path) => documents.hash(path)).join());
  if (isKnown(request, etag)) return notModified(etag);
  return cached(request, documents.swagger(form, etag), { etag, type: swaggerTypes[form] });
}

interface CacheOptions {
  readonly etag: string;
  readonly type: string;
  readonly headers?: Readonly<Record<string, string>>;
}

function cached(
  request: Request,
  body: string | Uint8Array<ArrayBuffer>,
  { etag, type, headers }: CacheOptions,
): Response {
  if (isKnown(request, etag)) return notModified(etag, headers);
  return new Response(body, { headers: { "content-type": type, etag: `"${etag}"`, vary: "Accept", ...headers } });
}

function isKnown(request: Request, etag: string): boolean {
  const known = request.headers.get("if-none-match") ?? "";
  return known.split(",").some((one) => one.trim().replace(/^W\//, "") === `"${etag}"`);
}

function notModified(etag: string, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(null, { status: 304, headers: { etag: `"${etag}"`, vary: "Accept", ...headers } });
}

function hashOf(text: string): string {
  return createHash("sha512").update(text).digest("hex").toUpperCase();
}

/** The documents of a registry, each made when it is first wanted. */
class Documents {
  readonly #kinds: KindRegistry;
  readonly #builtin = new BuiltinComponents();
  readonly #texts = new Map<string, { readonly hash: string; readonly text: string }>();
  readonly #hashes = new Map<string, string>();
  #subjects: ReadonlyMap<string, Subject> = new Map();
  #generation = -1;
  #swagger:
    | { readonly form: string; readonly hash: string; readonly body: string | Uint8Array<ArrayBuffer> }
    | undefined;

  constructor(kinds: KindRegistry) {
    this.#kinds = kinds;
  }

  /** `api/v1`, `apis/apps/v1`, ... */
  paths(): readonly string[] {
    return [...this.#current().keys()].sort();
  }

  has(path: string): boolean {
    return this.#current().has(path);
  }

  /** Changes when the document does; "" where there is none. */
  hash(path: string): string {
    const subject = this.#current().get(path);
    if (subject === undefined) return "";
    const known = this.#hashes.get(path);
    if (known !== undefined) return known;
    const hash = hashOf(JSON.stringify([serverVersion, path, subject.kinds.map(partsOf)]));
    this.#hashes.set(path, hash);
    return hash;
  }

  text(path: string): string {
    const hash = this.hash(path);
    const known = this.#texts.get(path);
    if (known?.hash === hash) return known.text;
    const text = JSON.stringify(this.#document(path));
    this.#texts.set(path, { hash, text });
    return text;
  }

  /** All documents as one of version 2. The last one is kept: clients that want it want it often. @param hash of it */
  swagger(form: keyof typeof swaggerTypes, hash: string): string | Uint8Array<ArrayBuffer> {
    if (this.#swagger?.hash === hash && this.#swagger.form === form) return this.#swagger.body;
    const documents: JsonObject[] = [];
    for (const path of this.paths()) documents.push(this.#document(path));
    const swagger = swaggerOf(documents, serverVersion);
    const body = form === "json" ? JSON.stringify(swagger) : encodeSwagger(swagger);
    this.#swagger = { form, hash, body };
    return body;
  }

  #document(path: string): JsonObject {
    const { group, version, kinds } = this.#current().get(path) ?? { group: "", version: "", kinds: [] };
    return groupVersionDocument({ group, version, kinds, serverVersion }, this.#builtin);
  }

  #current(): ReadonlyMap<string, Subject> {
    if (this.#generation === this.#kinds.generation) return this.#subjects;
    const subjects = new Map<string, Subject>();
    for (const kind of this.#kinds.kinds()) {
      const { group, version } = kind;
      const path = group === "" ? `api/${version}` : `apis/${group}/${version}`;
      const subject = subjects.get(path) ?? { group, version, kinds: [] };
      subject.kinds.push(kind);
      subjects.set(path, subject);
    }
    this.#generation = this.#kinds.generation;
    this.#hashes.clear();
    return this.#subjects = subjects;
  }
}

/** What a kind's part of a document is made of. Built-in schemas change with the server's version alone. */
function partsOf(kind: Kind): unknown {
  const { plural, listKind, scope, verbs, subresources } = kind;
  return [plural, kind.kind, listKind, scope, verbs, [...subresources], schemaOf(kind)];
}

function schemaOf(kind: Kind): JsonObject {
  return kind instanceof CustomKind ? kind.compiled.json : {};
}
