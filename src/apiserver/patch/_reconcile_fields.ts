/**
 * reconcileFields: a set that was written when its type had another list or map type. What became atomic is owned as a whole
 * by whoever owned something in it; what became granular stays owned as a whole until it is applied anew.
 */
import type { TypeSchema } from "../model/mod.ts";
import { fieldTypeOf } from "./_shape.ts";
import { elementsOf, type FieldSet, LevelBuilder, noFields } from "./field_set.ts";

/** The type that a set is in line with, as was found out: sets outlive the writes that look at them. */
const inLine = new WeakMap<FieldSet, TypeSchema>();

/** The set as the type of today has it; the same one when nothing differs. */
export function reconcileFields(fields: FieldSet, type: TypeSchema): FieldSet {
  if (inLine.get(fields) === type) return fields;
  const reconciled = reconcileLevel(fields, type);
  inLine.set(reconciled, type);
  return reconciled;
}

function reconcileLevel(fields: FieldSet, type: TypeSchema): FieldSet {
  if (type.kind === "scalar" || type.kind === "any" || isDeduced(type)) return fields;
  const level = new LevelBuilder(Object.hasOwn(fields, "."));
  let isSame = true;
  for (const element of elementsOf(fields)) {
    const under = fields[element] ?? noFields;
    const reconciled = reconcileBelow(under, typeAt(type, element));
    if (reconciled !== under) isSame = false;
    level.add(element, reconciled);
  }
  return isSame ? fields : level.build();
}

function reconcileBelow(under: FieldSet, type: TypeSchema | undefined): FieldSet {
  if (type === undefined || elementsOf(under).length === 0) return under;
  const isAtomic = type.kind === "list" ? type.listType === "atomic" : isObject(type) && type.isAtomic;
  if (isAtomic && !isDeduced(type)) return noFields;
  return reconcileLevel(under, type);
}

function isObject(type: TypeSchema): type is Extract<TypeSchema, { isAtomic: boolean }> {
  return type.kind === "struct" || type.kind === "map";
}

/** A free-form object says nothing about what is in it. */
function isDeduced(type: TypeSchema): boolean {
  return type.kind === "map" && type.values.kind === "any";
}

/** The type of what an element leads to; undefined for a field that the type does not have. */
function typeAt(type: TypeSchema, element: string): TypeSchema | undefined {
  if (type.kind === "list") return type.items;
  const name = element.slice(2);
  if (type.kind === "struct" && !type.fields.has(name) && !type.keepsUnknown) return undefined;
  return fieldTypeOf(type, name);
}
