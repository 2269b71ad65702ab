/**
 * Ranges of sizes and costs, and sums and products of them that stay below 2^64, as the real server's estimator has them.
 */

/** From the least to the most. */
export interface Range {
  readonly min: number;
  readonly max: number;
}

/** The most there is: what is unbounded. */
export const maxEstimate = 2 ** 64;

export const unknownSize: Range = { min: 0, max: maxEstimate };

/** A range of one number. */
export function exactly(value: number): Range {
  return { min: value, max: value };
}

export function plus(left: Range, right: Range): Range {
  return { min: capped(left.min + right.min), max: capped(left.max + right.max) };
}

export function times(left: Range, right: Range): Range {
  return { min: capped(left.min * right.min), max: capped(left.max * right.max) };
}

/** Times a factor, rounded up. */
export function scaled(range: Range, factor: number): Range {
  return { min: capped(Math.ceil(range.min * factor)), max: capped(Math.ceil(range.max * factor)) };
}

/** The range that holds both. */
export function union(left: Range, right: Range): Range {
  return { min: Math.min(left.min, right.min), max: Math.max(left.max, right.max) };
}

/** A product of plain numbers with the same cap. */
export function cappedProduct(left: number, right: number): number {
  return left === 0 || right === 0 ? 0 : capped(left * right);
}

function capped(value: number): number {
  return Math.min(value, maxEstimate);
}
