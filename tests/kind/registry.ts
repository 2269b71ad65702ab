/**
 * A read-only image registry: registry.ts LAYOUT HOST PORT. It serves the OCI layout in a folder under the names that its
 * index gives, whatever registry they are said to be in, so that pull policy Always works without a way out.
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

const [layout = ".", host = "127.0.0.1", port = "5000"] = process.argv.slice(2);
const { manifests }: { readonly manifests: readonly IndexEntry[] } = JSON.parse(
  readFileSync(join(layout, "index.json"), "utf8"),
);

/** `/v2/NAME/manifests/TAG-OR-DIGEST?ns=REGISTRY` and `/v2/NAME/blobs/DIGEST`, as the OCI distribution says. */
function answer(request: IncomingMessage, response: ServerResponse): void {
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://registry");
  const [, name = "", kind = "", reference = ""] = /^\/v2\/(.+)\/(manifests|blobs)\/([^/]+)$/.exec(pathname) ?? [];
  console.log(request.method, request.url);
  if (pathname === "/v2/") return void response.writeHead(200).end();
  const image = `${searchParams.get("ns") ?? ""}/${name}:${reference}`;
  const entry = manifests.find(({ digest, annotations }) =>
    digest === reference || annotations?.["io.containerd.image.name"] === image
  );
  const digest = entry?.digest ?? (/^sha256:[0-9a-f]{64}$/.test(reference) ? reference : undefined);
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

createServer(answer).listen(Number(port), host);
