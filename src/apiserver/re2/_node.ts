/**
 * The tree a regular expression is parsed into, and the sets of characters at its leaves. Characters are code points.
 */

/** A set of characters: ranges `[first, last, first, last, ...]`, and tests for what Unicode classes hold. */
export interface CharacterSet {
  readonly ranges: readonly number[];
  readonly tests: readonly ((character: number) => boolean)[];
  readonly isNegated: boolean;
  readonly foldsCase: boolean;
}

/** What a place in the text must be like; takes no character. */
export type Place = "beginText" | "endText" | "beginLine" | "endLine" | "wordBoundary" | "noWordBoundary";

/** One node of the tree. */
export type RegexNode =
  | { readonly kind: "empty" }
  | { readonly kind: "set"; readonly set: CharacterSet }
  | { readonly kind: "place"; readonly place: Place }
  | { readonly kind: "sequence"; readonly items: readonly RegexNode[] }
  | { readonly kind: "choice"; readonly items: readonly RegexNode[] }
  | {
    readonly kind: "repeat";
    readonly item: RegexNode;
    readonly min: number;
    /** Infinity for no end. */
    readonly max: number;
    readonly isGreedy: boolean;
  };

/** True when the set holds the character. */
export function holds(set: CharacterSet, character: number): boolean {
  if (!set.foldsCase) return isIn(set, character) !== set.isNegated;
  if (isIn(set, character)) return !set.isNegated;
  return foldsOf(character).some((folded) => isIn(set, folded)) !== set.isNegated;
}

/** The characters that differ from one only in case. */
function foldsOf(character: number): readonly number[] {
  const text = String.fromCodePoint(character);
  const folds: number[] = [];
  for (const folded of [text.toLowerCase(), text.toUpperCase(), text.toUpperCase().toLowerCase()]) {
    const point = folded.codePointAt(0);
    if (point !== undefined && [...folded].length === 1 && point !== character) folds.push(point);
  }
  return folds;
}

/** True when a range or a test of the set holds the character, whether the set is negated or not. */
export function isIn(set: CharacterSet, character: number): boolean {
  const { ranges } = set;
  for (let index = 0; index < ranges.length; index += 2) {
    if (character >= (ranges[index] ?? 0) && character <= (ranges[index + 1] ?? 0)) return true;
  }
  for (const test of set.tests) if (test(character)) return true;
  return false;
}
