/**
 * Lists in a strategic merge patch: of scalars as sets, of objects by their merge key, with the items that a patch deletes.
 */
import { type Draft, type DraftValue, isDraft, read, type TypeSchema } from "../model/mod.ts";
import { goPlain, goType } from "./_go_text.ts";
import { badPatchType, badType, failed, listOfLists } from "./_strategic_errors.ts";
import { inOrder, mergeKeyOf, partition } from "./_strategic_order.ts";

/** How a field is patched. */
export interface FieldPatch {
  /** The type of the field's value, or of a list's items. */
  readonly type: TypeSchema;
  readonly isMerged: boolean;
  readonly isReplaced: boolean;
  /** "" for none. */
  readonly mergeKey: string;
  /** Merges an item of a patch into the one with its key. */
  readonly mergeObjects: (original: Draft, patch: Draft, type: TypeSchema) => Draft;
}

/**
 * Merges a list of a patch into the list there is.
 *
 * @param isDeletion whether the patch's list holds what is to go (`$deleteFromPrimitiveList`)
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
  const { kept, patch } = obeyed(before, change, mergeKey);
  const serverOrder = kept.items();
  mergeItems(kept, patch, field);
  const { inside, outside } = partition(kept.items(), patch, mergeKey);
  return inOrder(inside, outside, { mergeKey, isOfObjects, patchOrder: patch, serverOrder });
}

/**
 * A list that shares its place in memory with the one it was taken from, as Go's slices do: what is appended after something
 * was deleted takes the place of the deleted, and whoever holds the whole list sees it there. The order of a merged list
 * depends on it.
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

  /** Deletes the items that match; those after them move up, and the last places keep what they hold. */
  delete(matches: (item: DraftValue) => boolean): void {
    const kept = this.#whole.slice(0, this.#length).filter((item) => !matches(item));
    for (let gone = this.#length - kept.length; gone > 0; gone--) {
      const index = this.#whole.findIndex((item, place) => place < this.#length && matches(item));
      this.#whole.copyWithin(index, index + 1, this.#length);
      this.#length--;
    }
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

/** The type that all elements have. @throws Refusal when they differ or are lists */
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

/** Obeys the `$patch` of items: what is deleted is gone from both lists, after a replace only the patch's items are left. */
function obeyed(
  before: DraftValue[],
  change: readonly DraftValue[],
  mergeKey: string,
): { readonly kept: Slice; readonly patch: readonly DraftValue[] } {
  const kept = new Slice(before);
  let isReplaced = false;
  const patch: DraftValue[] = [];
  for (const item of change) {
    const what = isDraft(item) ? read(item, "$patch") : undefined;
    if (what === undefined || !isDraft(item)) patch.push(item);
    else if (what === "delete") {
      const key = mergeKeyOf(item, mergeKey);
      kept.delete((other) => isDraft(other) && read(other, mergeKey) === key);
    } else if (what === "replace") isReplaced = true;
    else if (what === "merge") throw failed("merging lists cannot yet be specified in the patch");
    else throw badPatchType(what, item);
  }
  return isReplaced ? { kept: new Slice(patch), patch: [] } : { kept, patch };
}

/** Merges each item of a patch into the one with its key, or puts it at the end. */
function mergeItems(original: Slice, patch: readonly DraftValue[], field: FieldPatch): void {
  const { mergeKey } = field;
  const places = new Map<DraftValue, number>();
  const note = (item: DraftValue, place: number): void => {
    const key = isDraft(item) ? read(item, mergeKey) : undefined;
    if (key !== undefined && !places.has(key)) places.set(key, place);
  };
  original.items().forEach(note);
  for (const item of patch) {
    const key = mergeKeyOf(item, mergeKey);
    const place = places.get(key);
    const found = place === undefined ? undefined : original.at(place);
    if (place !== undefined && found !== undefined && isDraft(found) && isDraft(item)) {
      original.set(place, field.mergeObjects(found, item, field.type));
    } else note(item, original.append(item));
  }
}

/** Each scalar once. A double gives its place to the last item: the order is settled afterwards. */
function deduplicated(items: DraftValue[]): DraftValue[] {
  let last = items.length - 1;
  for (let index = 0; index < last; index++) {
    for (let other = index + 1; other <= last; other++) {
      if (items[index] !== items[other]) continue;
      items[other] = items[last] ?? null;
      last--;
      other--;
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
 * Merges a list and puts it in the order that the patch wants.
 *
 * @param cleaned a value without directives, for a list that there was none of before
 * @returns undefined when neither side has it
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

/** The items of a patch stand in the order it announces, and each of them is announced. */
function checkOrder(change: readonly DraftValue[], order: readonly DraftValue[], mergeKey: string): void {
  if (change.length === 0 || order.length === 0) return;
  const named = mergeKey === "" ? change : change.filter((item) => directiveOf(item) !== "delete");
  let [next, place] = [0, 0];
  while (next < named.length && place < order.length) {
    const [item, other] = [named[next] ?? null, order[place] ?? null];
    if (isDraft(item) && Object.hasOwn(item, "$patch")) {
      next++;
      continue;
    }
    if (mergeKey === "" ? item === other : mergeKeyOf(item, mergeKey) === mergeKeyOf(other, mergeKey)) next++;
    place++;
  }
  if (next >= named.length) return;
  const lists = `${goPlain([...change])}\n doesn't match $setElementOrder list:\n${goPlain([...order])}`;
  throw failed(`The order in patch list:\n${lists}\n`);
}

function directiveOf(item: DraftValue): DraftValue | undefined {
  if (!isDraft(item)) throw badType("object", item);
  return read(item, "$patch");
}
