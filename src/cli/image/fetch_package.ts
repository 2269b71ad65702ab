/**
 * Fetches packages of Debian: from the cache of the user, else from a mirror of the archive.
 *
 * Guarantees: a package has the size and the checksum that this program pins, wherever it comes from; only such packages
 * get into the cache, and one in the cache that has another checksum is fetched again. After the first image, no network is needed.
 */
import { createHash } from "node:crypto";
import { type Clock, scope } from "../../async/mod.ts";
import { proxyFromEnvironment } from "../../client/mod.ts";
import {
  directoryOf,
  type Environment,
  fileStat,
  homeDirectory,
  httpClient,
  joinPath,
  makeDirectory,
  processFacts,
  readBytes,
  writeFile,
} from "../../runtime/mod.ts";
import { CommandError, exitCode } from "../command/mod.ts";
import { mirrorOfMachine, urlOf } from "./debian_mirror.ts";
import { type DebianPackage, snapshotDate } from "./debian_packages.ts";

/** Where packages come from. */
export interface PackageSource {
  readonly environment: Environment;
  /** A URL, below which are the folders `debian` and `debian-security`. @default the mirror of this machine's own packages */
  readonly mirror?: string;
  readonly clock: Clock;
  /** Is told what takes time. */
  readonly onDownload: (text: string) => void;
  readonly signal: AbortSignal;
}

/** Milliseconds for one package of at most 3 MB. */
const downloadMs = 300_000;

/** Returns the bytes of a package. @throws CommandError when no place has them */
export async function fetchPackage(wanted: DebianPackage, source: PackageSource): Promise<Uint8Array> {
  const cached = joinPath(cacheFolder(source.environment), "debian", `${wanted.sha256}.deb`);
  const found = await readCached(cached, wanted);
  if (found !== undefined) return found;
  const mirror = source.mirror ?? await mirrorOfMachine();
  if (mirror === undefined) throw cannotFetch(wanted, "this machine has no mirror of Debian", cached);
  const url = urlOf(wanted, mirror);
  const result = await download(url, wanted, source);
  if (typeof result === "string") throw cannotFetch(wanted, `${url}: ${result}`, cached);
  await keep(cached, result);
  return result;
}

function cannotFetch({ name, version }: DebianPackage, problem: string, cached: string): CommandError {
  return new CommandError(`Cannot fetch the package ${name} ${version}: ${problem}`, {
    code: exitCode.failed,
    advice: "Check the network and HTTPS_PROXY; name a mirror of Debian with --mirror, or, if Debian has removed the " +
      `version, a snapshot of its archive of ${snapshotDate}; or copy the package to ${cached}`,
  });
}

/** Where this program keeps what it fetched: `$XDG_CACHE_HOME/pintle`, or what stands for it on the system. */
export function cacheFolder(environment: Environment): string {
  const home = homeDirectory(environment) ?? ".";
  const ofSystem: Readonly<Record<string, string | undefined>> = {
    darwin: joinPath(home, "Library", "Caches"),
    windows: environment.LOCALAPPDATA,
  };
  return joinPath(environment.XDG_CACHE_HOME || ofSystem[processFacts().os] || joinPath(home, ".cache"), "pintle");
}

async function readCached(path: string, wanted: DebianPackage): Promise<Uint8Array | undefined> {
  const found = await fileStat(path).catch(() => undefined);
  if (found?.kind !== "file" || found.sizeBytes !== wanted.sizeBytes) return undefined;
  const bytes = await readBytes(path);
  return problemOf(bytes, wanted) === undefined ? bytes : undefined;
}

/** A cache that cannot be written costs a download the next time, and nothing else. */
async function keep(path: string, bytes: Uint8Array): Promise<void> {
  try {
    await makeDirectory(directoryOf(path), 0o755);
    await writeFile(path, bytes, { mode: 0o644 });
  } catch {
    // See above.
  }
}

/** A connection that fails is tried again, as on a busy machine or network; a response is final. */
const maxAttempts = 3;

/** @returns the bytes, or what is wrong */
async function download(url: string, wanted: DebianPackage, source: PackageSource): Promise<Uint8Array | string> {
  source.onDownload(`fetching ${url}`);
  for (let attempt = 1;; attempt++) {
    try {
      return await downloadOnce(url, wanted, source);
    } catch (error) {
      source.signal.throwIfAborted();
      if (attempt === maxAttempts) return error instanceof Error ? error.message : String(error);
    }
  }
}

/** @throws the error of the connection */
async function downloadOnce(url: string, wanted: DebianPackage, source: PackageSource): Promise<Uint8Array | string> {
  const client = httpClient({ proxy: proxyFromEnvironment(new URL(url), source.environment) });
  using limited = scope(source.signal, { timeoutMs: downloadMs, clock: source.clock });
  try {
    const response = await client.fetch(new Request(url, { signal: limited.signal }));
    if (response.status !== 200) {
      await response.body?.cancel();
      return `the server responded with ${response.status}`;
    }
    const bytes = await readAtMost(response, wanted.sizeBytes);
    return problemOf(bytes, wanted) ?? bytes;
  } finally {
    client.close();
  }
}

/** Reads at most one byte more than `maxBytes`: a mirror cannot fill the memory. */
async function readAtMost({ body }: Response, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const chunk of body ?? []) {
    chunks.push(chunk);
    sizeBytes += chunk.length;
    if (sizeBytes > maxBytes) break;
  }
  const all = new Uint8Array(sizeBytes);
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}

function problemOf(bytes: Uint8Array, { sizeBytes, sha256 }: DebianPackage): string | undefined {
  if (bytes.length !== sizeBytes) return `it has not the expected ${sizeBytes} bytes`;
  const actual = createHash("sha256").update(bytes).digest("hex");
  return actual === sha256 ? undefined : `it has the checksum ${actual}, not ${sha256}`;
}
