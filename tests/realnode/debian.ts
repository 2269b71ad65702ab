/**
 * Debian packages, unpacked into the user's cache: nothing is installed on the machine, and apt keeps its lists and
 * archives in the cache, too. Packages that the machine has installed are not fetched again.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { cacheDir, fillCache } from "../controlplane/go_build.ts";
import { run } from "../controlplane/run.ts";

/** The folder with the unpacked packages (`usr/...`), or why there is none. */
export type DebianOutcome =
  | { readonly kind: "ready"; readonly dir: string }
  | { readonly kind: "unavailable"; readonly reason: string };

/**
 * Fetches packages, and those that they depend on and the machine lacks, with the machine's own apt sources.
 *
 * @throws Error when apt fails.
 */
export async function debianPackages(names: readonly string[]): Promise<DebianOutcome> {
  const root = join(cacheDir(), "debian");
  const key = createHash("sha256").update(JSON.stringify([names, process.arch])).digest("hex").slice(0, 16);
  const dir = join(root, key);
  if (existsSync(dir)) return { kind: "ready", dir };
  for (const tool of ["apt-get", "dpkg-deb"]) {
    const answer = await run(tool, ["--version"]);
    if (answer.kind === "missing") return { kind: "unavailable", reason: `there is no ${tool}` };
  }
  process.stderr.write(`debian: fetching ${names.join(", ")}\n`);
  await fillCache(root, dir, (building) => unpackInto(building, names));
  return { kind: "ready", dir };
}

async function unpackInto(building: string, names: readonly string[]): Promise<void> {
  const apt = join(building, "apt");
  for (const folder of ["lists/partial", "archives/partial"]) mkdirSync(join(apt, folder), { recursive: true });
  const folders = [`Dir::State::lists=${join(apt, "lists")}`, `Dir::Cache=${apt}`].flatMap((word) => ["-o", word]);
  await finish("apt-get", [...folders, "--quiet=2", "update"]);
  const options = ["--yes", "--quiet=2", "--no-install-recommends", "--download-only", "--reinstall"];
  await finish("apt-get", [...folders, ...options, "install", ...names]);
  const unpacked = join(building, "unpacked");
  for (const name of readdirSync(join(apt, "archives")).filter((name) => name.endsWith(".deb"))) {
    await finish("dpkg-deb", ["--extract", join(apt, "archives", name), unpacked]);
  }
  await finish("rm", ["-rf", apt]);
  for (const name of readdirSync(unpacked)) renameSync(join(unpacked, name), join(building, name));
}

async function finish(program: string, args: readonly string[]): Promise<void> {
  const answer = await run(program, args, { env: { LC_ALL: "C", DEBIAN_FRONTEND: "noninteractive" } });
  if (answer.kind === "missing") throw new Error(`Cannot fetch Debian packages: there is no ${program}`);
  if (answer.code !== 0) throw new Error(`Cannot fetch Debian packages: ${program} said: ${answer.stderr.trim()}`);
}
