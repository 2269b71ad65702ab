/**
 * A package registry on loopback: it has the packages of this repository, and asks the registry of this machine for all
 * others. So a test installs what would be published, by its name.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import { basename, join } from "node:path";

/** A registry that listens. */
export interface LocalRegistry extends AsyncDisposable {
  readonly url: string;
}

/** An archive, and the package.json inside of it. */
interface Packed {
  readonly archive: string;
  readonly description: { readonly name: string; readonly version: string };
}

/** Starts a registry. @param upstream The registry that has all other packages */
export async function startRegistry(archives: readonly string[], upstream: string): Promise<LocalRegistry> {
  const packages = archives.map(packedAt);
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? "").slice(1);
    const found = packages.find(({ archive, description }) => path === description.name || path === basename(archive));
    if (found === undefined) return void pass(new URL(request.url ?? "", upstream), request.headers.accept, response);
    if (path !== found.description.name) return void response.end(readFileSync(found.archive));
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(documentOf(found, url)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
  return {
    url,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function packedAt(archive: string): Packed {
  const folder = basename(archive).includes("create") ? "create" : "controller";
  return { archive, description: JSON.parse(readFileSync(join(archive, "..", folder, "package.json"), "utf8")) };
}

/** What a registry says about a package. */
function documentOf({ archive, description }: Packed, url: string): object {
  const { name, version } = description;
  const integrity = `sha512-${createHash("sha512").update(readFileSync(archive)).digest("base64")}`;
  const dist = { tarball: `${url}/${basename(archive)}`, integrity };
  const published = "2026-01-01T00:00:00.000Z";
  return {
    name,
    "dist-tags": { latest: version },
    versions: { [version]: { ...description, dist } },
    time: { created: published, modified: published, [version]: published },
  };
}

async function pass(url: URL, accept: string | undefined, response: ServerResponse): Promise<void> {
  try {
    const answer = await fetch(url, { headers: { accept: accept ?? "*/*" } });
    response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "" });
    for await (const part of answer.body ?? []) response.write(part);
    response.end();
  } catch (error) {
    response.writeHead(502).end(String(error));
  }
}
