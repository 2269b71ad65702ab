/** smallestSubset(): delta debugging: which of some faults or steps are needed for a violation. */

/** Options of {@link smallestSubset}. */
export interface SmallestSubsetOptions {
  /** Tries after which the smallest known subset is returned. @default Infinity */
  readonly maxTries?: number;
}

/**
 * Removes halves, quarters and so on, at last single items, as long as the rest is enough. The last one of several is kept.
 *
 * @param isEnough whether a subset still shows the violation
 * @returns a subset that is enough, in the order of the items; without any of its items it is not, if there were tries for that
 */
export async function smallestSubset<Item>(
  items: readonly Item[],
  isEnough: (subset: readonly Item[]) => Promise<boolean>,
  { maxTries = Infinity }: SmallestSubsetOptions = {},
): Promise<readonly Item[]> {
  let rest = items;
  let tries = 0;
  for (let size = Math.ceil(items.length / 2); rest.length > 1 && tries < maxTries;) {
    let isSmaller = false;
    for (let index = 0; index < rest.length && rest.length > 1 && tries < maxTries;) {
      const fewer = [...rest.slice(0, index), ...rest.slice(index + size)];
      if (fewer.length === 0) break;
      tries++;
      if (await isEnough(fewer)) [rest, isSmaller] = [fewer, true];
      else index += size;
    }
    if (size === 1 && !isSmaller) break;
    if (!isSmaller || size > rest.length / 2) size = Math.max(1, Math.floor(Math.min(size, rest.length) / 2));
  }
  return rest;
}
