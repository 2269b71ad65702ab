/**
 * discoveryPaths(): answers `/api`, `/apis`, `/apis/GROUP`, `/apis/GROUP/VERSION`, `/api/v1` and `/version`. Documents are made
 * anew when the kinds have changed, and carry an ETag, so that kubectl asks for the large one only once.
 */
import { createHash } from "node:crypto";
import type { PathHandler } from "../http/mod.ts";
import { type JsonObject, Refusal } from "../model/mod.ts";
import type { KindRegistry } from "../registry/mod.ts";
import { aggregatedList, coreVersions, groupDocument, groupList, resourceList } from "./documents.ts";
import { type Group, groupsOf } from "./groups.ts";

/** The version whose API this is. */
export const serverVersion = "1.36";

/** What the server says of its own build. */
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

/** Answers for the kinds of a registry. */
export function discoveryPaths(kinds: KindRegistry): PathHandler {
  let generation = -1;
  let groups: readonly Group[] = [];
  const documents = new Map<string, Document>();
  const fresh = () => {
    if (generation === kinds.generation) return;
    generation = kinds.generation;
    groups = groupsOf(kinds);
    documents.clear();
  };
  const kept = (key: string, make: () => JsonObject): Document => {
    const held = documents.get(key);
    if (held !== undefined) return held;
    const text = `${JSON.stringify(make())}\n`;
    const made = { text, etag: `"${createHash("sha512").update(text).digest("hex").toUpperCase()}"` };
    documents.set(key, made);
    return made;
  };
  return {
    handle(request, path) {
      if (path === "/version" || path === "/version/") return plain(JSON.stringify(version, undefined, 2));
      const [root = "", first, second, ...rest] = path.split("/").filter((part) => part !== "");
      if ((root !== "api" && root !== "apis") || rest.length > 0) return undefined;
      if (request.method !== "GET" && request.method !== "HEAD") return undefined;
      fresh();
      if (first === undefined) return rootAnswer(request, root, { groups, kept });
      return old(root, [first, second], { groups, kept });
    },
  };
}

interface Known {
  readonly groups: readonly Group[];
  readonly kept: (key: string, make: () => JsonObject) => Document;
}

function rootAnswer(request: Request, root: "api" | "apis", { groups, kept }: Known): Response {
  const wanted = groups.filter(({ name }) => (name === "") === (root === "api"));
  if (!wantsAggregated(request.headers.get("accept") ?? "")) {
    const { host } = new URL(request.url);
    return plain(kept(`${root} ${host}`, () => root === "api" ? coreVersions(host) : groupList(wanted)).text);
  }
  const { text, etag } = kept(`${root} aggregated`, () => aggregatedList(wanted));
  const headers = { etag, vary: "Accept", "cache-control": "public" };
  if (request.headers.get("if-none-match") === etag) return new Response(null, { status: 304, headers });
  const type = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
  return new Response(text, { headers: { ...headers, "content-type": type } });
}

function old(
  root: string,
  [first, second]: readonly (string | undefined)[],
  { groups, kept }: Known,
): Response | undefined {
  const [name, version] = root === "api" ? ["", first] : [first, second];
  if (root === "api" && second !== undefined) return undefined;
  const group = groups.find((one) => one.name === name);
  if (group === undefined) return undefined;
  if (version === undefined) return plain(kept(`group ${name}`, () => groupDocument(group)).text);
  const found = group.versions.find((one) => one.version === version);
  return found === undefined
    ? undefined
    : plain(kept(`kinds ${name}/${version}`, () => resourceList(group, found)).text);
}

/** True where an Accept header prefers the aggregated form. @throws Refusal 406 where it takes nothing that is served */
function wantsAggregated(accept: string): boolean {
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
  throw new Refusal(406, "NotAcceptable", `only the following media types are accepted: ${served}`);
}

const served = "application/json, application/yaml, application/vnd.kubernetes.protobuf";

function plain(text: string): Response {
  return new Response(text, { headers: { "content-type": "application/json" } });
}
