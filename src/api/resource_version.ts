/**
 * ResourceVersion: the logical clock of the server. Comparable since KEP-5504, if it is a decimal number.
 *
 * Versions are compared by length and then as text, not as floats, because etcd revisions may exceed 2^53 (behaviour
 * 18). A version that is not well formed can only be compared for equality.
 */
declare const brand: unique symbol;

/** The version of one object or of a whole list. A brand, so that it is not confused with another string. */
export type ResourceVersion = string & { readonly [brand]: "ResourceVersion" };

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
 * Compares two versions: below 0, 0 or above 0, as `Array.sort` needs it.
 *
 * @returns undefined when either of them is not comparable and they are not equal.
 */
export function compareResourceVersions(left: string, right: string): number | undefined {
  if (left === right) return 0;
  if (!isComparable(left) || !isComparable(right)) return undefined;
  if (left.length !== right.length) return left.length - right.length;
  return left < right ? -1 : 1;
}
