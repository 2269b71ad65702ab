/**
 * PublicApi: the public declarations of the package as lines, and what a change of them means for the version.
 *
 * A line is an entry, a name and its kind, and a digest of its declaration: `@pintle/controller ApiError class 1f0c…`. Members of
 * interfaces and classes have lines of their own: `@pintle/controller ConnectOptions.clock? interface 77ab…`.
 *
 * Guarantees: a name that is missing, and a declaration that is not the same, count as breaking: whether the new one accepts
 * what the old one did is not known here. So does a new property that users must set, of a type whose name ends in Options.
 * Comments, and where a declaration is, do not count.
 */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";

/** The package of a folder, as its deno.json describes it. */
export interface PackageSource {
  readonly folder: string;
  readonly name: string;
  /** Files by entry: `{ ".": "./src/mod.ts" }`. */
  readonly exports: Readonly<Record<string, string>>;
}

/** The lines, without their digests: the digest of each. */
export type PublicApi = ReadonlyMap<string, string>;

/** The part of a version that must rise. */
export type VersionPart = "major" | "minor" | "patch";

/** What has changed between two versions of a package. */
export interface ApiChanges {
  readonly removed: readonly string[];
  readonly changed: readonly string[];
  /** New properties that users must set. */
  readonly required: readonly string[];
  readonly added: readonly string[];
}

/** The part of `deno doc --json` (version 2) that is read here. */
interface Documentation {
  readonly nodes: Readonly<Record<string, { readonly symbols: readonly DocumentedSymbol[] }>>;
}

interface DocumentedSymbol {
  readonly name: string;
  readonly declarations: readonly Declaration[];
}

interface Declaration {
  readonly kind: string;
  readonly declarationKind: string;
  readonly def?: Readonly<Record<string, unknown>>;
}

interface Member {
  readonly name?: string;
  readonly optional?: boolean;
}

/** Reads the public declarations of a package. */
export async function publicApi({ folder, name, exports }: PackageSource): Promise<PublicApi> {
  const lists = await Promise.all(
    Object.entries(exports).map(async ([subpath, file]) => {
      const options = { cwd: folder, maxBuffer: 256 << 20 };
      const { stdout } = await promisify(execFile)(process.execPath, ["doc", "--json", join(folder, file)], options);
      return linesOf(JSON.parse(stdout), `${name}${subpath.slice(1)}`);
    }),
  );
  return new Map(lists.flat().sort(([left], [right]) => left < right ? -1 : 1));
}

/** The lines of one entry, with their digests. */
export function linesOf({ nodes }: Documentation, entry: string): readonly (readonly [line: string, digest: string])[] {
  const lines = new Map<string, unknown[]>();
  const add = (line: string, declared: unknown) => lines.set(line, [...lines.get(line) ?? [], declared]);
  for (const { name, declarations } of Object.values(nodes).flatMap(({ symbols }) => symbols)) {
    for (const { kind, def = {} } of declarations.filter(({ declarationKind }) => declarationKind === "export")) {
      const { properties, methods, ...rest } = def;
      const hasMembers = kind === "interface" || kind === "class";
      add(`${entry} ${name} ${kind}`, hasMembers ? rest : def);
      if (!hasMembers) continue;
      for (const member of [...membersOf(properties), ...membersOf(methods)]) {
        add(`${entry} ${name}.${member.name}${member.optional === true ? "?" : ""} ${kind}`, member);
      }
    }
  }
  return [...lines].map(([line, declared]) => [line, digestOf(declared)] as const);
}

function membersOf(value: unknown): readonly Member[] {
  return Array.isArray(value) ? value : [];
}

/** Says nothing about what callers may do. */
const ignored = new Set(["location", "jsDoc", "resolution", "hasBody", "isOverride", "isAsync", "isGenerator"]);

function digestOf(declared: unknown): string {
  const text = JSON.stringify(declared, (key, value) => {
    if (ignored.has(key)) return undefined;
    if (value === null || typeof value !== "object" || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).sort(([left], [right]) => left < right ? -1 : 1));
  });
  return createHash("sha256").update(text).digest("hex").slice(0, 12);
}

/** The API in a file, after a line with its version. */
export function printApi(version: string, api: PublicApi): string {
  return [version, ...[...api].map(([line, digest]) => `${line} ${digest}`), ""].join("\n");
}

/** Reads what {@link printApi} has printed. */
export function parseApi(text: string): { readonly version: string; readonly api: PublicApi } {
  const [version = "", ...lines] = text.trimEnd().split("\n");
  const api = new Map(lines.map((line) => {
    const space = line.lastIndexOf(" ");
    return [line.slice(0, space), line.slice(space + 1)] as const;
  }));
  return { version, api };
}

/** Compares two APIs. A property that becomes optional, or required, is another line, so that it has changed. */
export function compareApis(before: PublicApi, after: PublicApi): ApiChanges {
  const added = [...after.keys()].filter((line) => !before.has(line));
  const types = new Set([...before.keys()].map(ownerOf));
  const isRequired = (line: string) => /Options\.[^? ]+ interface$/.test(line) && types.has(ownerOf(line));
  return {
    removed: [...before.keys()].filter((line) => !after.has(line)),
    changed: [...before].filter(([line, digest]) => after.has(line) && after.get(line) !== digest).map(([line]) =>
      line
    ),
    required: added.filter(isRequired),
    added: added.filter((line) => !isRequired(line)),
  };
}

/** `@pintle/controller ConnectOptions` of a line about it or one of its members. */
function ownerOf(line: string): string {
  const [entry, name = ""] = line.split(" ");
  return `${entry} ${name.split(".")[0]}`;
}

/** The part of the version that must rise. Before 1.0, a minor version may break, and a patch may add (semver.org, 4). */
export function risingPart(version: string, { removed, changed, required, added }: ApiChanges): VersionPart {
  const isBeforeOne = version.startsWith("0.");
  if (removed.length + changed.length + required.length > 0) return isBeforeOne ? "minor" : "major";
  return added.length > 0 && !isBeforeOne ? "minor" : "patch";
}

const form = /^(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z.-]+))?$/;

/** True when `next` is a semantic version that is at least `version` with this part raised; its suffix does not count. */
export function isRaised(version: string, next: string, part: VersionPart): boolean {
  const [from, to] = [form.exec(version), form.exec(next)].map((match) => match?.slice(1, 4).map(Number));
  if (from === undefined || to === undefined) return false;
  const index = ["major", "minor", "patch"].indexOf(part);
  const least = from.map((value, at) => at < index ? value : at === index ? value + 1 : 0);
  const at = least.findIndex((value, at) => value !== to[at]);
  return at === -1 || (to[at] ?? 0) > (least[at] ?? 0);
}
