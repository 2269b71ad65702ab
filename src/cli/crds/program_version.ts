/**
 * The mark that `install-crds` leaves on a definition: which program, and which version of it, brought it. So an older
 * program knows that it is the older one, and does not put its own definition over a newer one.
 */
import type { Crd, StoredCrd } from "../../schema/mod.ts";

/** A program and its version. */
export interface Program {
  readonly name: string;
  /** `1.4.0`; anything else, as "dev", is neither newer nor older than any other. */
  readonly version: string;
}

/** `controller/1.4.0`. */
export const installedBy = "pintle.dev/installed-by";

/** The definition with the mark of `program`, where its version can be put in order. */
export function marked(crd: Crd, program: Program): Crd {
  if (partsOf(program.version) === undefined) return crd;
  const annotations = { ...crd.metadata.annotations, [installedBy]: `${program.name}/${program.version}` };
  return { ...crd, metadata: { ...crd.metadata, annotations } };
}

/** The version of the program `name` that installed a definition; undefined when another one did, or nobody says. */
export function installerVersion(live: StoredCrd, name: string): string | undefined {
  const mark = live.metadata.annotations?.[installedBy] ?? "";
  const at = mark.lastIndexOf("/");
  return at >= 0 && mark.slice(0, at) === name ? mark.slice(at + 1) : undefined;
}

/**
 * Puts two versions in the order of semver.org, section 11.
 *
 * @returns below 0 when `left` is older; undefined when either is no semantic version.
 */
export function compareVersions(left: string, right: string): number | undefined {
  const [a, b] = [partsOf(left), partsOf(right)];
  if (a === undefined || b === undefined) return undefined;
  for (const [index, number] of a.numbers.entries()) {
    const difference = number - (b.numbers[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return comparePrereleases(a.prerelease, b.prerelease);
}

interface Parts {
  readonly numbers: readonly number[];
  readonly prerelease: readonly string[];
}

function partsOf(version: string): Parts | undefined {
  const match = /^v?(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?:-([0-9A-Za-z.-]{1,64}))?(?:\+[0-9A-Za-z.-]*)?$/.exec(version);
  if (match === null) return undefined;
  const [, major, minor, patch, prerelease = ""] = match;
  return {
    numbers: [Number(major), Number(minor), Number(patch)],
    prerelease: prerelease === "" ? [] : prerelease.split("."),
  };
}

/** A release is newer than its prereleases; of their identifiers numbers are older than words. */
function comparePrereleases(left: readonly string[], right: readonly string[]): number {
  if (left.length === 0 || right.length === 0) return right.length - left.length;
  for (const [index, a] of left.entries()) {
    const b = right[index];
    if (b === undefined) return 1;
    if (a === b) continue;
    const [isNumberA, isNumberB] = [/^\d+$/.test(a), /^\d+$/.test(b)];
    if (isNumberA && isNumberB) return Number(a) - Number(b);
    if (isNumberA !== isNumberB) return isNumberA ? -1 : 1;
    return a < b ? -1 : 1;
  }
  return left.length - right.length;
}
