/**
 * openApiPaths(): serves `/openapi/v3`, `/openapi/v3/GROUP-VERSION` and `/openapi/v2`. A document is created on its first
 * request, and again after a kind of its group has changed. Its ETag, and its hash in the index, come from its input, so that
 * the index does not need the documents.
 */
import { printExactJson } from "../../api/mod.ts";
import { createHash } from "node:crypto";
import { CustomKind } from "../crd/mod.ts";
import { serverVersion } from "../discovery/mod.ts";
import type { PathHandler } from "../http/mod.ts";
import type { JsonObject, Kind } from "../model/mod.ts";
import type { KindRegistry } from "../registry/mod.ts";
import { BuiltinComponents } from "./components.ts";
import { encodeSwagger } from "./gnostic.ts";
import { groupVersionDocument } from "./group_version_document.ts";
import { swaggerOf } from "./swagger.ts";

/** One group and version. */
interface Subject {
  readonly group: string;
  readonly version: string;
  readonly kinds: Kind[];
}

const root = "/openapi/v3";

/** Serves OpenAPI for the kinds of a registry. */
export function openApiPaths(kinds: KindRegistry): PathHandler {
  const documents = new Documents(kinds);
  return {
    handle(request, path, query) {
      if (!path.startsWith("/openapi/") || (request.method !== "GET" && request.method !== "HEAD")) return undefined;
      if (path === root || path === `${root}/`) return indexResponse(request, documents);
      if (path.startsWith(`${root}/`)) {
        return versionResponse(request, {
          documents,
          path: path.slice(root.length + 1),
          hash: query.get("hash") ?? "",
        });
      }
      return path === "/openapi/v2" ? swaggerResponse(request, documents) : undefined;
    },
  };
}

function indexResponse(request: Request, documents: Documents): Response {
  const paths = documents.paths().map((path) => [path, { serverRelativeURL: urlOf(path, documents.hash(path)) }]);
  const text = printExactJson({ paths: Object.fromEntries(paths) });
  // kube-apiserver has the same Content-Type here.
  return cached(request, text, { etag: hashOf(text), type: "text/plain; charset=utf-8" });
}

function urlOf(path: string, hash: string): string {
  return `${root}/${path}?hash=${hash}`;
}

function versionResponse(
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
  if (hasETag(request, etag)) return notModified(etag, caching);
  return cached(request, documents.text(path), { etag, type: "application/json", headers: caching });
}

function swaggerResponse(request: Request, documents: Documents): Response {
  const form = negotiateSwagger(request.headers.get("accept") ?? "");
  if (form === undefined) return new Response(null, { status: 406 });
  const etag = hashOf(documents.paths().map((path) => documents.hash(path)).join());
  if (hasETag(request, etag)) return notModified(etag);
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
  if (hasETag(request, etag)) return notModified(etag, headers);
  return new Response(body, { headers: { "content-type": type, etag: `"${etag}"`, vary: "Accept", ...headers } });
}

function hasETag(request: Request, etag: string): boolean {
  const known = request.headers.get("if-none-match") ?? "";
  return known.split(",").some((one) => one.trim().replace(/^W\//, "") === `"${etag}"`);
}

function notModified(etag: string, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(null, { status: 304, headers: { etag: `"${etag}"`, vary: "Accept", ...headers } });
}

function hashOf(text: string): string {
  return createHash("sha512").update(text).digest("hex").toUpperCase();
}

/** The documents of a registry, each created on first use. */
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

  /** The hash of the input of a document; "" for an unknown path. */
  hash(path: string): string {
    const subject = this.#current().get(path);
    if (subject === undefined) return "";
    const known = this.#hashes.get(path);
    if (known !== undefined) return known;
    const hash = hashOf(printExactJson([serverVersion, path, subject.kinds.map(partsOf)]));
    this.#hashes.set(path, hash);
    return hash;
  }

  text(path: string): string {
    const hash = this.hash(path);
    const known = this.#texts.get(path);
    if (known?.hash === hash) return known.text;
    const text = printExactJson(this.#document(path));
    this.#texts.set(path, { hash, text });
    return text;
  }

  /** All documents as one of version 2. The last one is cached, because clients request it often. @param hash of all documents */
  swagger(form: keyof typeof swaggerTypes, hash: string): string | Uint8Array<ArrayBuffer> {
    if (this.#swagger?.hash === hash && this.#swagger.form === form) return this.#swagger.body;
    const documents: JsonObject[] = [];
    for (const path of this.paths()) documents.push(this.#document(path));
    const swagger = swaggerOf(documents, serverVersion);
    const body = form === "json" ? printExactJson(swagger) : encodeSwagger(swagger);
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

/** The input of the part of a document about one kind. Built-in schemas change only with the server version. */
function partsOf(kind: Kind): unknown {
  const { plural, listKind, scope, verbs, subresources } = kind;
  return [plural, kind.kind, listKind, scope, verbs, [...subresources], schemaOf(kind)];
}

function schemaOf(kind: Kind): JsonObject {
  return kind instanceof CustomKind ? kind.compiled.json : {};
}

/** The media types of an OpenAPI v2 document: JSON, or the protobuf encoding that Go clients request. */
const swaggerTypes = {
  json: "application/json",
  protobuf: "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
} as const;

/** client-go up to 1.27 uses the first spelling of the protobuf type. */
const forms: ReadonlyMap<string, keyof typeof swaggerTypes> = new Map([
  ["application/com.github.proto-openapi.spec.v2@v1.0+protobuf", "protobuf"],
  [swaggerTypes.protobuf, "protobuf"],
  [swaggerTypes.json, "json"],
  ["application/*", "json"],
  ["*/*", "json"],
  ["*", "json"],
]);

/** The first supported format of an Accept header; undefined for none. */
function negotiateSwagger(accept: string): keyof typeof swaggerTypes | undefined {
  if (accept.trim() === "") return "json";
  for (const clause of accept.split(",")) {
    const form = forms.get((clause.split(";")[0] ?? "").trim().toLowerCase());
    if (form !== undefined) return form;
  }
  return undefined;
}
