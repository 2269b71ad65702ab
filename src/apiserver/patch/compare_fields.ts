/**
 * compareFields: which fields a write added, changed and removed. Where both sides share a value (the stored object's own
 * parts in the new one) nothing below is looked at.
 */
import { isSameJson, type Json, type ListSchema, type TypeSchema } from "../model/mod.ts";
import { fieldElement, itemElement } from "./_element.ts";
import { fieldsOf, fieldTypeOf, isHollow, itemsOf, type Shape, shapeOf } from "./_shape.ts";
import { type FieldSet, LevelBuilder, noFields, unionBelow } from "./field_set.ts";
import { addedFields } from "./owned_fields.ts";

/** What a write did. No field is in more than one of the three. */
export interface Comparison {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

/** The same below one field; undefined for nothing, `noFields` for the field itself. */
interface Difference {
  readonly added?: FieldSet;
  readonly modified?: FieldSet;
  readonly removed?: FieldSet;
}

const modifiedLeaf: Difference = { modified: noFields };

/**
 * Compares two values of a type.
 *
 * @returns undefined when they are the same
 * @throws FieldsError when an item of a list cannot be told from others
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

/** What two ways to look at the same two values find; where there is no schema a value may become another kind of value. */
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
  if (shape === "leaf" || (isHollow(shape, before) && isHollow(shape, after))) {
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

/** Items that share an element are owned as one leaf. */
function compareItem(before: readonly Json[], after: readonly Json[], type: TypeSchema): Difference | undefined {
  const [isDoubleBefore, isDoubleAfter] = [before.length > 1, after.length > 1];
  if (!isDoubleBefore && !isDoubleAfter) return differenceBetween(before[0], after[0], type);
  if (isDoubleBefore && isDoubleAfter) return isSameJson(before, after) ? undefined : modifiedLeaf;
  const single = isDoubleBefore
    ? differenceBetween(undefined, after[0], type)
    : differenceBetween(before[0], undefined, type);
  return both(single, isDoubleBefore ? { removed: noFields } : { added: noFields });
}

/** Collects what differs on one level; costs nothing as long as nothing does. */
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
