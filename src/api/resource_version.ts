/**
 * ResourceVersion: the logical clock of the server. Comparable since KEP-5504, if it is a decimal number.
 *
 * Versions are compared by length and then as text, not as floats, because etcd revisions may exceed 2^53 (behaviour
 * 18). A version that is not well formed can only be compared for equality.
 */

/**
 * The version of one object or of a whole list. It comes from the server; compare two with
 * {@link compareResourceVersions}. `_brand` exists only as a type, so that another string is not taken for a version.
 */
export type ResourceVersion = string & { readonly _brand: "ResourceVersion" };

/** Marks a string from the server as a ResourceVersion. */
export function resourceVersion(text: string): ResourceVersion {
  return text as ResourceVersion;
}

/** True for a decimal number without sign or leading zero: only those have an order. */
export function isComparable(version: string): boolean {
  if (version.length === 0) return false;
  const first = version.charCodeAt(0);
  if (first === 48) return version.length === 1;
  for (let index = 0; index < version.length; index++) {
    const code = version.charCodeAt(index);
    if (code < 48 || code > 57) return false;
  }
  return true;
}

/**
 * Compares two versions of objects of the same kind, or of two lists of it.
 *
 * @returns A number below 0 when `left` is older, above 0 when it is newer, 0 when they are equal; undefined when they
 * differ and one of them is not a decimal number.
 *
 * @example
 * ```ts
 * import { compareResourceVersions } from "@pintle/controller/client";
 *
 * console.assert(Math.sign(compareResourceVersions("99", "100") ?? 0) === -1);
 * console.assert(compareResourceVersions("99", "opaque") === undefined);
 * ```
 */
export function compareResourceVersions(left: string, right: string): number | undefined {
  if (left === right) return 0;
  if (!isComparable(left) || !isComparable(right)) return undefined;
  if (left.length !== right.length) return left.length - right.length;
  return left < right ? -1 : 1;
}
