/**
 * Unions, in the few forms a structural schema has for them: one value of several (enum), a value or null (nullable),
 * an integer or a string (x-kubernetes-int-or-string), and objects told apart by a discriminator, which become one
 * object with CEL rules that say which fields belong to which variant.
 */
import { celName, celText } from "./_cel.ts";
import { addRules, isImmutable, nullable } from "./_extensions.ts";
import { sameJson } from "./_json.ts";
import { type Draft, enumSchema, membersOf, numberSchema, refuseCoercion, stringSchema } from "./_leaves.ts";
import { cannotDefine, type Place, propertyOf } from "./_place.ts";
import type { Translate } from "./structural.ts";
import { keptRule } from "./_objects.ts";
import { type Definition, definitionOf, isRequired, metaOf, type Schema } from "./_zod.ts";
import type { StructuralSchema, ValidationRule } from "./structural_schema.ts";

type UnionDefinition = Extract<Definition, { type: "union" }>;

/** One object of a discriminated union. */
interface Variant {
  /** Values of the discriminator that choose it. */
  readonly tags: readonly string[];
  readonly shape: Readonly<Record<string, Schema>>;
}

/** Translates a union. @throws TypeError when it has none of the forms that a CRD knows. */
export function unionSchema(definition: UnionDefinition, place: Place, translate: Translate): Draft {
  if ("discriminator" in definition && typeof definition.discriminator === "string") {
    return discriminatedSchema(definition.discriminator, definition.options, place, translate);
  }
  const options = definition.options.filter((option) => definitionOf(option).type !== "null");
  const hasNull = options.length < definition.options.length;
  const draft = definition.inclusive === false ? undefined : plainUnion(options, place, translate);
  if (draft === undefined) {
    throw cannotDefine(
      place,
      "is a union that a CRD cannot express; use z.discriminatedUnion(), intOrString() or an object of optional fields",
    );
  }
  return hasNull ? nullable(draft, place) : draft;
}

function plainUnion(options: readonly Schema[], place: Place, translate: Translate): Draft | undefined {
  if (options.length > 1) { for (const option of options) refuseMeta(option, place); }
  const [first, second, ...more] = options;
  if (first === undefined) return undefined;
  if (second === undefined) return { ...translate(first, place) };
  const members = options.map((option) => membersOf(definitionOf(option)));
  if (members.every((list) => list !== undefined)) return enumSchema(new Set(members.flat()), place);
  if (more.length > 0) return undefined;
  const [number, text] = definitionOf(first).type === "number" ? [first, second] : [second, first];
  if (definitionOf(number).type !== "number" || definitionOf(text).type !== "string") return undefined;
  return intOrString(number, text, place);
}

/** The bounds of both sides stand together: the server asks those of numbers of numbers only, and so for strings. */
function intOrString(number: Schema, text: Schema, place: Place): Draft | undefined {
  const { type, format, ...bounds } = numberSchema(number, place);
  const { type: _string, format: textFormat, ...limits } = stringSchema(text, place);
  if (type !== "integer") return undefined;
  if (textFormat !== undefined) throw cannotDefine(place, "has a format on one side of a union; use regex()");
  const int32 = format === "int32" ? { minimum: -(2 ** 31), maximum: 2 ** 31 - 1 } : {};
  return {
    ...int32,
    ...bounds,
    ...limits,
    anyOf: [{ type: "integer" }, { type: "string" }],
    "x-kubernetes-int-or-string": true,
  };
}

function discriminatedSchema(
  discriminator: string,
  options: readonly Schema[],
  place: Place,
  translate: Translate,
): Draft {
  const variants = options.map((option) => variantOf(option, discriminator, place));
  const names = new Set(variants.flatMap((variant) => Object.keys(variant.shape)));
  names.delete(discriminator);
  const tags = enumSchema(variants.flatMap((variant) => variant.tags), propertyOf(place, discriminator));
  const properties: [string, StructuralSchema][] = [[discriminator, tags]];
  const required = [discriminator];
  const kept: ValidationRule[] = [];
  for (const name of names) {
    const holders = variants.filter((variant) => Object.hasOwn(variant.shape, name));
    const everywhere = holders.length === variants.length;
    properties.push([name, sharedSchema(name, holders, everywhere, place, translate)]);
    if (everywhere && holders.every((variant) => needs(variant, name))) required.push(name);
    else if (holders.some((variant) => isHeldFast(variant, name))) kept.push(keptRule(name, propertyOf(place, name)));
  }
  const draft: Draft = { type: "object", properties: Object.fromEntries(properties), required };
  const rules = variants.flatMap((variant) => variantRules(variant, discriminator, names, required, place));
  addRules(draft, [...kept, ...rules], place);
  return draft;
}

