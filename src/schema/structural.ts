/**
 * structuralSchema(): translates a zod schema to the structural schema of a CustomResourceDefinition.
 *
 * Guarantees: the API server rejects every value that zod rejects, and both set the same defaults. A stored object
 * therefore has the type that zod infers and need not be parsed again. A schema that a CRD cannot express is a TypeError
 * at definition time that names the field and says how to fix it; nothing is dropped silently.
 * Caveats: the API server prunes unknown fields where a strict zod object refuses them, has its own messages, and accepts a
 * list for a string with a format (kube-openapi `validate/type.go`), which only parse() finds.
 */
import { z } from "zod";
import { addRules, applyMeta, celName, celText, isImmutable, nullable } from "./_extensions.ts";
import { canonical, sameJson, toJson } from "./_json.ts";
import {
  applyLength,
  type Draft,
  enumSchema,
  membersOf,
  numberSchema,
  refuseCheck,
  refuseCoercion,
  stringSchema,
} from "./_scalars.ts";
import { patternOf } from "./_pattern.ts";
import { cannotDefine, elementOf, type Place, propertyOf, rootPlace } from "./_place.ts";
import { ownFieldsOf, withoutPrototypes } from "./_own_fields.ts";
import {
  type Check,
  checksOf,
  type Definition,
  definitionOf,
  innerOf,
  isRequired,
  metaOf,
  type Schema,
} from "./_zod.ts";
import type { StructuralSchema, ValidationRule } from "./structural_schema.ts";

/**
 * Translates a zod schema to the structural schema of a CRD. The API server then rejects every value that zod rejects,
 * and both set the same defaults. `defineResource()` calls it for spec and status.
 *
 * @param schema The zod schema of a value.
 * @param kind The kind that is being defined, for messages.
 * @throws {TypeError} when a CRD cannot express a part of the schema
 *
 * @example
 * ```ts
 * import { structuralSchema } from "@pintle/controller/schema";
 * import { z } from "@pintle/controller";
 *
 * const schema = structuralSchema(z.object({ replicas: z.int32().min(0).default(1) }), "Foo");
 * console.assert(schema.properties?.replicas?.default === 1);
 * ```
 */
export function structuralSchema(schema: z.core.$ZodType, kind: string): StructuralSchema {
  return canonical(translate(schema, rootPlace(kind)));
}

/** Translates `schema` at a place inside a definition. */
export function translate(schema: Schema, place: Place): StructuralSchema {
  refuseCoercion(schema, place);
  const draft = draftOf(schema, inside(schema, place));
  if (!typesWithChecks.has(definitionOf(schema).type)) {
    for (const check of checksOf(schema)) refuseCheck(schema, check, place);
  }
  applyMeta(draft, schema, place);
  return draft;
}

/** Types whose translation handles every check itself. A CRD cannot express a check on any other type. */
const typesWithChecks: ReadonlySet<Definition["type"]> = new Set(["string", "number", "array"]);

/** Types that can contain themselves: by a getter in a shape, by a variant of a union, or by z.lazy(). */
const recursiveTypes: ReadonlySet<Definition["type"]> = new Set(["object", "union", "lazy"]);

/** The place for what is inside of `schema`. @throws TypeError when `schema` is inside of itself */
function inside(schema: Schema, place: Place): Place {
  if (!recursiveTypes.has(definitionOf(schema).type)) return place;
  if (place.open.has(schema)) throw cannotDefine(place, "contains itself, which a CRD cannot express; use z.unknown()");
  return { ...place, open: new Set([...place.open, schema]) };
}

function draftOf(schema: Schema, place: Place): Draft {
  const definition = definitionOf(schema);
  switch (definition.type) {
    case "string":
      return stringSchema(schema, place);
    case "number":
      return numberSchema(schema, place);
    case "boolean":
      return { type: "boolean" };
    case "enum":
    case "literal":
      return enumSchema(membersOf(definition) ?? [], place);
    case "template_literal":
      return { type: "string", pattern: patternOf(templatePattern(schema, place), place) };
    case "object":
      return objectSchema(definition, place);
    case "record":
      return recordSchema(definition, place);
    case "array":
      return arraySchema(schema, definition.element, place);
    case "union":
      return unionSchema(definition, place);
    case "any":
    case "unknown":
      return metaOf(schema).openapi === undefined ? { "x-kubernetes-preserve-unknown-fields": true } : {};
    case "lazy":
      return { ...translate(definition.getter(), place) };
    default:
      return wrapperSchema(definition, place);
  }
}

