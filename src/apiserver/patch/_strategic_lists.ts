/**
 * Lists in a strategic merge patch: merges lists of scalars as sets and lists of objects by their merge key, deletes items, and
 * orders the result. Items in the patch have the order of the patch, other items the order of the live list, and both are
 * interleaved by the live order where it has both.
 */
import {
  badRequest,
  type Draft,
  type DraftValue,
  goPlain,
  goType,
  isDraft,
  read,
  StatusError,
  type TypeSchema,
} from "../model/mod.ts";

/** The patch strategy of a field. */
export interface FieldPatch {
  /** The type of the field, or of the items of a list. */
  readonly type: TypeSchema;
  readonly isMerged: boolean;
  readonly isReplaced: boolean;
  /** "" for none. */
  readonly mergeKey: string;
  /** Merges an item of a patch into the one with its key. */
  readonly mergeObjects: (original: Draft, patch: Draft, type: TypeSchema) => Draft;
}

/**
 * Merges a list of a patch into the live list.
 *
 * @param isDeletion true when the list of the patch has the items to delete (`$deleteFromPrimitiveList`)
 */
export function mergeLists(
  before: DraftValue[],
  change: DraftValue[],
  field: FieldPatch,
  isDeletion: boolean,
): DraftValue[] {
  if (before.length === 0 && change.length === 0) return before;
  const isOfObjects = elementType(before, change) === "map[string]interface {}";
  if (!isOfObjects && isDeletion) {
    const deleted = new Set(change);
    return before.filter((item) => !deleted.has(item));
  }
  const { mergeKey } = field;
  if (!isOfObjects) {
    const merged = deduplicated([...before, ...change]);
    const { inside, outside } = partition(merged, change, mergeKey);
    return inOrder(inside, outside, { mergeKey, isOfObjects, patchOrder: change, serverOrder: before });
  }
  if (mergeKey === "") throw failed("cannot merge lists without merge key for struct");
  const { remaining, patch } = withDirectivesApplied(before, change, mergeKey);
  const serverOrder = remaining.items();
  mergeItems(remaining, patch, field);
  const { inside, outside } = partition(remaining.items(), patch, mergeKey);
  return inOrder(inside, outside, { mergeKey, isOfObjects, patchOrder: patch, serverOrder });
}

/**
 * A list that shares its memory with another list, like a slice in Go: an item that is appended after a deletion overwrites
 * the last item of the shared list. The order of a merged list in kube-apiserver depends on this.
 */
class Slice {
  readonly #whole: DraftValue[];
  readonly #beyond: DraftValue[] = [];
  #length: number;

  constructor(whole: DraftValue[]) {
    this.#whole = whole;
    this.#length = whole.length;
  }

