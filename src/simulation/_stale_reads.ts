/**
 * Reads that a server cannot answer from its newest state: a watch cache that shows an older revision, and a history that was
 * compacted, so that watches from older versions get 410.
 */
import { initialEventsEnd, type KubeObject, parseExactJson, printExactJson } from "../api/mod.ts";
import type { Transport } from "../client/mod.ts";

interface List {
  readonly apiVersion: string;
  readonly kind: string;
  /** Null where a list of metadata has none. */
  readonly items: readonly KubeObject[] | null;
}

/**
 * Sends a read to a server whose watch cache is behind. Lists and watches show the old revision; single reads and quorum lists
 * show the newest state, as on a real server.
 *
 * @param from the old revision, and whether the request is a watch
 */
export async function fetchStale(
  server: Transport,
  request: Request,
  from: { readonly revision: number; readonly isWatch: boolean },
): Promise<Response> {
  const { revision, isWatch } = from;
  const url = new URL(request.url);
  const wantsInitialEvents = url.searchParams.get("sendInitialEvents") === "true";
  const isList = !isWatch && isFromCache(url);
  if (!wantsInitialEvents && !isList) return await server(request);
  for (const name of ["sendInitialEvents", "watch", "limit", "continue"]) url.searchParams.delete(name);
  url.searchParams.set("resourceVersion", String(revision));
  const watchUrl = new URL(url);
  url.searchParams.set("resourceVersionMatch", "Exact");
  const response = await server(new Request(url, { headers: listHeaders(request.headers), signal: request.signal }));
  if (isList || !response.ok) return response;
  const list = parseExactJson(await response.text()) as List;
  watchUrl.searchParams.delete("resourceVersionMatch");
  watchUrl.searchParams.set("watch", "true");
  const watch = await server(new Request(watchUrl, { headers: request.headers, signal: request.signal }));
  if (watch.body === null || !watch.ok) return watch;
  const body = watch.body.pipeThrough(prefixedWith(initialEvents(list, revision)));
  return new Response(body, { status: 200, headers: watch.headers });
}

/** A list asks for PartialObjectMetadata under another name than a watch. */
function listHeaders(headers: Headers): Headers {
  const changed = new Headers(headers);
  const accept = changed.get("accept") ?? "";
  changed.set("accept", accept.replace("as=PartialObjectMetadata;", "as=PartialObjectMetadataList;"));
  return changed;
}

/** A list without a resource version is a quorum read. */
function isFromCache({ searchParams }: URL): boolean {
  const version = searchParams.get("resourceVersion") ?? "";
  return version !== "" && searchParams.get("resourceVersionMatch") !== "Exact";
}

function initialEvents({ apiVersion, kind, items }: List, revision: number): string {
  const names = { apiVersion, kind: kind.replace(/List$/, "") };
  const added = (items ?? []).map((item) => ({ type: "ADDED", object: { ...names, ...item } }));
  const annotations = { [initialEventsEnd]: "true" };
  const end = { ...names, metadata: { resourceVersion: String(revision), annotations } };
  return [...added, { type: "BOOKMARK", object: end }].map((line) => `${printExactJson(line)}\n`).join("");
}

function prefixedWith(text: string): TransformStream<Uint8Array, Uint8Array> {
  return new TransformStream({ start: (controller) => controller.enqueue(new TextEncoder().encode(text)) });
}

/**
 * The versions that each collection has lost by compaction. A watch that got 410 cannot resume at its version, and neither
 * can any other watch. The storage itself keeps the history, because the oracles read it.
 */
export class CompactedHistory {
  readonly #oldest = new Map<string, number>();

  /** Compacts a collection: the changes before `version` are lost. */
  compact(collection: string, version: string | undefined): void {
    const oldest = Number(version ?? 0);
    if (oldest > (this.#oldest.get(collection) ?? 0)) this.#oldest.set(collection, oldest);
  }

  /** True for a watch that resumes at a lost version. */
  isExpired(collection: string, { url }: Pick<Request, "url">): boolean {
    const oldest = this.#oldest.get(collection);
    if (oldest === undefined) return false;
    const { searchParams } = new URL(url);
    const version = Number(searchParams.get("resourceVersion") ?? 0);
    // With sendInitialEvents, the version is only a minimum.
    const resumes = searchParams.get("watch") === "true" && searchParams.get("sendInitialEvents") !== "true";
    return resumes && version > 0 && version < oldest;
  }
}
