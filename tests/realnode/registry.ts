/**
 * A read-only image registry of an OCI layout in a folder, so that containerd can pull without a way out, with pull policy
 * Always, too. Images have the names that the index gives them, whatever registry they are said to be in.
 *
 * As a program: registry.ts LAYOUT HOST PORT. It imports no package, because nodes wait for it.
 */
import { createReadStream, existsSync, readFileSync, statSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";
import process from "node:process";

interface IndexEntry {
  readonly digest: string;
  readonly mediaType: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

const nameAnnotation = "io.containerd.image.name";

/** Serves the layout, also the images that are added to it later. */
export function serveRegistry(layout: string, host: string, port: number): void {
  createServer((request, response) => answer(layout, request, response)).listen(port, host);
}

/** `/v2/NAME/manifests/TAG-OR-DIGEST?ns=REGISTRY` and `/v2/NAME/blobs/DIGEST`, as the OCI distribution says. */
function answer(layout: string, request: IncomingMessage, response: ServerResponse): void {
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://registry");
  const [, name = "", kind = "", reference = ""] = /^\/v2\/(.+)\/(manifests|blobs)\/([^/]+)$/.exec(pathname) ?? [];
  console.log(request.method, request.url);
  if (pathname === "/v2/") return void response.writeHead(200).end();
  const image = `${searchParams.get("ns") ?? ""}/${name}:${reference}`;
  const entry = indexOf(layout).find(({ digest, annotations }) =>
    digest === reference || annotations?.[nameAnnotation] === image
  );
  const digest = entry?.digest ?? (reference.startsWith("sha256:") ? reference : undefined);
  const path = join(layout, "blobs", digest?.replace(":", "/") ?? "none");
  if (kind === "" || digest === undefined || !existsSync(path)) return void response.writeHead(404).end();
  response.writeHead(200, {
    "content-type": entry?.mediaType ?? "application/octet-stream",
    "content-length": statSync(path).size,
    "docker-content-digest": digest,
  });
  if (request.method === "HEAD") response.end();
  else createReadStream(path).pipe(response);
}

function indexOf(layout: string): readonly IndexEntry[] {
  const path = join(layout, "index.json");
  const parsed: { readonly manifests: readonly IndexEntry[] } = JSON.parse(readFileSync(path, "utf8"));
  return parsed.manifests;
}

if (import.meta.main) {
  const [layout = ".", host = "127.0.0.1", port = "5000"] = process.argv.slice(2);
  serveRegistry(layout, host, Number(port));
}