function wrapperSchema(definition: Definition, place: Place): Draft {
  switch (definition.type) {
    case "optional":
    case "nonoptional":
    case "readonly":
      return { ...translate(definition.innerType, place) };
    case "nullable":
      return nullable(translate(definition.innerType, place), place);
    case "default":
    case "prefault":
      return defaultSchema(definition, place);
    default:
      throw cannotDefine(
        place,
        `${describe(definition.type)}, which a CRD cannot express${alternative(definition.type)}`,
      );
  }
}

function defaultSchema(definition: Extract<Definition, { type: "default" | "prefault" }>, place: Place): Draft {
  const inner = translate(definition.innerType, place);
  const value = definition.defaultValue;
  if (value === undefined) throw cannotDefine(place, "has the default undefined, which JSON cannot express");
  if (value === null) {
    throw cannotDefine(place, "has the default null, which the API server does not set; use .nullish()");
  }
  const json = toJson(value, place);
  const another = definition.defaultValue; // if the default is a function, zod calls it for each read
  if (!sameJson(value, another)) throw cannotDefine(place, "has a default that differs each time, a CRD holds one");
  const own = ownFieldsOf(inner);
  const parsed = z.safeParse(definition.innerType, own === undefined ? value : withoutPrototypes(value, own));
  if (!parsed.success) throw cannotDefine(place, `has a default that it refuses: ${parsed.error.issues[0]?.message}`);
  return { ...inner, default: json };
}

function arraySchema(schema: Schema, element: Schema, place: Place): Draft {
  const isMap = metaOf(schema)["x-kubernetes-list-type"] === "map";
  const at = elementOf(place, "items");
  const items = translate(element, { ...at, uncorrelatable: place.uncorrelatable || !isMap });
  if (element._zod.optin !== undefined) throw cannotDefine(at, "is an optional list item, which JSON does not have");
  const draft: Draft = { type: "array", items };
  for (const check of checksOf(schema)) {
    if (!applyLength(draft, check, "minItems", "maxItems")) refuseCheck(schema, check, place);
  }
  return draft;
}

function templatePattern(schema: Schema, place: Place): RegExp {
  const pattern = schema._zod.pattern;
  if (pattern === undefined) throw cannotDefine(place, "is a template literal without a pattern");
  return pattern;
}

function describe(type: Definition["type"]): string {
  if (type === "pipe") return "is a transform, preprocess or codec";
  return /^[aeiou]/.test(type) ? `is an ${type}` : `is a ${type}`;
}

/** The part of the message that says what to use instead. */
function alternative(type: Definition["type"]): string {
  switch (type) {
    case "date":
      return "; use z.iso.datetime()";
    case "bigint":
      return "; use int64(), or z.int()";
    case "map":
      return "; use z.record()";
    case "set":
      return '; use z.array() with .meta({ "x-kubernetes-list-type": "set" })';
    case "intersection":
      return "; use .extend()";
    case "tuple":
      return "; use z.array() or z.object()";
    case "null":
      return "; use .nullable()";
    case "pipe":
    case "transform":
      return "; transform in the reconciler";
    default:
      return "";
  }
}

type ObjectDefinition = Extract<Definition, { type: "object" }>;
type RecordDefinition = Extract<Definition, { type: "record" }>;

/** Translates a `z.object()`; only `z.looseObject()` preserves unknown keys. */
function objectSchema(definition: ObjectDefinition, place: Place): Draft {
  const { shape, catchall } = definition;
  const draft = propertiesSchema(shape, place);
  const rest = catchall === undefined ? undefined : definitionOf(catchall).type;
  if (catchall === undefined || rest === undefined || rest === "never") return draft;
  if (rest === "unknown" || rest === "any") return { ...draft, "x-kubernetes-preserve-unknown-fields": true };
  if (Object.keys(shape).length > 0) {
    throw cannotDefine(place, "has both properties and a catchall(), a CRD allows only one of them; use z.record()");
  }
  return valuesSchema(catchall, place);
}

/** Translates a `z.record()` or `z.partialRecord()`. */
function recordSchema(definition: RecordDefinition, place: Place): Draft {
  const { keyType, valueType, partial } = definition;
  if (definition.mode === "loose") throw cannotDefine(place, "is a looseRecord(), which a CRD cannot express");
  const members = membersOf(definitionOf(keyType));
  if (members !== undefined) {
    const shape = Object.fromEntries(members.map((member) => [String(member), valueType]));
    const draft = propertiesSchema(shape, place);
    return partial === true ? { ...draft, required: undefined } : draft;
  }
  if (definitionOf(keyType).type !== "string" || checksOf(keyType).length > 0) {
    throw cannotDefine(
      place,
      "limits the keys of its record, which a CRD cannot express; use z.string() and a CEL rule",
    );
  }
  return valuesSchema(valueType, place);
}

function valuesSchema(value: Schema, place: Place): Draft {
  const at = elementOf(place, "values");
  if (!isRequired(value)) throw cannotDefine(at, "is an optional map value, which JSON does not have");
  return { type: "object", additionalProperties: translate(value, at) };
}

