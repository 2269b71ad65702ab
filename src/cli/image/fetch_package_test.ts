import { createHash } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LoopbackServer } from "../../../tests/loopback.ts";
import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
  test,
} from "../../../tests/testing.ts";
import { VirtualClock } from "../../async/mod.ts";
import type { DebianPackage } from "./debian_packages.ts";
import { cacheFolder, fetchPackage, type PackageSource } from "./fetch_package.ts";
import { debFile } from "./testing/deb_file.ts";

const bytes = debFile();
const tiny: DebianPackage = {
  name: "tiny",
  version: "1.0",
  architecture: "all",
  archive: "debian",
  path: "pool/main/t/tiny/tiny_1.0+b1_all.deb",
  sizeBytes: bytes.length,
  sha256: createHash("sha256").update(bytes).digest("hex"),
};

/** A mirror, and a user with an empty cache. */
interface Site extends AsyncDisposable {
  readonly cache: string;
  readonly url: string;
  /** The paths that were requested. */
  readonly requests: string[];
  /** What the mirror responds with. */
  response: { readonly status: number; readonly body: Uint8Array };
  /** How many connections the mirror closes instead. */
  breaks: number;
  fetch(mirror?: string, signal?: AbortSignal): Promise<Uint8Array>;
}

async function site(): Promise<Site> {
  const cache = await mkdtemp(join(tmpdir(), "pintle-packages-"));
  const requests: string[] = [];
  const server = await LoopbackServer.start({
    answer: ({ url }, response) => {
      requests.push(url ?? "");
      if (here.breaks > 0) {
        here.breaks--;
        response.destroy();
        return;
      }
      response.writeHead(here.response.status);
      response.end(here.response.body);
    },
  });
  const here: Site = {
    ...{ cache, requests, url: server.url(), response: { status: 200, body: bytes }, breaks: 0 },
    fetch(mirror = server.url(), signal = new AbortController().signal) {
      const environment = { XDG_CACHE_HOME: cache };
      const source: PackageSource = { environment, mirror, clock: new VirtualClock(), onDownload: () => {}, signal };
      return fetchPackage(tiny, source);
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await rm(cache, { recursive: true });
    },
  };
  return here;
}

const cached = (cache: string) => join(cache, "pintle", "debian", `${tiny.sha256}.deb`);

test("fetchPackage() asks the mirror once, and then the cache", async () => {
  await using here = await site();
  assertEquals(await here.fetch(`${here.url}//`), bytes);
  assertEquals(await here.fetch(), bytes);
  assertEquals(here.requests, ["/debian/pool/main/t/tiny/tiny_1.0+b1_all.deb"]);
  assertEquals(new Uint8Array(await readFile(cached(here.cache))), bytes);
});

test("fetchPackage() fetches again what somebody has changed in the cache", async () => {
  await using here = await site();
  await here.fetch();
  await writeFile(cached(here.cache), bytes.toReversed());
  assertEquals(await here.fetch(), bytes);
  assertEquals(here.requests.length, 2);
  assertEquals(new Uint8Array(await readFile(cached(here.cache))), bytes);
});

test("fetchPackage() refuses bytes with another checksum or size, keeps none of them, and says where they came from", async () => {
  await using here = await site();
  const wrong = [bytes.toReversed(), bytes.subarray(1), new Uint8Array(bytes.length + 1), new Uint8Array()];
  for (const body of wrong) {
    here.response = { status: 200, body };
    const { message } = await assertRejects(() => here.fetch(), /^Cannot fetch the package tiny 1\.0: http:/);
    assertMatch(
      message,
      body.length === bytes.length ? /it has the checksum [0-9a-f]{64}, not/ : /not the expected \d+ bytes/,
    );
    assertStringIncludes(message, here.url);
  }
  assertEquals(await readdir(here.cache), []);
});

test("fetchPackage() says what a mirror responded, and what to do", async () => {
  await using here = await site();
  here.response = { status: 404, body: new Uint8Array() };
  const error = await assertRejects(() => here.fetch(), /the server responded with 404$/);
  assertStringIncludes(JSON.stringify(error), `copy the package to ${cached(here.cache)}`);
});

test("fetchPackage() says that a mirror cannot be reached", async () => {
  await using here = await site();
  await assertRejects(
    () => here.fetch("http://127.0.0.1:1"),
    /Cannot fetch the package tiny 1\.0: http:\/\/127\.0\.0\.1:1\//,
  );
});

test("fetchPackage() tries again when a connection breaks", async () => {
  await using here = await site();
  here.breaks = 2;
  assertEquals(await here.fetch(), bytes);
  assertEquals(here.requests.length, 3);
});

test("fetchPackage() ends with the reason of its signal", async () => {
  await using here = await site();
  const stopped = new AbortController();
  stopped.abort(new Error("Ctrl-C"));
  await assertRejects(() => here.fetch(undefined, stopped.signal), /^Ctrl-C$/);
});

test("fetchPackage() works with a cache that cannot be written", async () => {
  await using here = await site();
  await writeFile(join(here.cache, "pintle"), "a file where the folder should be");
  assertEquals(await here.fetch(), bytes);
});

test("cacheFolder() prefers XDG_CACHE_HOME to the home", () => {
  assertEquals(cacheFolder({ XDG_CACHE_HOME: "/x", HOME: "/home/me" }), join("/x", "pintle"));
  assert(cacheFolder({ HOME: "/home/me", LOCALAPPDATA: "/home/me" }).startsWith(join("/home/me")));
});
