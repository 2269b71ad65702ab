/**
 * compareFields(): the fields that a write added, modified and removed. Parts that both objects share are not visited.
 *
 * ownedFields() and addedFields() are the fields of one object: an applier of `spec.replicas` owns only that leaf, while the
 * creator of `spec` also owns `spec` itself.
 */
import { isSameJson, type Json, type ListSchema, type TypeSchema } from "../model/mod.ts";
import { fieldElement, FieldsError, itemElement } from "./_element.ts";
import { fieldsOf, fieldTypeOf, isEmptyContainer, isNamedField, itemsOf, type Shape, shapeOf } from "./_shape.ts";
import { type FieldSet, LevelBuilder, noFields, unionBelow } from "./field_set.ts";

/** The difference of two values. A field is in at most one of the sets. */
export interface Comparison {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

/** The difference below one field; undefined for no difference, `noFields` for the field itself. */
interface Difference {
  readonly added?: FieldSet;
  readonly modified?: FieldSet;
  readonly removed?: FieldSet;
}

const modifiedLeaf: Difference = { modified: noFields };

/**
 * Compares two values of a type.
 *
 * @returns undefined when they are equal
 * @throws FieldsError when an item of a list has no unique key
 */
export function compareFields(before: Json, after: Json, type: TypeSchema): Comparison | undefined {
  const difference = differenceBetween(before, after, type);
  if (difference === undefined) return undefined;
  return {
    added: difference.added ?? noFields,
    modified: difference.modified ?? noFields,
    removed: difference.removed ?? noFields,
  };
}

function differenceBetween(
  before: Json | undefined,
  after: Json | undefined,
  type: TypeSchema,
): Difference | undefined {
  if (before === after) return undefined;
  if (before === undefined) return after === undefined ? undefined : { added: addedFields(after, type) };
  if (after === undefined) return { removed: addedFields(before, type) };
  const shape = shapeOf(type, before);
  const difference = differenceAs(shape, before, after, type);
  const shapeAfter = shapeOf(type, after);
  return shapeAfter === shape ? difference : both(difference, differenceAs(shapeAfter, before, after, type));
}

/** Combines two comparisons of the same values. Without a schema, a value may change from one shape to another. */
function both(left: Difference | undefined, right: Difference | undefined): Difference | undefined {
  if (left === undefined || right === undefined) return left ?? right;
  return {
    added: either(left.added, right.added),
    modified: either(left.modified, right.modified),
    removed: either(left.removed, right.removed),
  };
}

function either(left: FieldSet | undefined, right: FieldSet | undefined): FieldSet | undefined {
  return left === undefined || right === undefined ? left ?? right : unionBelow(left, right);
}

function differenceAs(shape: Shape, before: Json, after: Json, type: TypeSchema): Difference | undefined {
  if (shape === "leaf" || (isEmptyContainer(shape, before) && isEmptyContainer(shape, after))) {
    return isSameJson(before, after) ? undefined : modifiedLeaf;
  }
  const level = new DifferenceBuilder();
  if (shape === "list" && type.kind === "list") {
    if (isSameJson(before, after)) return undefined;
    compareItems(level, itemsOf(before), itemsOf(after), type);
  } else compareObjects(level, before, after, type);
  return level.build();
}

function compareObjects(level: DifferenceBuilder, before: Json, after: Json, type: TypeSchema): void {
  const [old, now] = [fieldsOf(before), fieldsOf(after)];
  for (const name of Object.keys(old)) {
    const value = Object.hasOwn(now, name) ? now[name] : undefined;
    if (value === old[name]) continue;
    level.add(fieldElement(name), differenceBetween(old[name], value, fieldTypeOf(type, name)));
  }
  for (const name of Object.keys(now)) {
    if (Object.hasOwn(old, name)) continue;
    level.add(fieldElement(name), { added: addedFields(now[name] ?? null, fieldTypeOf(type, name)) });
  }
}

function compareItems(
  level: DifferenceBuilder,
  before: readonly Json[],
  after: readonly Json[],
  type: ListSchema,
): void {
  const old = indexed(before, type);
  const now = indexed(after, type);
  for (const [element, items] of old) {
    level.add(element, compareItem(items, now.get(element) ?? [], type.items));
  }
  for (const [element, items] of now) {
    if (!old.has(element)) level.add(element, compareItem([], items, type.items));
  }
}

function indexed(items: readonly Json[], type: ListSchema): ReadonlyMap<string, readonly Json[]> {
  const found = new Map<string, Json[]>();
  for (const item of items) {
    const element = itemElement(item, type);
    const earlier = found.get(element);
    if (earlier === undefined) found.set(element, [item]);
    else earlier.push(item);
  }
  return found;
}

/** Items with the same element are owned as one leaf. */
function compareItem(before: readonly Json[], after: readonly Json[], type: TypeSchema): Difference | undefined {
  const [isDoubleBefore, isDoubleAfter] = [before.length > 1, after.length > 1];
  if (!isDoubleBefore && !isDoubleAfter) return differenceBetween(before[0], after[0], type);
  if (isDoubleBefore && isDoubleAfter) return isSameJson(before, after) ? undefined : modifiedLeaf;
  const single = isDoubleBefore
    ? differenceBetween(undefined, after[0], type)
    : differenceBetween(before[0], undefined, type);
  return both(single, isDoubleBefore ? { removed: noFields } : { added: noFields });
}

/** Builds the difference of one level; it allocates nothing without a difference. */
class DifferenceBuilder {
  #added: LevelBuilder | undefined;
  #modified: LevelBuilder | undefined;
  #removed: LevelBuilder | undefined;

