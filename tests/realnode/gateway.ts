/**
 * The one way between a node and the machine, and the node's image registry: gateway.ts DIR, run inside of the node.
 *
 * - DIR/api.sock leads to the API server: a socket in the file system is seen on both sides, a network is not;
 * - on the loopback address it is a read-only registry of the OCI layout in DIR/images, so that containerd can pull, with
 *   pull policy Always, too.
 *
 * It imports no package: it starts first, and everything waits for it.
 */
import { createReadStream, existsSync, readFileSync, rmSync, statSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { connect, createServer as createSocketServer } from "node:net";
import { join } from "node:path";
import process from "node:process";
import { apiSocket, registryPort } from "./layout.ts";

interface IndexEntry {
  readonly digest: string;
  readonly mediaType: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

const [dir = "."] = process.argv.slice(2);
const images = join(dir, "images");
const apiPort = 6443;
const nameAnnotation = "io.containerd.image.name";

const socket = apiSocket(dir);
rmSync(socket, { force: true });
createSocketServer((outside) => {
  const inside = connect(apiPort, "127.0.0.1");
  outside.pipe(inside).pipe(outside);
  for (const end of [outside, inside]) {
    end.on("error", () => {
      outside.destroy();
      inside.destroy();
    });
  }
}).listen(socket);
createServer(answer).listen(registryPort, "127.0.0.1");

/** `/v2/NAME/manifests/TAG-OR-DIGEST?ns=REGISTRY` and `/v2/NAME/blobs/DIGEST`, as the OCI distribution says. */
function answer(request: IncomingMessage, response: ServerResponse): void {
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://registry");
  const [, name = "", kind = "", reference = ""] = /^\/v2\/(.+)\/(manifests|blobs)\/([^/]+)$/.exec(pathname) ?? [];
  console.log(request.method, request.url);
  if (pathname === "/v2/") return void response.writeHead(200).end();
  const image = `${searchParams.get("ns") ?? ""}/${name}:${reference}`;
  const entry = index().find(({ digest, annotations }) =>
    digest === reference || annotations?.[nameAnnotation] === image
  );
  const digest = entry?.digest ?? (reference.startsWith("sha256:") ? reference : undefined);
  const path = join(images, "blobs", digest?.replace(":", "/") ?? "none");
  if (kind === "" || digest === undefined || !existsSync(path)) return void response.writeHead(404).end();
  response.writeHead(200, {
    "content-type": entry?.mediaType ?? "application/octet-stream",
    "content-length": statSync(path).size,
    "docker-content-digest": digest,
  });
  if (request.method === "HEAD") response.end();
  else createReadStream(path).pipe(response);
}

function index(): readonly IndexEntry[] {
  const parsed: { readonly manifests: readonly IndexEntry[] } = JSON.parse(
    readFileSync(join(images, "index.json"), "utf8"),
  );
  return parsed.manifests;
}
