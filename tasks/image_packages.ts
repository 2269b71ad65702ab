/**
 * Writes src/cli/image/debian_packages.ts anew: the newest versions of Debian's packages in images. Run it when Debian
 * has published an update; --check only says whether it has.
 *
 *   deno task image:packages [--check]
 *
 * Guarantee: each checksum comes from a list that Debian signed. It needs gpgv with the keyring of Debian, and dpkg, which
 * compares versions.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { type DebianPackage, debianRelease, libraryPackages } from "../src/cli/image/debian_packages.ts";
import { mirrorOfMachine, urlOf } from "../src/cli/image/debian_mirror.ts";
import { root } from "./_root.ts";

const keyring = "/usr/share/keyrings/debian-archive-keyring.gpg";
const file = join(root, "src", "cli", "image", "debian_packages.ts");
const architectures = ["amd64", "arm64"] as const;
const suites = [
  { archive: "debian", name: debianRelease.codename },
  { archive: "debian-security", name: `${debianRelease.codename}-security` },
] as const;

const mirror = await mirrorOfMachine() ?? missingMirror();

function missingMirror(): never {
  throw new Error("Cannot read Debian's lists: the sources of apt name no mirror of Debian");
}

/** Programs read and write files here: Deno waits for ever for one that fills its output while it is given its input. */
const folder = mkdtempSync(join(tmpdir(), "pintle-image-packages-"));

function keep(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

type Suite = typeof suites[number];

async function download(suite: Suite, path: string): Promise<Uint8Array<ArrayBuffer>> {
  const url = urlOf({ archive: suite.archive, path: `dists/${suite.name}/${path}` }, mirror);
  const response = await fetch(url);
  if (!response.ok) throw new Error(`Cannot fetch ${url}: ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}

/** The signed text of a suite: checksums of its lists. @throws Error when Debian has not signed it */
async function signedRelease(suite: Suite): Promise<string> {
  const path = keep(`${suite.name}-InRelease`, await download(suite, "InRelease"));
  const signed = `${path}.text`;
  const { status, stderr } = spawnSync("gpgv", ["--keyring", keyring, "--output", signed, path], { encoding: "utf8" });
  if (status === 0) return readFileSync(signed, "utf8");
  throw new Error(`Cannot trust the suite ${suite.name}: gpgv ended with ${status}\n${stderr}`);
}

/** All packages of a suite for one architecture, from a list with the signed checksum. */
async function packagesOf(suite: Suite, release: string, architecture: string): Promise<readonly DebianPackage[]> {
  const path = `main/binary-${architecture}/Packages.xz`;
  const bytes = await download(suite, path);
  const checksum = createHash("sha256").update(bytes).digest("hex");
  if (!release.includes(` ${checksum} ${String(bytes.length).padStart(8)} ${path}\n`)) {
    throw new Error(`Cannot trust ${path} of ${suite.name}: its checksum is not the signed one`);
  }
  execFileSync("xz", ["--decompress", "--force", keep(`${suite.name}-${architecture}.xz`, bytes)]);
  const list = readFileSync(join(folder, `${suite.name}-${architecture}`), "utf8");
  return list.split("\n\n").flatMap((paragraph) => packageOf(paragraph, suite));
}

function packageOf(paragraph: string, { archive }: Suite): readonly DebianPackage[] {
  const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(paragraph)?.[1] ?? "";
  const architecture = field("Architecture");
  if (architecture !== "all" && architecture !== "amd64" && architecture !== "arm64") return [];
  const [name, version, path, sha256] = [field("Package"), field("Version"), field("Filename"), field("SHA256")];
  return [{ name, version, architecture, archive, path, sizeBytes: Number(field("Size")), sha256 }];
}

/** The newest package of a name. */
function newest(name: string, packages: readonly DebianPackage[]): DebianPackage {
  const found = packages.filter((one) => one.name === name).reduce<DebianPackage | undefined>((best, next) => {
    const isNewer = best === undefined ||
      spawnSync("dpkg", ["--compare-versions", next.version, "gt", best.version]).status === 0;
    return isNewer ? next : best;
  }, undefined);
  if (found === undefined) throw new Error(`Cannot find the package ${name}: Debian ${debianRelease.version} has none`);
  return found;
}

/** `20261121T010000Z`: the date of the newest list, as the snapshots write it. */
function snapshotOf(releases: readonly string[]): string {
  const dates = releases.map((release) => Date.parse(/^Date: (.*)$/m.exec(release)?.[1] ?? ""));
  return new Date(Math.max(...dates)).toISOString().replaceAll(/[-:]|\.\d+/g, "");
}

/** The text after `export const NAME… = `, up to the line that ends it, with another value. */
function replaced(text: string, name: string, value: unknown): string {
  const pattern = new RegExp(`(export const ${name}\\b[^=]*= )[\\s\\S]*?;\\n`);
  if (!pattern.test(text)) throw new Error(`Cannot write ${file}: it has no ${name}`);
  return text.replace(pattern, (_, begin) => `${begin}${literal(value)};\n`);
}

/** A value as TypeScript has it: names of fields without quotation marks. */
function literal(value: unknown): string {
  return JSON.stringify(value, undefined, 2).replaceAll(/"(\w+)":/g, "$1:");
}

const releases = await Promise.all(suites.map(signedRelease));
const lists = new Map<string, readonly DebianPackage[]>();
for (const architecture of architectures) {
  const packages = await Promise.all(
    suites.map((suite, index) => packagesOf(suite, releases[index] ?? "", architecture)),
  );
  lists.set(architecture, packages.flat());
}
const names = libraryPackages["linux/amd64"].map(({ name }) => name);
const libraries = Object.fromEntries(
  [...lists].map(([architecture, list]) => [`linux/${architecture}`, names.map((name) => newest(name, list))]),
);
const before = readFileSync(file, "utf8");
let text = replaced(before, "certificatesPackage", newest("ca-certificates", lists.get("amd64") ?? []));
text = replaced(text, "libraryPackages", libraries);
const formatted = (source: string) => {
  const path = keep("packages.ts", source);
  execFileSync(process.execPath, ["fmt", "--quiet", "--config", join(root, "deno.json"), path]);
  return readFileSync(path, "utf8");
};
if (formatted(text) === before) console.log("Debian has no newer packages");
else if (process.argv.includes("--check")) {
  console.error("Debian has newer packages: run deno task image:packages");
  process.exitCode = 1;
} else {
  writeFileSync(file, formatted(replaced(text, "snapshotDate", snapshotOf(releases))));
  console.log(`wrote ${file}`);
}
rmSync(folder, { recursive: true });