/** What is said of one side of a union has no place in the schema of the whole. */
function refuseMeta(option: Schema, place: Place): void {
  const { description: _description, title: _title, id: _id, ...meta } = metaOf(option);
  const [key] = Object.keys(meta);
  if (key !== undefined) {
    throw cannotDefine(place, `is a union with ${key} in the meta() of one side; say it of the union`);
  }
  refuseCoercion(option, place);
}

function variantOf(option: Schema, discriminator: string, place: Place): Variant {
  refuseMeta(option, place);
  const definition = definitionOf(option);
  if (definition.type !== "object") throw cannotDefine(place, "is a union with a variant that is no z.object()");
  if ((option._zod.def.checks ?? []).length > 0) {
    throw cannotDefine(place, "is a union with checks on a variant, which a CRD cannot express; use a CEL rule");
  }
  const rest = definition.catchall === undefined ? "never" : definitionOf(definition.catchall).type;
  if (rest !== "never") throw cannotDefine(place, "is a union with a loose variant, which a CRD cannot express");
  const tag = Object.hasOwn(definition.shape, discriminator) ? definition.shape[discriminator] : undefined;
  const tags = tag === undefined ? undefined : membersOf(definitionOf(tag));
  if (tags === undefined || !tags.every((value) => typeof value === "string")) {
    throw cannotDefine(place, `is a union whose discriminator ${discriminator} is no literal text in every variant`);
  }
  return { tags, shape: definition.shape };
}

/** The schema of a field that one or more variants have: a structural schema has room for one only. */
function sharedSchema(
  name: string,
  holders: readonly Variant[],
  everywhere: boolean,
  place: Place,
  translate: Translate,
): StructuralSchema {
  const at = propertyOf(place, name);
  const [first, ...others] = holders.flatMap((variant) => variant.shape[name] ?? []).map((field) =>
    translate(field, at)
  );
  if (first === undefined || others.some((other) => !sameJson(first, other))) {
    throw cannotDefine(at, "has two shapes in two variants of a union, a CRD has room for one");
  }
  if (!everywhere && first.default !== undefined) {
    throw cannotDefine(at, "has a default in one variant of a union, which a CRD would set in all of them");
  }
  return first;
}

function variantRules(
  variant: Variant,
  discriminator: string,
  names: ReadonlySet<string>,
  required: readonly string[],
  place: Place,
): readonly ValidationRule[] {
  const tag = `self.${celName(discriminator, place)}`;
  const [first = "", ...more] = variant.tags;
  const other = more.length === 0
    ? `${tag} != ${celText(first)}`
    : `!(${tag} in [${variant.tags.map(celText).join(", ")}])`;
  const label = variant.tags.join(" or ");
  const needed = [...names].filter((name) => needs(variant, name) && !required.includes(name));
  const foreign = [...names].filter((name) => !Object.hasOwn(variant.shape, name));
  const has = (name: string) => `has(self.${celName(name, place)})`;
  return [
    ...needed.map((name) => ({
      rule: `${other} || ${has(name)}`,
      message: `${name} is required when ${discriminator} is ${label}`,
    })),
    ...foreign.map((name) => ({
      rule: `${other} || !${has(name)}`,
      message: `${name} must not be set when ${discriminator} is ${label}`,
    })),
  ];
}

function needs(variant: Variant, name: string): boolean {
  const field = Object.hasOwn(variant.shape, name) ? variant.shape[name] : undefined;
  return field !== undefined && isRequired(field);
}

function isHeldFast(variant: Variant, name: string): boolean {
  const field = Object.hasOwn(variant.shape, name) ? variant.shape[name] : undefined;
  return field !== undefined && isImmutable(field);
}
