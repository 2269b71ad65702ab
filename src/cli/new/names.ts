/**
 * The names in what `new` writes: each follows from the controller's, unless it was given, and each is one that
 * Kubernetes, TypeScript and the templates can live with. Everything is refused here, before a file is written.
 */
import { builtin } from "../../api/mod.ts";
import { UsageError } from "../usage_error.ts";

/** What was typed. */
export interface GivenNames {
  readonly name: string;
  readonly kind: string | undefined;
  readonly group: string;
}

/** All names of a new controller. */
export interface Names {
  /** Of the controller, the program and the folder: `web-site`. */
  readonly controller: string;
  /** Of the exported constant: `webSiteController`. */
  readonly constant: string;
  /** `WebSite`. */
  readonly kind: string;
  /** `website`, as kubectl takes it. */
  readonly singular: string;
  readonly group: string;
}

/** So that no line of what is written is too long, and no label either. */
const longest = 40;

/** What cannot be the name of a type and of a value beside what the templates import. */
const taken: ReadonlySet<string> = new Set([
  "BigInt",
  "Boolean",
  "Function",
  "Infer",
  "Infinity",
  "NaN",
  "Number",
  "Object",
  "String",
  "Symbol",
  "World",
]);

/** @throws UsageError that names what is wrong, and a name that would do. */
export function namesOf({ name, kind = upperCamel(name), group }: GivenNames): Names {
  checkName(name);
  checkKind(kind);
  checkGroup(group);
  const camel = upperCamel(name);
  const constant = `${camel.slice(0, 1).toLowerCase()}${camel.slice(1)}Controller`;
  return { controller: name, constant, kind, singular: kind.toLowerCase(), group };
}

function checkName(name: string): void {
  if (/^[a-z]([-a-z0-9]*[a-z0-9])?$/.test(name) && name.length <= longest) return;
  const rule = `it must begin with a letter and have at most ${longest} of a-z, 0-9 and -`;
  const better = kebab(name);
  throw new UsageError(
    `Cannot name a controller "${name}": ${rule}`,
    better === "" || better === name ? "Example: new website" : `Try: new ${better}`,
  );
}

function checkKind(kind: string): void {
  if (!/^[A-Z][A-Za-z0-9]*$/.test(kind) || kind.length > longest) {
    const rule = `it must begin with a capital and have at most ${longest} letters and digits`;
    throw new UsageError(`Cannot name a kind "${kind}": ${rule}`, "Example: --kind WebSite");
  }
  const isKubernetes = Object.values(builtin).some((resource) => resource.kind === kind);
  if (!isKubernetes && !taken.has(kind)) return;
  const owner = isKubernetes ? "Kubernetes has a kind of that name" : "that word is TypeScript's, or this library's";
  throw new UsageError(`Cannot name a kind "${kind}": ${owner}`, `Try: --kind My${kind}`);
}

function checkGroup(group: string): void {
  const isDomain = group.length <= 63 &&
    /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$/.test(group);
  if (!isDomain) {
    const rule = "it must be a domain in lower case, with a dot, of at most 63 characters";
    throw new UsageError(`Cannot use the group "${group}": ${rule}`, "Example: --group shop.example.com");
  }
  if (!/(^|\.)(k8s|kubernetes)\.io$/.test(group)) return;
  throw new UsageError(`Cannot use the group "${group}": it belongs to Kubernetes`, "Use a domain that is yours");
}

/** `web-site` as `WebSite`. */
function upperCamel(name: string): string {
  return name.split("-").map((part) => part.slice(0, 1).toUpperCase() + part.slice(1)).join("");
}

/** `My Web_Site` as `my-web-site`: what was probably meant. */
function kebab(name: string): string {
  const words = name.replaceAll(/([a-z0-9])([A-Z])/g, "$1-$2").toLowerCase().split(/[^a-z0-9]+/);
  return words.filter((word) => word !== "").join("-").replace(/^[0-9-]+/, "").slice(0, longest).replace(/-$/, "");
}