  items(): DraftValue[] {
    return [...this.#whole.slice(0, this.#length), ...this.#beyond];
  }

  /**
   * Deletes the items with these keys, one key after the other. Later items move up, and each deletion leaves behind its
   * remaining items the one that was the last.
   */
  delete(keys: readonly DraftValue[], keyOf: (item: DraftValue) => DraftValue | undefined): void {
    if (keys.length === 0) return;
    const items = this.#whole.slice(0, this.#length);
    const positions = Map.groupBy(items.keys(), (position) => keyOf(items[position] ?? null));
    const deleted = new Set<number>();
    const left: DraftValue[] = [];
    let last = items.length - 1;
    for (const key of keys) {
      for (const position of positions.get(key) ?? []) {
        if (deleted.has(position)) continue;
        while (deleted.has(last)) last--;
        left.push(items[last] ?? null);
        deleted.add(position);
      }
    }
    const remaining = items.filter((_, position) => !deleted.has(position));
    [...remaining, ...left.reverse()].forEach((item, position) => this.#whole[position] = item);
    this.#length = remaining.length;
  }

  append(item: DraftValue): number {
    if (this.#length < this.#whole.length) {
      this.#whole[this.#length] = item;
      this.#length++;
    } else this.#beyond.push(item);
    return this.#length + this.#beyond.length - 1;
  }

  at(index: number): DraftValue | undefined {
    return index < this.#length ? this.#whole[index] : this.#beyond[index - this.#length];
  }

  set(index: number, item: DraftValue): void {
    if (index < this.#length) this.#whole[index] = item;
    else this.#beyond[index - this.#length] = item;
  }
}

/** The common type of all elements. @throws StatusError when types differ, or are lists */
function elementType(...lists: readonly (readonly DraftValue[])[]): string {
  let found: string | undefined;
  for (const item of lists.flat()) {
    const type = goType(item);
    if (found === undefined && Array.isArray(item)) throw listOfLists();
    found ??= type;
    if (type !== found) {
      throw failed(`list element types are not identical: ${goPlain(lists.map((list) => [...list]))}`);
    }
  }
  if (found === undefined) throw failed("no elements in any of the given slices");
  return found;
}

/** Applies the `$patch` of items: deletes items from both lists; after a replace, only the items of the patch remain. */
function withDirectivesApplied(
  before: DraftValue[],
  change: readonly DraftValue[],
  mergeKey: string,
): { readonly remaining: Slice; readonly patch: readonly DraftValue[] } {
  const remaining = new Slice(before);
  let isReplaced = false;
  const patch: DraftValue[] = [];
  const deleted: DraftValue[] = [];
  for (const item of change) {
    const what = isDraft(item) ? read(item, "$patch") : undefined;
    if (what === undefined || !isDraft(item)) patch.push(item);
    else if (what === "delete") deleted.push(mergeKeyOf(item, mergeKey));
    else if (what === "replace") isReplaced = true;
    else if (what === "merge") throw failed("merging lists cannot yet be specified in the patch");
    else throw badPatchType(what, item);
  }
  remaining.delete(deleted, (item) => isDraft(item) ? read(item, mergeKey) : undefined);
  return isReplaced ? { remaining: new Slice(patch), patch: [] } : { remaining, patch };
}

/** Merges each item of a patch into the one with its key, or appends it. */
function mergeItems(original: Slice, patch: readonly DraftValue[], field: FieldPatch): void {
  const { mergeKey } = field;
  const positions = new Map<DraftValue, number>();
  const addPosition = (item: DraftValue, position: number): void => {
    const key = isDraft(item) ? read(item, mergeKey) : undefined;
    if (key !== undefined && !positions.has(key)) positions.set(key, position);
  };
  original.items().forEach(addPosition);
  for (const item of patch) {
    const key = mergeKeyOf(item, mergeKey);
    const position = positions.get(key);
    const found = position === undefined ? undefined : original.at(position);
    if (position !== undefined && found !== undefined && isDraft(found) && isDraft(item)) {
      original.set(position, field.mergeObjects(found, item, field.type));
    } else addPosition(item, original.append(item));
  }
}

/** Removes duplicate scalars. The last item replaces a duplicate, because the order is decided later. */
function deduplicated(items: DraftValue[]): DraftValue[] {
  let last = items.length - 1;
  // Grows with the items that move; a position counts only while it still has the item.
  const positions = Map.groupBy(items.keys(), (position) => items[position] ?? null);
  for (let index = 0; index < last; index++) {
    const item = items[index] ?? null;
    for (const other of positions.get(item)?.toSorted((left, right) => left - right) ?? []) {
      while (other > index && other <= last && items[other] === item) {
        const moved = items[last] ?? null;
        items[other] = moved;
        if (moved !== item) positions.get(moved)?.push(other);
        last--;
      }
    }
  }
  return items.slice(0, last + 1);
}

/** A list with a `$setElementOrder`. */
export interface OrderedList {
  readonly before: DraftValue[] | undefined;
  readonly change: DraftValue[] | undefined;
  readonly order: readonly DraftValue[];
}

/**
 * Merges a list and orders it as the patch requires.
 *
 * @param cleaned removes directives, for a list that the object did not have before
 * @returns undefined when neither side has the list
 */
export function mergeOrderedList(
  { before, change, order }: OrderedList,
  field: FieldPatch,
  cleaned: (value: DraftValue) => DraftValue | undefined,
): DraftValue[] | undefined {
  const { mergeKey } = field;
  checkOrder(change ?? [], order, mergeKey);
  const merged = mergedList(before, change, field, cleaned);
  if (merged === undefined) return undefined;
  const { inside, outside } = partition(merged, order, mergeKey);
  const isOfObjects = elementType(before ?? [], change ?? []) === "map[string]interface {}";
  return inOrder(inside, outside, { mergeKey, isOfObjects, patchOrder: order, serverOrder: before ?? [] });
}

function mergedList(
  before: DraftValue[] | undefined,
  change: DraftValue[] | undefined,
  field: FieldPatch,
  cleaned: (value: DraftValue) => DraftValue | undefined,
): DraftValue[] | undefined {
  if (change === undefined) return before;
  if (before !== undefined) return field.isMerged ? mergeLists(before, change, field, false) : change;
  const list = cleaned(change);
  return Array.isArray(list) ? list : undefined;
}

/** Checks that all items of a patch are in its `$setElementOrder`, in that order. */
function checkOrder(change: readonly DraftValue[], order: readonly DraftValue[], mergeKey: string): void {
  if (change.length === 0 || order.length === 0) return;
  const named = mergeKey === "" ? change : change.filter((item) => directiveOf(item) !== "delete");
  let [next, position] = [0, 0];
  while (next < named.length && position < order.length) {
    const [item, other] = [named[next] ?? null, order[position] ?? null];
    if (isDraft(item) && Object.hasOwn(item, "$patch")) {
      next++;
      continue;
    }
    if (mergeKey === "" ? item === other : mergeKeyOf(item, mergeKey) === mergeKeyOf(other, mergeKey)) next++;
    position++;
  }
  if (next >= named.length) return;
  const lists = `${goPlain([...change])}\n doesn't match $setElementOrder list:\n${goPlain([...order])}`;
  throw failed(`The order in patch list:\n${lists}\n`);
}

function directiveOf(item: DraftValue): DraftValue | undefined {
  if (!isDraft(item)) throw badType("object", item);
  return read(item, "$patch");
}

/** The order of a list. */
interface Ordering {
  /** "" for a list of scalars. */
  readonly mergeKey: string;
  readonly isOfObjects: boolean;
  /** The order in the patch. */
  readonly patchOrder: readonly DraftValue[];
  /** The order of the live list. */
  readonly serverOrder: readonly DraftValue[];
}

/** @throws StatusError 500 when an item has no merge key */
function inOrder(
  patchItems: readonly DraftValue[],
  serverItems: readonly DraftValue[],
  ordering: Ordering,
): DraftValue[] {
  const patch = sortedBy(patchItems, ordering.patchOrder, ordering);
  const server = sortedBy(serverItems, ordering.serverOrder, ordering);
  return interleaved(server, patch, positionsIn(ordering.serverOrder, ordering), ordering);
}

/** The items of a list that are in another list, and those that are not. */
function partition(
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

/** The value of the merge key of an item. @throws StatusError 500 when it has none */
function mergeKeyOf(item: DraftValue, mergeKey: string): DraftValue {
  if (!isDraft(item)) throw badType("object", item);
  const value = read(item, mergeKey);
  if (value === undefined) throw missingMergeKey(item, mergeKey);
  return value;
}

function identityOf(item: DraftValue, { isOfObjects, mergeKey }: Ordering): DraftValue {
  return !isOfObjects ? item : isDraft(item) ? read(item, mergeKey) ?? null : null;
}

/** The first position of each item of a list. */
function positionsIn(list: readonly DraftValue[], ordering: Ordering): ReadonlyMap<DraftValue, number> {
  const positions = new Map<DraftValue, number>();
  for (const [position, item] of list.entries()) {
    const identity = identityOf(item, ordering);
    if (!positions.has(identity)) positions.set(identity, position);
  }
  return positions;
}

function sortedBy(items: readonly DraftValue[], order: readonly DraftValue[], ordering: Ordering): DraftValue[] {
  if (ordering.isOfObjects) { for (const item of [...items, ...order]) mergeKeyOf(item, ordering.mergeKey); }
  const isDeleted = (item: DraftValue): boolean =>
    ordering.isOfObjects && isDraft(item) && read(item, "$patch") === "delete";
  const remaining = items.filter((item) => !isDeleted(item));
  const positions = positionsIn(order, ordering);
  const positionOf = (item: DraftValue): number | undefined => positions.get(identityOf(item, ordering));
  return [...insertionSorted(remaining, positionOf), ...items.filter(isDeleted)];
}

/**
 * The result of the insertion sort of kube-apiserver, in linearithmic time. There, an item with a position moves left until
 * one with a position that is not greater, and an item without one moves to the front. So an item without a position ends
 * before the item that had the least position at that moment, and after all others if there was none.
 */
function insertionSorted(
  items: readonly DraftValue[],
  positionOf: (item: DraftValue) => number | undefined,
): DraftValue[] {
  const placed: { readonly item: DraftValue; readonly position: number; readonly before: DraftValue[] }[] = [];
  const last: DraftValue[] = [];
  let least: (typeof placed)[number] | undefined;
  for (const item of items) {
    const position = positionOf(item);
    if (position === undefined) (least?.before ?? last).push(item);
    else {
      const entry = { item, position, before: [] };
      placed.push(entry);
      if (least === undefined || position < least.position) least = entry;
    }
  }
  placed.sort((left, right) => left.position - right.position);
  return [...placed.flatMap(({ item, before }) => [...before.reverse(), item]), ...last.reverse()];
}

/** Merges two lists: the next item is the one that comes first in the live list, else that of the patch. */
function interleaved(
  server: readonly DraftValue[],
  patch: readonly DraftValue[],
  positions: ReadonlyMap<DraftValue, number>,
  ordering: Ordering,
): DraftValue[] {
  const result: DraftValue[] = [];
  let [s, p] = [0, 0];
  while (s < server.length || p < patch.length) {
    const [ours, theirs] = [server[s], patch[p]];
    const isServers = theirs === undefined || (ours !== undefined && isBefore(ours, theirs, positions, ordering));
    result.push((isServers ? ours : theirs) ?? null);
    if (isServers) s++;
    else p++;
  }
  return result;
}

function isBefore(
  left: DraftValue,
  right: DraftValue,
  positions: ReadonlyMap<DraftValue, number>,
  ordering: Ordering,
): boolean {
  const leftPosition = positions.get(identityOf(left, ordering));
  const rightPosition = positions.get(identityOf(right, ordering));
  return leftPosition !== undefined && rightPosition !== undefined && leftPosition < rightPosition;
}

/** 400: a malformed directive. */
export function badDirective(which: "primitive list" | "retainKeys" | "setElementOrder list"): StatusError {
  return badRequest(`invalid patch format of ${which}`);
}

/** 422. */
function listOfLists(): StatusError {
  return new StatusError(422, "Invalid", "the server rejected our request due to an error in our request", {});
}

/** 500 with a message only. kube-apiserver responds with 500 to many errors of a strategic merge patch. */
export function failed(message: string): StatusError {
  return new StatusError(500, "", message);
}

/** A value that is not an object or list as required. */
export function badType(required: "object" | "list", value: DraftValue): StatusError {
  const expected = goType(required === "object" ? {} : []);
  return failed(`expected a ${expected}, but received a ${value === null ? "%!s(<nil>)" : goType(value)}`);
}

/** An item of a merged list has no merge key. */
function missingMergeKey(item: Draft, mergeKey: string): StatusError {
  return failed(`map: ${goPlain(item)} does not contain declared merge key: ${mergeKey}`);
}

/** `$patch` has an unknown value. */
export function badPatchType(directive: DraftValue, item: Draft): StatusError {
  return failed(`unknown patch type: ${goPlain(directive)} in map: ${goPlain(item)}`);
}