function propertiesSchema(shape: Readonly<Record<string, Schema>>, place: Place): Draft {
  const properties: [string, StructuralSchema][] = [];
  const required: string[] = [];
  const rules: ValidationRule[] = [];
  for (const [name, field] of Object.entries(shape)) {
    const at = propertyOf(place, name);
    const schema = translate(field, at);
    if (!isUnchecked(field)) {
      refuseInheritedName(name, { isPresent: isRequired(field) || schema.default !== undefined }, at);
    }
    properties.push([name, schema]);
    if (isRequired(field)) required.push(name);
    else if (isImmutable(field) && schema.default === undefined) rules.push(presenceRule(name, at));
  }
  const draft: Draft = { type: "object" };
  if (properties.length > 0) draft.properties = Object.fromEntries(properties);
  if (required.length > 0) draft.required = required;
  addRules(draft, rules, place);
  return draft;
}

/**
 * Refuses a name whose values zod or TypeScript would get wrong. `new --from-crd` writes such fields of other programs as
 * `z.unknown()`, which promises nothing.
 */
function refuseInheritedName(name: string, { isPresent }: { readonly isPresent: boolean }, place: Place): void {
  if (name === "__proto__") {
    throw cannotDefine(place, "would be dropped by zod, which does not parse fields with this name; rename it");
  }
  if (isPresent || !(name in Object.prototype)) return;
  throw cannotDefine(
    place,
    "is optional and has the name of a member that JavaScript objects inherit, which reading it would give; " +
      "make it required, set a default, or rename it",
  );
}

/** True for a field of which zod checks nothing, and the API server everything. */
function isUnchecked(field: Schema): boolean {
  const inner = innerOf(field);
  return inner === undefined ? definitionOf(field).type === "unknown" : isUnchecked(inner);
}

/** The rule on the parent of an optional immutable field. A rule on the field itself does not run when it is added or removed. */
export function presenceRule(name: string, place: Place): ValidationRule {
  const field = celName(name, place);
  return { rule: `has(self.${field}) == has(oldSelf.${field})`, message: `${name} is immutable` };
}

type UnionDefinition = Extract<Definition, { type: "union" }>;

/** One member of a discriminated union. */
interface Variant {
  /** Values of the discriminator that select this variant. */
  readonly tags: readonly string[];
  readonly shape: Readonly<Record<string, Schema>>;
}

/**
 * Translates a union. A structural schema has few forms for it: an enum, a value or null (nullable), an integer or a
 * string (x-kubernetes-int-or-string), and objects with a discriminator. The last become one object with CEL rules that
 * say which fields belong to which variant.
 *
 * @throws TypeError when a CRD cannot express the union.
 */
function unionSchema(definition: UnionDefinition, place: Place): Draft {
  if ("discriminator" in definition && typeof definition.discriminator === "string") {
    return discriminatedSchema(definition.discriminator, definition.options, place);
  }
  const options = definition.options.filter((option) => definitionOf(option).type !== "null");
  const hasNull = options.length < definition.options.length;
  const draft = definition.inclusive === false ? undefined : plainUnion(options, place);
  if (draft === undefined) {
    throw cannotDefine(
      place,
      "is a union that a CRD cannot express; use z.discriminatedUnion(), intOrString() or an object of optional fields",
    );
  }
  return hasNull ? nullable(draft, place) : draft;
}

function plainUnion(options: readonly Schema[], place: Place): Draft | undefined {
  if (options.length > 1) { for (const option of options) refuseMeta(option, place); }
  const [first, second, ...more] = options;
  if (first === undefined) return undefined;
  if (second === undefined) return { ...translate(first, place) };
  const members = options.map((option) => membersOf(definitionOf(option)));
  if (members.every((list) => list !== undefined)) return enumSchema(new Set(members.flat()), place);
  if (more.length > 0) return undefined;
  const whole = wideInteger(first, second);
  if (whole !== undefined) return whole;
  const [number, text] = definitionOf(first).type === "string" ? [second, first] : [first, second];
  if (definitionOf(text).type !== "string") return undefined;
  const wide = wideInteger(...sidesOf(number));
  if (wide === undefined && definitionOf(number).type !== "number") return undefined;
  return intOrString(wide ?? numberSchema(number, place), text, place);
}

/** The two sides of a union. */
function sidesOf(schema: Schema): readonly Schema[] {
  const definition = definitionOf(schema);
  return definition.type === "union" ? definition.options : [];
}

/**
 * The schema of the two sides of `int64()` and `integer()`: integers that a number represents exactly, and bigints with
 * the same bounds. Undefined for other unions.
 */
