/**
 * The bill of materials of a program: CycloneDX 1.6, which scanners for vulnerabilities and licences read.
 *
 * Guarantees: it names what is really inside: the packages of which Bun put a file into the binary, with the checksum of
 * their archives from the lockfile; the runtime; and Debian's packages in the image. The same content gives the same text.
 */
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { findText, joinPath, resolvePath } from "../../runtime/mod.ts";
import type { DebianPackage } from "./debian_packages.ts";
import { debianRelease } from "./debian_packages.ts";

/** A package of which at least one file is in the binary. */
export interface BundledPackage {
  readonly name: string;
  readonly version: string;
  /** An SPDX expression, from the package itself. */
  readonly license: string | undefined;
  /** The checksum of its archive in the lockfile: `sha512-` and Base64. */
  readonly integrity: string | undefined;
}

/** The part of a CycloneDX document that is used here. */
export interface BillOfMaterials {
  readonly bomFormat: "CycloneDX";
  readonly specVersion: "1.6";
  readonly version: 1;
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
}

interface Component {
  readonly type: "application" | "library" | "platform";
  readonly name: string;
  readonly version: string;
  readonly purl?: string;
  readonly licenses?: readonly License[];
  readonly hashes?: readonly { readonly alg: "SHA-256" | "SHA-512"; readonly content: string }[];
}

type License = { readonly expression: string } | { readonly license: { readonly name: string } };

/** What a bill lists. */
export interface BillContent {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
  readonly binary: Uint8Array;
  /** Undefined for a binary that this program did not compile. */
  readonly bunVersion: string | undefined;
  readonly packages: readonly BundledPackage[];
  /** @default none, for a binary without an image */
  readonly systemPackages?: readonly DebianPackage[];
}

/** Makes the bill of materials. */
export function billOfMaterials(content: BillContent): BillOfMaterials {
  const { name, version, license, binary, bunVersion, packages, systemPackages = [] } = content;
  const digest = createHash("sha256").update(binary).digest("hex");
  return {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      component: {
        type: "application",
        name,
        version,
        ...licensesOf(license),
        hashes: [{ alg: "SHA-256", content: digest }],
      },
    },
    components: [
      ...(bunVersion === undefined
        ? []
        : [{ type: "platform", name: "bun", version: bunVersion, purl: `pkg:npm/bun@${bunVersion}` } as const]),
      ...packages.map(libraryOf),
      ...systemPackages.map(systemPackageOf),
    ],
  };
}

function libraryOf({ name, version, license, integrity }: BundledPackage): Component {
  const digest = integrity?.startsWith("sha512-") === true ? integrity.slice("sha512-".length) : undefined;
  const content = digest === undefined ? undefined : Buffer.from(digest, "base64").toString("hex");
  return {
    type: "library",
    name,
    version,
    purl: `pkg:npm/${name.replace("@", "%40")}@${version}`,
    ...licensesOf(license),
    ...(content === undefined ? {} : { hashes: [{ alg: "SHA-512", content }] }),
  };
}

function systemPackageOf({ name, version, architecture, sha256 }: DebianPackage): Component {
  const distribution = `debian-${debianRelease.version}`;
  return {
    type: "library",
    name,
    version,
    purl: `pkg:deb/debian/${name}@${encodeURIComponent(version)}?arch=${architecture}&distro=${distribution}`,
    hashes: [{ alg: "SHA-256", content: sha256 }],
  };
}

/** Free text, such as "SEE LICENSE IN LICENSE", is no expression. */
function licensesOf(license: string | undefined): { readonly licenses?: readonly License[] } {
  if (license === undefined) return {};
  const isExpression = /^[A-Za-z0-9.+()-]+( (AND|OR|WITH) [A-Za-z0-9.+()-]+)*$/.test(license);
  return { licenses: [isExpression ? { expression: license } : { license: { name: license } }] };
}

/**
 * The packages that Bun put into a binary, sorted by name.
 *
 * @param metafile What Bun wrote about the build.
 * @param folder The folder that the paths in it are relative to.
 */
export async function bundledPackages(metafile: string, folder: string): Promise<readonly BundledPackage[]> {
  const { inputs } = JSON.parse(metafile);
  const folders = new Set(Object.keys(inputs).map(packageFolder).filter((found) => found !== undefined));
  const pins = await lockedPackages(folder);
  const found = new Map<string, BundledPackage>();
  for (const path of [...folders].sort()) {
    const text = await findText(joinPath(resolvePath(folder, path), "package.json"));
    const { name, version, license } = JSON.parse(text ?? "{}");
    if (typeof name !== "string" || typeof version !== "string") continue;
    const pin = `${name}@${version}`;
    found.set(pin, { name, version, license: licenseText(license), integrity: pins.get(pin) });
  }
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, bundled]) => bundled);
}

/** Old packages have an object. */
function licenseText(license: unknown): string | undefined {
  if (typeof license === "string") return license;
  const type = typeof license === "object" && license !== null && "type" in license ? license.type : undefined;
  return typeof type === "string" ? type : undefined;
}

/** The folder of the package that a file belongs to. @returns undefined for a file of the project */
function packageFolder(file: string): string | undefined {
  return /^.*node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/@]+(?=[\\/])/.exec(file)?.[0];
}

/** The checksums in the lockfile of the project, in its folder or above it: `name@version` and `sha512-…`. */
async function lockedPackages(folder: string): Promise<ReadonlyMap<string, string>> {
  for (let here = folder;;) {
    for (const [file, pinsOf] of lockFiles) {
      const text = await findText(joinPath(here, file));
      if (text !== undefined) return new Map(pinsOf(text));
    }
    const above = resolvePath(here, "..");
    if (above === here) return new Map();
    here = above;
  }
}

type Pin = readonly [pin: string, integrity: string];

/** How each package manager writes its pins. */
const lockFiles: readonly (readonly [file: string, pinsOf: (text: string) => readonly Pin[]])[] = [
  ["deno.lock", denoPins],
  ["package-lock.json", npmPins],
  ["bun.lock", bunPins],
];

/** `{ npm: { "name@version_peers": { integrity } } }` */
function denoPins(text: string): readonly Pin[] {
  return entriesOf(JSON.parse(text).npm).flatMap(([key, { integrity }]) => {
    const at = key.indexOf("@", 1);
    const [version = ""] = key.slice(at + 1).split("_");
    return pinOf(`${key.slice(0, at)}@${version}`, integrity);
  });
}

/** `{ packages: { "node_modules/name": { version, integrity } } }` */
function npmPins(text: string): readonly Pin[] {
  return entriesOf(JSON.parse(text).packages).flatMap(([path, { version, integrity }]) =>
    pinOf(`${path.replace(/^.*node_modules\//, "")}@${version}`, integrity)
  );
}

/** `{ packages: { name: ["name@version", registry, dependencies, integrity] } }`, with commas that JSON does not have. */
function bunPins(text: string): readonly Pin[] {
  return entriesOf(JSON.parse(text.replaceAll(/,(\s*[\]}])/g, "$1")).packages).flatMap(([, entry]) =>
    pinOf(String(entry[0]), entry[3])
  );
}

// The lockfiles are JSON of others: what has another form has no pins.
// deno-lint-ignore no-explicit-any
function entriesOf(value: any): readonly (readonly [string, any])[] {
  return typeof value === "object" && value !== null ? Object.entries(value) : [];
}

function pinOf(pin: string, integrity: unknown): readonly Pin[] {
  return typeof integrity === "string" ? [[pin, integrity]] : [];
}
