/**
 * The names in a new project. They follow from the name of the controller, unless flags give others.
 *
 * Guarantees: every name is valid for Kubernetes, TypeScript and the templates; an invalid name is rejected before a file is
 * written.
 */
import { builtin } from "../../api/mod.ts";
import { UsageError } from "../flags/mod.ts";

/** The names on the command line. */
interface NameOptions {
  readonly name: string;
  readonly kind: string | undefined;
  readonly group: string;
  /** The kinds that the controller owns. */
  readonly owned: readonly string[];
  /** Whether the kind and the group are those of a definition, which the API server has checked. */
  readonly isImported?: boolean;
}

/** All names of a new project. */
export interface Names {
  /** The name of the controller, the program and the folder: `web-site`. */
  readonly controller: string;
  /** The exported constant: `webSiteController`. */
  readonly constant: string;
  /** `WebSite`. */
  readonly kind: string;
  /** The name of the kind in the sources; another one when `WebSite` itself would mean something else there. */
  readonly type: string;
  /** `website`: the name of the kind in kubectl commands. */
  readonly singular: string;
  readonly group: string;
}

/** Longer names would make lines of the templates, or labels, too long. */
const maxNameLength = 40;

/** Names that TypeScript or the imports of the templates use. */
const reservedKinds: ReadonlySet<string> = new Set([
  "AdmissionWebhook",
  "Array",
  "BigInt",
  "Boolean",
  "Buffer",
  "Date",
  "Error",
  "Function",
  "Infer",
  "Infinity",
  "NaN",
  "Number",
  "Map",
  "Object",
  "Promise",
  "Readonly",
  "Record",
  "RegExp",
  "Set",
  "String",
  "Symbol",
  "Verdict",
  "World",
]);

/** Derives the names. @throws UsageError that says what is wrong, and suggests a valid name */
export function deriveNames(options: NameOptions): Names {
  const { name, kind = upperCamel(name), group, owned, isImported = false } = options;
  checkName(name);
  if (!isImported) {
    checkKind(kind);
    checkGroup(group);
  }
  const camel = upperCamel(name);
  const constant = `${camel.slice(0, 1).toLowerCase()}${camel.slice(1)}Controller`;
  const type = reservedKinds.has(kind) || owned.includes(kind) || !/^[A-Z]\w*$/.test(kind)
    ? `${upperFirst(kind)}Resource`
    : kind;
  return { controller: name, constant, kind, type, singular: kind.toLowerCase(), group };
}

/** Returns the versions of `v1,v2`. @throws UsageError when one is no version of Kubernetes, or appears twice */
export function checkedVersions(text: string): readonly string[] {
  const versions = text.split(",");
  const example = "Example: --versions v1,v2";
  const wrong = versions.find((version) => !/^v[1-9]\d{0,2}((alpha|beta)[1-9]\d{0,2})?$/.test(version));
  if (wrong !== undefined) {
    throw new UsageError(`Cannot use the version "${wrong}": it must be like v1, v1beta1 or v1alpha1`, example);
  }
  if (new Set(versions).size === versions.length) return versions;
  throw new UsageError(`Cannot use the versions "${text}": one of them appears twice`, example);
}

function checkName(name: string): void {
  if (/^[a-z]([-a-z0-9]*[a-z0-9])?$/.test(name) && name.length <= maxNameLength) return;
  const rule = `it must begin with a letter and have at most ${maxNameLength} of a-z, 0-9 and -`;
  const suggestion = kebab(name);
  throw new UsageError(
    `Cannot name a controller "${name}": ${rule}`,
    suggestion === "" || suggestion === name ? "Example: new website" : `Try: new ${suggestion}`,
  );
}

function checkKind(kind: string): void {
  if (!/^[A-Z][A-Za-z0-9]*$/.test(kind) || kind.length > maxNameLength) {
    const rule = `it must begin with a capital and have at most ${maxNameLength} letters and digits`;
    throw new UsageError(`Cannot name a kind "${kind}": ${rule}`, "Example: --kind WebSite");
  }
}

/** True for kinds of which Kubernetes has one of the same name in another group. */
export function isBuiltinKind(kind: string): boolean {
  return Object.values(builtin).some((resource) => resource.kind === kind);
}

/** The name of a controller for a kind: `WebSite` as `web-site`. */
export function controllerNameFor(kind: string): string {
  return kebab(kind);
}

function upperFirst(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1).replaceAll(/[^A-Za-z0-9]/g, "");
}

function checkGroup(group: string): void {
  const isDomain = group.length <= 63 &&
    /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$/.test(group);
  if (!isDomain) {
    const rule = "it must be a domain in lower case, with a dot, of at most 63 characters";
    throw new UsageError(`Cannot use the group "${group}": ${rule}`, "Example: --group shop.example.com");
  }
  if (!/(^|\.)(k8s|kubernetes)\.io$/.test(group)) return;
  throw new UsageError(`Cannot use the group "${group}": it belongs to Kubernetes`, "Use a domain that you own");
}

/** `web-site` as `WebSite`. */
function upperCamel(name: string): string {
  return name.split("-").map((part) => part.slice(0, 1).toUpperCase() + part.slice(1)).join("");
}

/** `My Web_Site` as `my-web-site`, as a suggestion. */
function kebab(name: string): string {
  const words = name.replaceAll(/([a-z0-9])([A-Z])/g, "$1-$2").toLowerCase().split(/[^a-z0-9]+/);
  return words.filter((word) => word !== "").join("-").replace(/^[0-9-]+/, "").slice(0, maxNameLength).replace(
    /-$/,
    "",
  );
}
