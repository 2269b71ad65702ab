/**
 * discoveryPaths(): serves `/api`, `/apis`, `/apis/GROUP`, `/apis/GROUP/VERSION`, `/api/v1` and `/version`. The documents are
 * cached until the kinds change. The aggregated one has an ETag, so that kubectl downloads it only once.
 */
import { createHash } from "node:crypto";
import type { PathHandler } from "../http/mod.ts";
import { type JsonObject, StatusError } from "../model/mod.ts";
import type { KindRegistry } from "../registry/mod.ts";
import {
  aggregatedList,
  coreVersions,
  type Group,
  groupDocument,
  groupList,
  groupsOf,
  resourceList,
} from "./documents.ts";
/** The version of the API. */
export const serverVersion = "1.36";

/** The response of /version. */
const version: JsonObject = {
  major: "1",
  minor: "36",
  emulationMajor: "1",
  emulationMinor: "36",
  minCompatibilityMajor: "1",
  minCompatibilityMinor: "35",
  gitVersion: "v1.36.3+pintle",
  gitCommit: "",
  gitTreeState: "",
  buildDate: "1970-01-01T00:00:00Z",
  goVersion: "",
  compiler: "",
  platform: "",
};

interface Document {
  readonly text: string;
  readonly etag: string;
}

/** Serves discovery for the kinds of a registry. */
export function discoveryPaths(kinds: KindRegistry): PathHandler {
  let generation = -1;
  let groups: readonly Group[] = [];
  const documents = new Map<string, Document>();
  const refresh = () => {
    if (generation === kinds.generation) return;
    generation = kinds.generation;
    groups = groupsOf(kinds);
    documents.clear();
  };
  const cached = (key: string, create: () => JsonObject): Document => {
    const existing = documents.get(key);
    if (existing !== undefined) return existing;
    const text = `${JSON.stringify(create())}\n`;
    const document = { text, etag: `"${createHash("sha512").update(text).digest("hex").toUpperCase()}"` };
    documents.set(key, document);
    return document;
  };
  return {
    handle(request, path) {
      if (path === "/version" || path === "/version/") return plain(JSON.stringify(version, undefined, 2));
      const [root = "", first, second, ...rest] = path.split("/").filter((part) => part !== "");
      if ((root !== "api" && root !== "apis") || rest.length > 0) return undefined;
      if (request.method !== "GET" && request.method !== "HEAD") return undefined;
      refresh();
      if (first === undefined) return rootResponse(request, root, { groups, cached });
      return legacyResponse(root, [first, second], { groups, cached });
    },
  };
}

/** The groups, and the cache of their documents. */
interface Discovery {
  readonly groups: readonly Group[];
  readonly cached: (key: string, create: () => JsonObject) => Document;
}

function rootResponse(request: Request, root: "api" | "apis", { groups, cached }: Discovery): Response {
  const selected = groups.filter(({ name }) => (name === "") === (root === "api"));
  if (!prefersAggregated(request.headers.get("accept") ?? "")) {
    const { host } = new URL(request.url);
    return plain(cached(`${root} ${host}`, () => root === "api" ? coreVersions(host) : groupList(selected)).text);
  }
  const { text, etag } = cached(`${root} aggregated`, () => aggregatedList(selected));
  const headers = { etag, vary: "Accept", "cache-control": "public" };
  if (request.headers.get("if-none-match") === etag) return new Response(null, { status: 304, headers });
  const type = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
  return new Response(text, { headers: { ...headers, "content-type": type } });
}

function legacyResponse(
  root: string,
  [first, second]: readonly (string | undefined)[],
  { groups, cached }: Discovery,
): Response | undefined {
  const [name, version] = root === "api" ? ["", first] : [first, second];
  if (root === "api" && second !== undefined) return undefined;
  const group = groups.find((one) => one.name === name);
  if (group === undefined) return undefined;
  if (version === undefined) return plain(cached(`group ${name}`, () => groupDocument(group)).text);
  const found = group.versions.find((one) => one.version === version);
  return found === undefined
    ? undefined
    : plain(cached(`kinds ${name}/${version}`, () => resourceList(group, found)).text);
}

/** True when an Accept header prefers the aggregated format. @throws StatusError 406 when it accepts no served type */
function prefersAggregated(accept: string): boolean {
  if (accept === "") return false;
  for (const clause of accept.split(",")) {
    const [type = "", ...parameters] = clause.split(";").map((part) => part.trim());
    const isServed = type === "application/json" || type === "application/*" || type === "*/*";
    const form = parameters.filter((part) => /^(g|v|as)=/.test(part)).sort().join();
    if (!isServed) {
      if (form === "" && type === "application/yaml") return false;
      continue;
    }
    if (form === "") return false;
    if (form === "as=APIGroupDiscoveryList,g=apidiscovery.k8s.io,v=v2") return true;
  }
  throw new StatusError(406, "NotAcceptable", `only the following media types are accepted: ${served}`);
}

const served = "application/json, application/yaml, application/vnd.kubernetes.protobuf";

function plain(text: string): Response {
  return new Response(text, { headers: { "content-type": "application/json" } });
}
