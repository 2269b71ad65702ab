/**
 * Names of images: `registry.example.com/team/operator:1.2.3`, also short ones as docker reads them (`operator:1.2.3`).
 * The grammar is that of github.com/distribution/reference, without digests: nobody can choose the digest of a new image.
 */

/** A name with everything that people leave out. */
export interface ImageName {
  /** As it was written, with its tag: what docker shows. */
  readonly short: string;
  /** With registry and folder: what containerd stores and Kubernetes asks for. */
  readonly full: string;
  readonly tag: string;
}

const registry =
  /^(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*|\[[0-9a-fA-F:]+\])(?::\d{1,5})?$/;
const component = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*$/;
const tagPattern = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;
/** The limit of the distribution specification, for everything before the tag. */
const maxNameLength = 255;

/** Reads a name. Without a tag, `tag` is used. @returns why it is no name, in a sentence that ends `it …` */
export function parseImageName(text: string, tag: string): ImageName | string {
  if (text.includes("@")) return "it has a digest, which only the finished image has";
  if (text.length > maxNameLength) return `it has more than ${maxNameLength} characters`;
  const colon = text.lastIndexOf(":");
  const hasTag = colon > text.lastIndexOf("/");
  const [name, written] = hasTag ? [text.slice(0, colon), text.slice(colon + 1)] : [text, tag];
  if (!tagPattern.test(written)) {
    return `its tag "${written}" is not at most 128 letters, digits and _.- that begin with a letter, a digit or _`;
  }
  const [first = "", ...rest] = name.split("/");
  const isRegistry = rest.length > 0 && (/[.:]/.test(first) || first === "localhost" || first !== first.toLowerCase());
  const path = isRegistry ? rest : [first, ...rest];
  if (isRegistry && !registry.test(first)) {
    return `"${first}" is not a registry: a host name, and a port if it needs one`;
  }
  const wrong = path.find((part) => !component.test(part));
  if (wrong !== undefined) {
    return wrong === wrong.toLowerCase()
      ? `"${wrong}" is not a part of a name: lower-case letters and digits, separated by one of . _ __ -`
      : `"${wrong}" has upper-case letters`;
  }
  const full = isRegistry ? name : `docker.io/${path.length === 1 ? "library/" : ""}${name}`;
  return { short: `${name}:${written}`, full: `${full}:${written}`, tag: written };
}

/** A version as a tag: `1.2.3+build` has a character that tags do not have. */
export function tagOf(version: string): string {
  return version.replaceAll(/[^A-Za-z0-9_.-]/g, "-").replace(/^[.-]+/, "").slice(0, 128) || "latest";
}