  add(element: string, difference: Difference | undefined): void {
    if (difference === undefined) return;
    if (difference.added !== undefined) (this.#added ??= new LevelBuilder(false)).add(element, difference.added);
    if (difference.modified !== undefined) {
      (this.#modified ??= new LevelBuilder(false)).add(element, difference.modified);
    }
    if (difference.removed !== undefined) (this.#removed ??= new LevelBuilder(false)).add(element, difference.removed);
  }

  build(): Difference | undefined {
    if (this.#added === undefined && this.#modified === undefined && this.#removed === undefined) return undefined;
    return {
      added: this.#added?.build(),
      modified: this.#modified?.build(),
      removed: this.#removed?.build(),
    };
  }
}

/** The fields that an applier of a value owns. Items without a unique key are ignored. */
export function ownedFields(value: Json, type: TypeSchema): FieldSet {
  return ownedBelow(value, type, false) ?? noFields;
}

/**
 * @param includesSelf true when the field above is owned too
 * @returns undefined when no field is owned: an empty list without an owner
 */
function ownedBelow(value: Json, type: TypeSchema, includesSelf: boolean): FieldSet | undefined {
  const shape = shapeOf(type, value);
  if (shape === "leaf") return noFields;
  const level = new LevelBuilder(includesSelf);
  if (shape === "list" && type.kind === "list") addOwnedItems(level, itemsOf(value), type);
  else addOwnedFields(level, value, type);
  if (!level.isEmpty || includesSelf) return level.build();
  return value === null || (shape === "fields" && isEmptyContainer(shape, value)) ? noFields : undefined;
}

function addOwnedFields(level: LevelBuilder, value: Json, type: TypeSchema): void {
  const object = fieldsOf(value);
  for (const name of Object.keys(object)) {
    const under = ownedBelow(object[name] ?? null, fieldTypeOf(type, name), !isNamedField(type, name));
    if (under !== undefined) level.add(fieldElement(name), under);
  }
}

function addOwnedItems(level: LevelBuilder, items: readonly Json[], type: ListSchema): void {
  const elements = items.map((item) => elementOrUndefined(item, type));
  const duplicates = duplicatesOf(elements.filter((element) => element !== undefined));
  for (const [index, element] of elements.entries()) {
    if (element !== undefined && !duplicates.has(element)) {
      level.add(element, ownedBelow(items[index] ?? null, type.items, true) ?? noFields);
    }
  }
  for (const element of duplicates) level.add(element, noFields);
}

function elementOrUndefined(item: Json, type: ListSchema): string | undefined {
  try {
    return itemElement(item, type);
  } catch (error) {
    if (error instanceof FieldsError) return undefined;
    throw error;
  }
}

/** The elements that stand more than once in a list. */
function duplicatesOf(elements: readonly string[]): ReadonlySet<string> {
  const duplicates = new Set<string>();
  if (elements.length < 2) return duplicates;
  const seen = new Set<string>();
  for (const element of elements) {
    if (seen.has(element)) duplicates.add(element);
    seen.add(element);
  }
  return duplicates;
}

/**
 * What stands below a field that came into being with this value.
 *
 * @throws FieldsError when an item of a list has no unique key
 */
export function addedFields(value: Json, type: TypeSchema): FieldSet {
  const shape = shapeOf(type, value);
  if (shape === "leaf" || isEmptyContainer(shape, value)) return noFields;
  const level = new LevelBuilder(true);
  if (shape === "list" && type.kind === "list") {
    const items = itemsOf(value);
    const elements = items.map((item) => itemElement(item, type));
    const duplicates = duplicatesOf(elements);
    for (const [index, element] of elements.entries()) {
      if (!duplicates.has(element)) level.add(element, addedFields(items[index] ?? null, type.items));
    }
    for (const element of duplicates) level.add(element, noFields);
  } else {
    const object = fieldsOf(value);
    for (const name of Object.keys(object)) {
      level.add(fieldElement(name), addedFields(object[name] ?? null, fieldTypeOf(type, name)));
    }
  }
  return level.build();
}
