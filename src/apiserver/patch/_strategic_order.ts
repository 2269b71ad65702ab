/**
 * The order of lists in a strategic merge patch: items that the patch names stand as the patch has them, those that only the
 * server has as the server has them, and the two are interleaved by the server's order where it knows both.
 */
import { type DraftValue, isDraft, read } from "../model/mod.ts";
import { badType, missingMergeKey } from "./_strategic_errors.ts";

/** How to put a list in order. */
export interface Ordering {
  /** "" for a list of scalars. */
  readonly mergeKey: string;
  readonly isOfObjects: boolean;
  /** What the patch says of the order. */
  readonly patchOrder: readonly DraftValue[];
  /** The list as the server has it. */
  readonly serverOrder: readonly DraftValue[];
}

/** @throws Refusal 500 when an item has no merge key */
export function inOrder(
  patchItems: readonly DraftValue[],
  serverItems: readonly DraftValue[],
  ordering: Ordering,
): DraftValue[] {
  const patch = sortedBy(patchItems, ordering.patchOrder, ordering);
  const server = sortedBy(serverItems, ordering.serverOrder, ordering);
  return interleaved(server, patch, placesIn(ordering.serverOrder, ordering), ordering);
}

/** The items of a list that another list has, and those it has not. */
export function partition(
  items: readonly DraftValue[],
  present: readonly DraftValue[],
  mergeKey: string,
): { readonly inside: DraftValue[]; readonly outside: DraftValue[] } {
  const inside: DraftValue[] = [];
  const outside: DraftValue[] = [];
  const known = new Set<DraftValue | undefined>();
  for (const item of present) known.add(mergeKey === "" ? item : isDraft(item) ? read(item, mergeKey) : undefined);
  for (const item of items) {
    const identity = mergeKey === "" ? item : mergeKeyOf(item, mergeKey);
    (known.has(identity) ? inside : outside).push(item);
  }
  return { inside, outside };
}

/** The value of an item's merge key. @throws Refusal 500 when it has none */
export function mergeKeyOf(item: DraftValue, mergeKey: string): DraftValue {
  if (!isDraft(item)) throw badType("object", item);
  const value = read(item, mergeKey);
  if (value === undefined) throw missingMergeKey(item, mergeKey);
  return value;
}

function identityOf(item: DraftValue, { isOfObjects, mergeKey }: Ordering): DraftValue {
  return !isOfObjects ? item : isDraft(item) ? read(item, mergeKey) ?? null : null;
}

/** Where each item of a list stands first. */
function placesIn(list: readonly DraftValue[], ordering: Ordering): ReadonlyMap<DraftValue, number> {
  const places = new Map<DraftValue, number>();
  for (const [place, item] of list.entries()) {
    const identity = identityOf(item, ordering);
    if (!places.has(identity)) places.set(identity, place);
  }
  return places;
}

function sortedBy(items: readonly DraftValue[], order: readonly DraftValue[], ordering: Ordering): DraftValue[] {
  if (ordering.isOfObjects) { for (const item of [...items, ...order]) mergeKeyOf(item, ordering.mergeKey); }
  const isDeleted = (item: DraftValue): boolean =>
    ordering.isOfObjects && isDraft(item) && read(item, "$patch") === "delete";
  const kept = items.filter((item) => !isDeleted(item));
  const places = placesIn(order, ordering);
  const placeOf = (item: DraftValue): number | undefined => places.get(identityOf(item, ordering));
  // Insertion, as the rule is no order where an item has no place: then it goes before the one it is compared with.
  for (let index = 1; index < kept.length; index++) {
    for (let at = index; at > 0; at--) {
      const [left, right] = [kept[at - 1] ?? null, kept[at] ?? null];
      const [leftPlace, rightPlace] = [placeOf(left), placeOf(right)];
      if (leftPlace !== undefined && rightPlace !== undefined && rightPlace >= leftPlace) break;
      kept[at - 1] = right;
      kept[at] = left;
    }
  }
  return [...kept, ...items.filter(isDeleted)];
}

/** Two lists as one: of the next of each the one goes first that the server has first, else that of the patch. */
function interleaved(
  server: readonly DraftValue[],
  patch: readonly DraftValue[],
  places: ReadonlyMap<DraftValue, number>,
  ordering: Ordering,
): DraftValue[] {
  const result: DraftValue[] = [];
  let [s, p] = [0, 0];
  while (s < server.length || p < patch.length) {
    const [ours, theirs] = [server[s], patch[p]];
    const isServers = theirs === undefined || (ours !== undefined && isBefore(ours, theirs, places, ordering));
    result.push((isServers ? ours : theirs) ?? null);
    if (isServers) s++;
    else p++;
  }
  return result;
}

function isBefore(
  left: DraftValue,
  right: DraftValue,
  places: ReadonlyMap<DraftValue, number>,
  ordering: Ordering,
): boolean {
  const leftPlace = places.get(identityOf(left, ordering));
  const rightPlace = places.get(identityOf(right, ordering));
  return leftPlace !== undefined && rightPlace !== undefined && leftPlace < rightPlace;
}
