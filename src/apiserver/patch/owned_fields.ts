/**
 * Which fields an object has: those that an applier of it owns (ownedFields), and those that somebody adds who puts a value
 * where there was none (addedFields). The difference: to apply `spec.replicas` is to own that leaf alone, to create the
 * `spec` that holds it is to own `spec` as well.
 */
import type { Json, ListSchema, TypeSchema } from "../model/mod.ts";
import { fieldElement, itemElement } from "./_element.ts";
import { FieldsError } from "./_fields_error.ts";
import { fieldsOf, fieldTypeOf, isHollow, isNamedField, itemsOf, shapeOf } from "./_shape.ts";
import { type FieldSet, LevelBuilder, noFields } from "./field_set.ts";

/** The fields that an applied configuration mentions. An item that cannot be told from others is passed over. */
export function ownedFields(value: Json, type: TypeSchema): FieldSet {
  return ownedBelow(value, type, false) ?? noFields;
}

/**
 * @param holdsItself whether the field above is owned too
 * @returns undefined when nothing is: an empty list that has no owner of its own
 */
function ownedBelow(value: Json, type: TypeSchema, holdsItself: boolean): FieldSet | undefined {
  const shape = shapeOf(type, value);
  if (shape === "leaf") return noFields;
  const level = new LevelBuilder(holdsItself);
  if (shape === "list" && type.kind === "list") addOwnedItems(level, itemsOf(value), type);
  else addOwnedFields(level, value, type);
  if (!level.isEmpty || holdsItself) return level.build();
  return value === null || (shape === "fields" && isHollow(shape, value)) ? noFields : undefined;
}

function addOwnedFields(level: LevelBuilder, value: Json, type: TypeSchema): void {
  const object = fieldsOf(value);
  for (const name of Object.keys(object)) {
    const under = ownedBelow(object[name] ?? null, fieldTypeOf(type, name), !isNamedField(type, name));
    if (under !== undefined) level.add(fieldElement(name), under);
  }
}

function addOwnedItems(level: LevelBuilder, items: readonly Json[], type: ListSchema): void {
  const elements = items.map((item) => elementIfAny(item, type));
  const doubles = doublesOf(elements.filter((element) => element !== undefined));
  for (const [index, element] of elements.entries()) {
    if (element !== undefined && !doubles.has(element)) {
      level.add(element, ownedBelow(items[index] ?? null, type.items, true) ?? noFields);
    }
  }
  for (const element of doubles) level.add(element, noFields);
}

function elementIfAny(item: Json, type: ListSchema): string | undefined {
  try {
    return itemElement(item, type);
  } catch (error) {
    if (error instanceof FieldsError) return undefined;
    throw error;
  }
}

/** The elements that stand more than once in a list. */
function doublesOf(elements: readonly string[]): ReadonlySet<string> {
  const doubles = new Set<string>();
  if (elements.length < 2) return doubles;
  const seen = new Set<string>();
  for (const element of elements) {
    if (seen.has(element)) doubles.add(element);
    seen.add(element);
  }
  return doubles;
}

/**
 * What stands below a field that came into being with this value.
 *
 * @throws FieldsError when an item of a list cannot be told from others
 */
export function addedFields(value: Json, type: TypeSchema): FieldSet {
  const shape = shapeOf(type, value);
  if (shape === "leaf" || isHollow(shape, value)) return noFields;
  const level = new LevelBuilder(true);
  if (shape === "list" && type.kind === "list") {
    const items = itemsOf(value);
    const elements = items.map((item) => itemElement(item, type));
    const doubles = doublesOf(elements);
    for (const [index, element] of elements.entries()) {
      if (!doubles.has(element)) level.add(element, addedFields(items[index] ?? null, type.items));
    }
    for (const element of doubles) level.add(element, noFields);
  } else {
    const object = fieldsOf(value);
    for (const name of Object.keys(object)) {
      level.add(fieldElement(name), addedFields(object[name] ?? null, fieldTypeOf(type, name)));
    }
  }
  return level.build();
}
