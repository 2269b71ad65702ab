/**
 * Debian packages, unpacked into the user's cache: nothing is installed on the machine, and apt keeps its lists and
 * archives in the cache, too. Packages that the machine has installed are not fetched again.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { finish } from "../controlplane/finish.ts";
import { cacheDir, fillCache, type GoBuildOutcome } from "../controlplane/go_build.ts";
import { run } from "../controlplane/run.ts";

/**
 * Fetches packages, and those that they depend on and the machine lacks, with the machine's own apt sources.
 *
 * @returns The folder with the unpacked packages (`usr/...`), or why there is none.
 * @throws Error when apt fails.
 */
export async function debianPackages(names: readonly string[]): Promise<GoBuildOutcome> {
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
  const env = { LC_ALL: "C", DEBIAN_FRONTEND: "noninteractive" };
  await finish("apt-get", [...folders, "--quiet=2", "update"], { env });
  const options = ["--yes", "--quiet=2", "--no-install-recommends", "--download-only", "--reinstall"];
  await finish("apt-get", [...folders, ...options, "install", ...names], { env });
  const unpacked = join(building, "unpacked");
  for (const name of readdirSync(join(apt, "archives")).filter((name) => name.endsWith(".deb"))) {
    await finish("dpkg-deb", ["--extract", join(apt, "archives", name), unpacked]);
  }
  await finish("rm", ["-rf", apt]);
  for (const name of readdirSync(unpacked)) renameSync(join(unpacked, name), join(building, name));
}
