/**
 * The resourceVersion parameter as the storage reads it: text, to a revision.
 */

/** A revision, or why it is none, in the words of Go's strconv as they reach clients. */
export type ParsedVersion =
  | { readonly kind: "revision"; readonly revision: number }
  | { readonly kind: "malformed"; readonly why: string };

/** The largest number a resourceVersion can be: 2^64 - 1. */
const largest = 18446744073709551615n;

/** Parses what a client sent; "" is 0. */
export function parseResourceVersion(text: string): ParsedVersion {
  if (text === "") return { kind: "revision", revision: 0 };
  if (!/^[0-9]+$/.test(text)) {
    return { kind: "malformed", why: `strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax` };
  }
  if (text.length > 15 && BigInt(text) > largest) {
    return { kind: "malformed", why: `strconv.ParseUint: parsing ${JSON.stringify(text)}: value out of range` };
  }
  return { kind: "revision", revision: Number(text) };
}