function wideInteger(first?: Schema, second?: Schema): Draft | undefined {
  if (first === undefined || second === undefined || definitionOf(second).type !== "bigint") return undefined;
  const [exact, wide] = [checksOf(first), checksOf(second)].map((checks) => ({
    formats: checks.flatMap((check) => "format" in check ? [check.format] : []).join(),
    bounds: checks.filter((check) => !("format" in check)).map(boundOf),
  }));
  if (exact === undefined || wide === undefined || !sameJson(exact.bounds, wide.bounds)) return undefined;
  if (exact.formats !== "safeint" || exact.bounds.includes(undefined) || !/^(int64)?$/.test(wide.formats)) {
    return undefined;
  }
  return {
    type: "integer",
    ...(wide.formats === "" ? {} : { format: "int64" }),
    ...Object.assign({}, ...exact.bounds),
  };
}

/** The bound that a check sets; undefined for other checks. */
function boundOf(check: Check): Draft | undefined {
  if (check.check === "greater_than" && check.inclusive) return { minimum: Number(check.value) };
  if (check.check === "less_than" && check.inclusive) return { maximum: Number(check.value) };
  return undefined;
}

/** The bounds of both sides stand together: the API server applies number keywords to numbers and string keywords to strings. */
function intOrString(number: Draft, text: Schema, place: Place): Draft | undefined {
  const { type, format, ...bounds } = number;
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
): Draft {
  const variants = options.map((option) => variantOf(option, discriminator, place));
  const names = new Set(variants.flatMap((variant) => Object.keys(variant.shape)));
  names.delete(discriminator);
  const tags = enumSchema(variants.flatMap((variant) => variant.tags), propertyOf(place, discriminator));
  const properties: [string, StructuralSchema][] = [[discriminator, tags]];
  const required = [discriminator];
  const presenceRules: ValidationRule[] = [];
  for (const name of names) {
    const holders = variants.filter((variant) => Object.hasOwn(variant.shape, name));
    const everywhere = holders.length === variants.length;
    properties.push([name, sharedSchema(name, holders, everywhere, place)]);
    if (everywhere && holders.every((variant) => needs(variant, name))) required.push(name);
    else if (holders.some((variant) => isImmutableIn(variant, name))) {
      presenceRules.push(presenceRule(name, propertyOf(place, name)));
    }
  }
  const draft: Draft = { type: "object", properties: Object.fromEntries(properties), required };
  const rules = variants.flatMap((variant) => variantRules(variant, discriminator, names, required, place));
  addRules(draft, [...presenceRules, ...rules], place);
  return draft;
}

/** Refuses metadata on one side of a union: the merged schema cannot express it. */
function refuseMeta(option: Schema, place: Place): void {
  const { description: _description, title: _title, id: _id, ...meta } = metaOf(option);
  const [key] = Object.keys(meta);
  if (key !== undefined) {
    throw cannotDefine(place, `is a union with ${key} in the meta() of one side; put it on the union`);
  }
  refuseCoercion(option, place);
}

function variantOf(option: Schema, discriminator: string, place: Place): Variant {
  refuseMeta(option, place);
  const definition = definitionOf(option);
  if (definition.type !== "object") throw cannotDefine(place, "is a union with a variant that is not a z.object()");
  if ((option._zod.def.checks ?? []).length > 0) {
    throw cannotDefine(place, "is a union with checks on a variant, which a CRD cannot express; use a CEL rule");
  }
  const rest = definition.catchall === undefined ? "never" : definitionOf(definition.catchall).type;
  if (rest !== "never") throw cannotDefine(place, "is a union with a loose variant, which a CRD cannot express");
  const tag = Object.hasOwn(definition.shape, discriminator) ? definition.shape[discriminator] : undefined;
  const tags = tag === undefined ? undefined : membersOf(definitionOf(tag));
  if (tags === undefined || !tags.every((value) => typeof value === "string")) {
    throw cannotDefine(
      place,
      `is a union whose discriminator ${discriminator} is not a literal string in every variant`,
    );
  }
  return { tags, shape: definition.shape };
}

/** The schema of a field that one or more variants have. A structural schema can hold only one. */
function sharedSchema(
  name: string,
  holders: readonly Variant[],
  everywhere: boolean,
  place: Place,
): StructuralSchema {
  const at = propertyOf(place, name);
  const [first, ...others] = holders.flatMap((variant) => variant.shape[name] ?? []).map((field) =>
    translate(field, at)
  );
  if (first === undefined || others.some((other) => !sameJson(first, other))) {
    throw cannotDefine(at, "has two different schemas in two variants of a union, a CRD can hold only one");
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

function isImmutableIn(variant: Variant, name: string): boolean {
  const field = Object.hasOwn(variant.shape, name) ? variant.shape[name] : undefined;
  return field !== undefined && isImmutable(field);
}
