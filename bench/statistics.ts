/**
 * Statistics of the benchmark: quantiles of a few samples, and the ratio of the largest to the smallest.
 *
 * A quantile between two samples is interpolated linearly (type 7 of Hyndman and Fan, the default of R and NumPy).
 */

/**
 * Returns the value below which the share `q` of the values lies.
 *
 * @param q From 0, the smallest value, to 1, the largest.
 * @throws RangeError when there are no values, or `q` is not between 0 and 1.
 */
export function quantile(values: readonly number[], q: number): number {
  if (values.length === 0) throw new RangeError("Cannot compute a quantile: there are no values");
  if (!(q >= 0 && q <= 1)) throw new RangeError(`Cannot compute a quantile: ${q} is not between 0 and 1`);
  const sorted = values.toSorted((left, right) => left - right);
  const position = q * (sorted.length - 1);
  const below = sorted[Math.floor(position)] ?? NaN;
  const above = sorted[Math.ceil(position)] ?? NaN;
  return below + (above - below) * (position - Math.floor(position));
}

/** The value in the middle. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The ratio of the largest value to the smallest one. */
export function spread(values: readonly number[]): number {
  return quantile(values, 1) / quantile(values, 0);
}
