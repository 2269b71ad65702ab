/**
 * Objects and records of a structural schema: `z.object` becomes properties, `z.record` additionalProperties. A
 * structural schema may have one or the other, never both.
 */
import { addRules, isImmutable } from "./_extensions.ts";
import { celName } from "./_cel.ts";
import { type Draft, membersOf } from "./_leaves.ts";
import { cannotDefine, elementOf, type Place, propertyOf } from "./_place.ts";
import type { Translate } from "./structural.ts";
import { checksOf, type Definition, definitionOf, isRequired, type Schema } from "./_zod.ts";
import type { StructuralSchema, ValidationRule } from "./structural_schema.ts";

type ObjectDefinition = Extract<Definition, { type: "object" }>;
type RecordDefinition = Extract<Definition, { type: "record" }>;

/** Translates a `z.object()`; unknown keys are kept only by `z.looseObject()`. */
export function objectSchema(definition: ObjectDefinition, place: Place, translate: Translate): Draft {
  const { shape, catchall } = definition;
  const draft = propertiesSchema(shape, place, translate);
  const rest = catchall === undefined ? undefined : definitionOf(catchall).type;
  if (catchall === undefined || rest === undefined || rest === "never") return draft;
  if (rest === "unknown" || rest === "any") return { ...draft, "x-kubernetes-preserve-unknown-fields": true };
  if (Object.keys(shape).length > 0) {
    throw cannotDefine(place, "has both properties and a catchall(), a CRD wants one or the other; use z.record()");
  }
  return valuesSchema(catchall, place, translate);
}

/** Translates a `z.record()` or `z.partialRecord()`. */
export function recordSchema(definition: RecordDefinition, place: Place, translate: Translate): Draft {
  const { keyType, valueType, partial } = definition;
  if (definition.mode === "loose") throw cannotDefine(place, "is a looseRecord(), which a CRD cannot express");
  const members = membersOf(definitionOf(keyType));
  if (members !== undefined) {
    const shape = Object.fromEntries(members.map((member) => [String(member), valueType]));
    const draft = propertiesSchema(shape, place, translate);
    return partial === true ? { ...draft, required: undefined } : draft;
  }
  if (definitionOf(keyType).type !== "string" || checksOf(keyType).length > 0) {
    throw cannotDefine(
      place,
      "limits the keys of its record, which a CRD cannot express; use z.string() and a CEL rule",
    );
  }
  return valuesSchema(valueType, place, translate);
}

function valuesSchema(value: Schema, place: Place, translate: Translate): Draft {
  const at = elementOf(place, "values");
  if (!isRequired(value)) throw cannotDefine(at, "is an optional map value, which JSON does not have");
  return { type: "object", additionalProperties: translate(value, at) };
}

function propertiesSchema(shape: Readonly<Record<string, Schema>>, place: Place, translate: Translate): Draft {
  const properties: [string, StructuralSchema][] = [];
  const required: string[] = [];
  const rules: ValidationRule[] = [];
  for (const [name, field] of Object.entries(shape)) {
    const at = propertyOf(place, name);
    const schema = translate(field, at);
    properties.push([name, schema]);
    if (isRequired(field)) required.push(name);
    else if (isImmutable(field) && schema.default === undefined) rules.push(keptRule(name, at));
  }
  const draft: Draft = { type: "object" };
  if (properties.length > 0) draft.properties = Object.fromEntries(properties);
  if (required.length > 0) draft.required = required;
  addRules(draft, rules, place);
  return draft;
}

/** The rule that an optional immutable field wants of its parent: a rule on a field is not asked when it comes or goes. */
export function keptRule(name: string, place: Place): ValidationRule {
  const field = celName(name, place);
  return { rule: `has(self.${field}) == has(oldSelf.${field})`, message: `${name} is immutable` };
}
