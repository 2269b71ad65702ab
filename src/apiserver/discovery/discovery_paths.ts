/**
 * discoveryPaths(): serves `/api`, `/apis`, `/apis/GROUP`, `/apis/GROUP/VERSION`, `/api/v1` and `/version`. The documents are
 * cached until the kinds change, in each format that clients request. The aggregated one has an ETag, the same in all formats,
 * so that kubectl downloads it only once.
 */
import { createHash } from "node:crypto";
import {
  contentTypes,
  findNegotiated,
  type Format,
  negotiate,
  notProduced,
  type PathHandler,
  yamlText,
} from "../http/mod.ts";
import type { JsonObject } from "../model/mod.ts";
import { encodeProtobuf } from "../protobuf/mod.ts";
import type { KindRegistry } from "../registry/mod.ts";
import {
  aggregatedList,
  type AggregatedVersions,
  coreVersions,
  type Group,
  groupDocument,
  groupList,
  groupsOf,
  resourceList,
} from "./documents.ts";
/** The version of the API. */
export const serverVersion = "1.36";

/** The release that this server behaves like. */
export const serverRelease = "1.36.3";

/** The response of /version. */
const version: JsonObject = {
  major: "1",
  minor: "36",
  emulationMajor: "1",
  emulationMinor: "36",
  minCompatibilityMajor: "1",
  minCompatibilityMinor: "35",
  gitVersion: `v${serverRelease}+pintle`,
  gitCommit: "",
  gitTreeState: "",
  buildDate: "1970-01-01T00:00:00Z",
  goVersion: "",
  compiler: "",
  platform: "",
};

/** A document in all formats. */
class Document {
  readonly #object: JsonObject;
  readonly #bodies = new Map<Format, string | Uint8Array<ArrayBuffer>>();
  #etag: string | undefined;

  constructor(object: JsonObject) {
    this.#object = object;
  }

  get etag(): string {
    return this.#etag ??= `"${createHash("sha512").update(this.#json()).digest("hex").toUpperCase()}"`;
  }

  async body(format: Format): Promise<string | Uint8Array<ArrayBuffer>> {
    const known = this.#bodies.get(format);
    if (known !== undefined) return known;
    const body = format === "json"
      ? this.#json()
      : format === "yaml"
      ? await yamlText(this.#object)
      : encodeProtobuf(this.#object);
    this.#bodies.set(format, body);
    return body;
  }

  #json(): string {
    return `${JSON.stringify(this.#object)}\n`;
  }
}

/** Serves discovery for the kinds of a registry, and for the versions of other API servers. @param others @default none */
export function discoveryPaths(kinds: KindRegistry, others?: AggregatedVersions): PathHandler {
  let generation = "";
  let groups: readonly Group[] = [];
  const documents = new Map<string, Document>();
  const refresh = () => {
    const current = `${kinds.generation} ${others?.generation}`;
    if (generation === current) return;
    generation = current;
    groups = groupsOf(kinds, others?.versions());
    documents.clear();
  };
  const cached = (key: string, create: () => JsonObject): Document => {
    const existing = documents.get(key);
    if (existing !== undefined) return existing;
    const document = new Document(create());
    documents.set(key, document);
    return document;
  };
  return {
    handle(request, path) {
      if (path === "/version" || path === "/version/") return versionResponse(request);
      const [root = "", first, second, ...rest] = path.split("/").filter((part) => part !== "");
      if ((root !== "api" && root !== "apis") || rest.length > 0) return undefined;
      if (request.method !== "GET" && request.method !== "HEAD") return undefined;
      refresh();
      if (first === undefined) return rootResponse(request, root, { groups, cached });
      return legacyResponse(request, root, [first, second], { groups, cached });
    },
  };
}

/** The groups, and the cache of their documents. */
interface Discovery {
  readonly groups: readonly Group[];
  readonly cached: (key: string, create: () => JsonObject) => Document;
}

async function rootResponse(request: Request, root: "api" | "apis", { groups, cached }: Discovery): Promise<Response> {
  const selected = groups.filter(({ name }) => (name === "") === (root === "api"));
  const aggregated = findNegotiated(request.headers.get("accept"), "discovery");
  if (aggregated === undefined) {
    const { host } = new URL(request.url);
    const document = cached(`${root} ${host}`, () => root === "api" ? coreVersions(host) : groupList(selected));
    return await documentResponse(request, document, root === "api");
  }
  const document = cached(`${root} aggregated`, () => aggregatedList(selected));
  const { etag } = document;
  const headers = { etag, vary: "Accept", "cache-control": "public" };
  if (request.headers.get("if-none-match") === etag) return new Response(null, { status: 304, headers });
  const type = `${contentTypes[aggregated.format]};g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList`;
  const body = await document.body(aggregated.format);
  return new Response(body, { headers: { ...headers, "content-type": type } });
}

function legacyResponse(
  request: Request,
  root: string,
  [first, second]: readonly (string | undefined)[],
  { groups, cached }: Discovery,
): Promise<Response> | undefined {
  const [name, version] = root === "api" ? ["", first] : [first, second];
  if (root === "api" && second !== undefined) return undefined;
  const group = groups.find((one) => one.name === name);
  if (group === undefined) return undefined;
  if (version === undefined) {
    return documentResponse(
      request,
      cached(`group ${name}`, () => groupDocument(group)),
      false,
    );
  }
  const found = group.versions.find((one) => one.version === version);
  // Only an APIService names it, and no server that this one reaches has it.
  if (found === undefined || found.other !== undefined) return undefined;
  return documentResponse(request, cached(`kinds ${name}/${version}`, () => resourceList(group, found)), true);
}

/**
 * @param isRoute true for the documents that kube-apiserver serves like objects; the others have handlers of their own
 * @throws StatusError 406 when the client accepts no served type
 */
async function documentResponse(request: Request, document: Document, isRoute: boolean): Promise<Response> {
  const accept = request.headers.get("accept") ?? "";
  const error = isRoute && accept !== "" ? notProduced(accept, false) : undefined;
  if (error !== undefined) throw error;
  const { format } = negotiate(request.headers.get("accept"), "plain");
  return new Response(await document.body(format), { headers: { "content-type": contentTypes[format] } });
}

/** @throws StatusError 406 when the client does not accept JSON */
function versionResponse(request: Request): Response {
  const accept = request.headers.get("accept") ?? "";
  const error = accept === "" ? undefined : notProduced(accept, false, [contentTypes.json]);
  if (error !== undefined) throw error;
  return new Response(JSON.stringify(version, undefined, 2), { headers: { "content-type": contentTypes.json } });
}
