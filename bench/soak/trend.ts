/** Trends of samples over time: the slope of a line through them, and whether a series stays flat. */
import { median } from "../statistics.ts";

/** A value at a time. */
export interface Point {
  /** Seconds since the beginning. */
  readonly at: number;
  readonly value: number;
}

/** How a series went after its first third, in which caches fill and code is compiled. */
export interface Trend {
  /** The change in an hour, in the unit of the values. */
  readonly perHour: number;
  /** The medians of the second and of the last third. */
  readonly middle: number;
  readonly last: number;
  /** The last third is not higher than the second one, but for the tolerance. */
  readonly isFlat: boolean;
}

/** The slope of the straight line with the least squared distances, per second. @throws RangeError for fewer than two times */
export function slope(points: readonly Point[]): number {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [time, value] = [mean(points.map(({ at }) => at)), mean(points.map((point) => point.value))];
  const spread = points.reduce((sum, { at }) => sum + (at - time) ** 2, 0);
  if (!(spread > 0)) throw new RangeError("Cannot compute a slope: it needs values at two times");
  return points.reduce((sum, point) => sum + (point.at - time) * (point.value - value), 0) / spread;
}

/**
 * @param tolerance How much higher the last third may be: the larger of a share of the second third and an absolute value
 * @throws RangeError when a third has no points
 */
export function trend(points: readonly Point[], tolerance: { readonly share: number; readonly value: number }): Trend {
  const end = points.at(-1)?.at ?? 0;
  const between = (from: number, to: number) => points.filter(({ at }) => at >= end * from && at <= end * to);
  const [middle, last] = [between(1 / 3, 2 / 3), between(2 / 3, 1)].map((third) =>
    median(third.map((one) => one.value))
  );
  if (middle === undefined || last === undefined) throw new RangeError("Cannot compute a trend: there are no points");
  const isFlat = last - middle <= Math.max(tolerance.value, middle * tolerance.share);
  return { perHour: slope(between(1 / 3, 1)) * 3_600, middle, last, isFlat };
}
