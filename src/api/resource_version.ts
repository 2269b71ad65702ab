/**
 * ResourceVersion: the server's own clock. Opaque by contract, comparable since KEP-5504 when it is a decimal number.
 *
 * Compared as length, then text; never as a float, because etcd revisions may exceed 2^53 (behaviours.md 18). One
 * that is not well formed is only ever compared for equality, and whoever needs an order must then do without.
 */
declare const brand: unique symbol;

/** The version of one object or of a whole list. Never mix it with another string. */
export type ResourceVersion = string & { readonly [brand]: "ResourceVersion" };

/** Marks a string the server gave as a ResourceVersion. */
export function resourceVersion(text: string): ResourceVersion {
  return text as ResourceVersion;
}

/** True for a decimal number without sign or leading zero: what can be put in order. */
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
 * Puts two versions in order: below 0, 0 or above 0, as a sort wants it.
 *
 * @returns undefined when either of them is not comparable and they are not equal.
 */
export function compareResourceVersions(left: string, right: string): number | undefined {
  if (left === right) return 0;
  if (!isComparable(left) || !isComparable(right)) return undefined;
  if (left.length !== right.length) return left.length - right.length;
  return left < right ? -1 : 1;
}
