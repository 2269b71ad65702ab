/**
 * removeFields: an object without some of its fields and items. An object or list that nothing is left of becomes null, as
 * structured-merge-diff has it; the kind's decoder drops it.
 */
import type { Json, ListSchema, TypeSchema } from "../model/mod.ts";
import { put } from "../model/mod.ts";
import { fieldElement, itemElement } from "./_element.ts";
import { fieldsOf, fieldTypeOf, itemsOf, shapeOf } from "./_shape.ts";
import { below, elementsOf, type FieldSet, holdsItself, isEmptySet, noFields } from "./field_set.ts";

const any: TypeSchema = { kind: "any" };

/** The value without the fields of a set. Nothing is removed from an atomic list or object: it goes as a whole. */
export function removeFields(value: Json, fields: FieldSet, type: TypeSchema): Json {
  if (isEmptySet(fields)) return value;
  const shape = shapeOf(type, value);
  if (shape === "leaf") {
    return type.kind === "scalar" || (type.kind === "any" && typeof value !== "object") ? value : null;
  }
  return shape === "list" && type.kind === "list"
    ? removeItems(itemsOf(value), fields, type)
    : removeFromObject(value, fields, type);
}

function removeFromObject(value: Json, fields: FieldSet, type: TypeSchema): Json {
  const object = fieldsOf(value);
  const rest: Record<string, Json> = {};
  let isEmpty = true;
  for (const name of Object.keys(object)) {
    const field = object[name] ?? null;
    const left = remainderOf(field, below(fields, fieldElement(name)), fieldTypeOf(type, name));
    if (left === undefined) continue;
    put(rest, name, left);
    isEmpty = false;
  }
  return isEmpty ? null : rest;
}

function removeItems(items: readonly Json[], fields: FieldSet, type: ListSchema): Json {
  const rest: Json[] = [];
  for (const item of items) {
    const left = remainderOf(item, below(fields, itemElement(item, type)), type.items);
    if (left !== undefined) rest.push(left);
  }
  return rest.length === 0 ? null : rest;
}

/** What is left of a field or item, given what of it is to go; undefined when it goes itself. */
function remainderOf(value: Json, fields: FieldSet | undefined, type: TypeSchema): Json | undefined {
  if (fields === undefined) return value;
  if (holdsItself(fields)) return undefined;
  return removeFields(value, fields, type);
}

/**
 * A set with the fields that a type has names for and that lead to something in it: `spec.template` where only
 * `spec.template.spec` is in it. Such fields go when all that is in them does.
 */
export function withNamedFields(fields: FieldSet, type: TypeSchema): FieldSet {
  return namedLevel(fields, type, false);
}

function namedLevel(fields: FieldSet, type: TypeSchema, hasItself: boolean): FieldSet {
  const level: Record<string, FieldSet> = {};
  if (hasItself && !isEmptySet(fields)) level["."] = noFields;
  for (const element of elementsOf(fields)) {
    const under = fields[element] ?? noFields;
    const isField = element.startsWith("f:");
    const name = element.slice(2);
    const isNamed = isField && type.kind === "struct" && type.fields.has(name);
    const isOwn = holdsItself(under);
    level[element] = namedLevel(under, elementType(type, element, isField, name), isNamed || isOwn);
  }
  return level;
}

function elementType(type: TypeSchema, element: string, isField: boolean, name: string): TypeSchema {
  if (isField) return fieldTypeOf(type, name);
  return element.startsWith("k:") && type.kind === "list" ? type.items : any;
}
