/**
 * An API server whose watch cache stands still at an older revision, as one process sees it after a restart: lists and
 * watches show what was, while single reads and writes go to the present, as on a real server that lags.
 */
import { initialEventsEnd, type KubeObject } from "../api/mod.ts";
import type { Transport } from "../client/mod.ts";

interface OldList {
  readonly apiVersion: string;
  readonly kind: string;
  readonly items: readonly KubeObject[];
}

/** Answers a read as that server would. */
export async function askLagging(
  server: Transport,
  request: Request,
  { revision, isStream }: { readonly revision: number; readonly isStream: boolean },
): Promise<Response> {
  const url = new URL(request.url);
  const wantsState = url.searchParams.get("sendInitialEvents") === "true";
  const isList = !isStream && isFromCache(url);
  if (!wantsState && !isList) return await server(request);
  for (const name of ["sendInitialEvents", "watch", "limit", "continue"]) url.searchParams.delete(name);
  url.searchParams.set("resourceVersion", String(revision));
  const watchUrl = new URL(url);
  url.searchParams.set("resourceVersionMatch", "Exact");
  const response = await server(new Request(url, { headers: listHeaders(request.headers), signal: request.signal }));
  if (isList || !response.ok) return response;
  const list: OldList = JSON.parse(await response.text());
  watchUrl.searchParams.delete("resourceVersionMatch");
  watchUrl.searchParams.set("watch", "true");
  const watch = await server(new Request(watchUrl, { headers: request.headers, signal: request.signal }));
  if (watch.body === null || !watch.ok) return watch;
  const body = watch.body.pipeThrough(startingWith(stateLines(list, revision)));
  return new Response(body, { status: 200, headers: watch.headers });
}

/** Metadata alone is asked for in other words of a list than of a watch. */
function listHeaders(headers: Headers): Headers {
  const changed = new Headers(headers);
  const accept = changed.get("accept") ?? "";
  changed.set("accept", accept.replace("as=PartialObjectMetadata;", "as=PartialObjectMetadataList;"));
  return changed;
}

/** A list that asks for the newest state goes to the present. */
function isFromCache({ searchParams }: URL): boolean {
  const version = searchParams.get("resourceVersion") ?? "";
  return version !== "" && searchParams.get("resourceVersionMatch") !== "Exact";
}

/** The old state as a watch begins with it. */
function stateLines({ apiVersion, kind, items }: OldList, revision: number): string {
  const names = { apiVersion, kind: kind.replace(/List$/, "") };
  const added = items.map((item) => ({ type: "ADDED", object: { ...names, ...item } }));
  const annotations = { [initialEventsEnd]: "true" };
  const end = { ...names, metadata: { resourceVersion: String(revision), annotations } };
  return [...added, { type: "BOOKMARK", object: end }].map((line) => `${JSON.stringify(line)}\n`).join("");
}

function startingWith(text: string): TransformStream<Uint8Array, Uint8Array> {
  return new TransformStream({ start: (controller) => controller.enqueue(new TextEncoder().encode(text)) });
}
