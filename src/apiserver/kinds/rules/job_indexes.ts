/** Numbers of Pods as Jobs write them: `0,2-5,9`. */

/** What a text of indexes says. */
export interface Indexes {
  /** How many there are; 0 where the text cannot be read. */
  readonly total: number;
  readonly error: string | undefined;
  readonly intervals: readonly (readonly [first: number, last: number])[];
}

/** Reads indexes. @param completions each must be less than it */
export function indexesOf(text: string, completions: number): Indexes {
  const intervals: (readonly [number, number])[] = [];
  const failed = (error: string): Indexes => ({ total: 0, error, intervals });
  for (const part of text === "" ? [] : text.split(",")) {
    const limits = part.split("-");
    if (limits.length > 2) {
      const rule = "the requirement that an index interval can have at most two parts separated by '-'";
      return failed(`the fragment ${JSON.stringify(part)} violates ${rule}`);
    }
    for (const limit of limits) {
      if (!/^\+?\d+$/.test(limit)) {
        return failed(`cannot convert string to integer for index: ${JSON.stringify(limit)}`);
      }
      if (Number(limit) >= completions) return failed(`too large index: ${JSON.stringify(limit)}`);
    }
    const [first, last] = [Number(limits[0]), Number(limits.at(-1))];
    if (limits.length === 2 && first >= last) return failed(outOfOrder(first, last));
    const before = intervals.at(-1);
    if (before !== undefined && before[1] >= first) return failed(outOfOrder(before[1], first));
    intervals.push([first, last]);
  }
  return { total: intervals.reduce((sum, [first, last]) => sum + last - first + 1, 0), error: undefined, intervals };
}

function outOfOrder(previous: number, current: number): string {
  return `non-increasing order, previous: ${previous}, current: ${current}`;
}

/** The first index that is in both; undefined where there is none. */
export function overlapOf(left: Indexes, right: Indexes): number | undefined {
  for (const [first, last] of left.intervals) {
    for (const [start, end] of right.intervals) if (first <= end && start <= last) return Math.max(first, start);
  }
  return undefined;
}
