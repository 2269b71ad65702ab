/**
 * schemaExpression(): the zod schema for a structural schema, as a person would write it. What zod cannot say is added with
 * `.meta({ openapi })`; a node of which zod can say nothing is `z.unknown()` with the whole schema.
 *
 * Guarantees: `structuralSchema()` of the result is the given schema. A pattern that JavaScript reads in another way than
 * the API server stays text, and so does one that stands beside a long default: a hostile pattern would take hours there.
 */
import { type Json, type StructuralSchema, structuralSchema, z } from "../../schema/mod.ts";
import { printExactJson } from "../../api/mod.ts";
import { call, type Chain, evaluate, type Expression, fields, json, then } from "./expression.ts";

/** Where a schema stands. */
type Position = "required" | "optional" | "element";

/** What a zod schema says, and what is left to say. */
interface Draft {
  readonly chain: Chain;
  /** The keywords that the chain says. */
  readonly said: readonly (keyof StructuralSchema)[];
  /** Fields that zod does not take for required, because they have a default. */
  readonly required?: readonly string[];
}

/** Backtracking takes at most 2^16 steps for a text of this length. */
const maxBacktrackingText = 16;

/** The zod schema for `schema`. */
export function schemaExpression(schema: StructuralSchema, position: Position = "required"): Chain {
  return withDefault(schema, position, longTextIn(schema.default));
}

function withDefault(schema: StructuralSchema, position: Position, hasLongDefault: boolean): Chain {
  const { description, default: value, ...own } = schema;
  const bare = withOpenapi(own, hasLongDefault, {});
  const described = (chain: Chain) => description === undefined ? chain : then(chain, "describe", json(description));
  if (position !== "element" && value !== undefined && value !== null) {
    const chain = then(bare, isComposite(own) ? "prefault" : "default", json(value));
    if (!hasLongDefault && acceptsDefault(chain)) return described(chain);
  }
  const whole = value === undefined ? bare : withOpenapi(own, hasLongDefault, { default: value });
  return described(position === "optional" ? then(whole, "optional") : whole);
}

/** Parsing puts the defaults of fields into objects; scalars have none. */
function isComposite({ type }: StructuralSchema): boolean {
  return type === "object" || type === "array";
}

function acceptsDefault(chain: Chain): boolean {
  try {
    structuralSchema(schemaOf(chain), "Kind");
    return true;
  } catch {
    return false;
  }
}

function schemaOf(chain: Chain): z.ZodType {
  const value = evaluate(chain);
  if (value instanceof z.ZodType) return value;
  throw new TypeError("Cannot evaluate an expression: it is no zod schema");
}

/** True when a default has a text on which a pattern may take long. */
function longTextIn(value: Json | undefined): boolean {
  return value !== undefined && printExactJson(value).length > maxBacktrackingText + 2;
}

function withOpenapi(schema: StructuralSchema, hasLongDefault: boolean, added: StructuralSchema): Chain {
  const { chain, said, required } = draftOf(schema, hasLongDefault) ?? { chain: call("z.unknown"), said: [] };
  if (said.length === 0) return then(chain, "meta", fields([["openapi", json(jsonOf({ ...schema, ...added }))]]));
  const { nullable, enum: members, ...keywords }: StructuralSchema = {
    ...without(schema, said),
    ...added,
    ...(required === undefined ? {} : { required }),
  };
  if (nullable !== true) return withMeta(chain, { ...keywords, enum: members });
  // Before nullable(), an enum would become a CEL rule.
  return withMeta(then(withMeta(chain, keywords), "nullable"), { enum: members });
}

/** The keywords that are left to say. */
function without(schema: StructuralSchema, said: readonly string[]): StructuralSchema {
  return Object.fromEntries(Object.entries(schema).filter(([name]) => !said.includes(name)));
}

/** Keywords that `.meta()` takes itself. */
const metaKeywords: ReadonlySet<string> = new Set([
  ...["title", "example", "minProperties", "maxProperties"],
  ...["x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-map-type"],
  ...["x-kubernetes-embedded-resource", "x-kubernetes-preserve-unknown-fields"],
]);

function withMeta(chain: Chain, keywords: StructuralSchema): Chain {
  const own: (readonly [string, Expression])[] = [];
  const openapi: Record<string, Json> = {};
  for (const [name, value] of Object.entries(keywords)) {
    if (value === undefined || (name === "required" && value.length === 0)) continue;
    if (name === "x-kubernetes-validations") own.push(["cel", json(jsonOf(value))]);
    else if (metaKeywords.has(name)) own.push([name, json(jsonOf(value))]);
    else openapi[name] = jsonOf(value);
  }
  if (Object.keys(openapi).length > 0) own.push(["openapi", json(openapi)]);
  return own.length === 0 ? chain : then(chain, "meta", fields(own));
}

/** The keywords come from JSON. */
function jsonOf(value: unknown): Json {
  return value as Json;
}

function draftOf(schema: StructuralSchema, hasLongDefault: boolean): Draft | undefined {
  if (schema["x-kubernetes-int-or-string"] === true) return intOrStringDraft(schema, hasLongDefault);
  switch (schema.type) {
    case "object":
      return objectDraft(schema, hasLongDefault);
    case "array":
      return arrayDraft(schema, hasLongDefault);
    case "string":
      return stringDraft(schema, hasLongDefault);
    case "integer":
      return integerDraft(schema);
    case "number":
      return numberDraft(schema);
    case "boolean":
      return schema.enum === undefined || schema.nullable === true
        ? { chain: call("z.boolean"), said: ["type"] }
        : { chain: call("z.literal", json(schema.enum)), said: ["type", "enum"] };
    case undefined:
      return schema["x-kubernetes-preserve-unknown-fields"] === true && onlyMeta(schema)
        ? { chain: call("z.unknown"), said: ["x-kubernetes-preserve-unknown-fields"] }
        : undefined;
    default:
      return schema.type satisfies never;
  }
}

/** With a keyword of OpenAPI beside it, `z.unknown()` says nothing. */
function onlyMeta(schema: StructuralSchema): boolean {
  return Object.keys(schema).every((name) =>
    metaKeywords.has(name) || name === "nullable" || name === "x-kubernetes-validations"
  );
}

function objectDraft(schema: StructuralSchema, hasLongDefault: boolean): Draft | undefined {
  const { properties = {}, additionalProperties, required = [] } = schema;
  const isLoose = schema["x-kubernetes-preserve-unknown-fields"] === true;
  const names = Object.keys(properties);
  if (schema["x-kubernetes-embedded-resource"] === true && !isLoose) return undefined;
  if (additionalProperties !== undefined) {
    if (typeof additionalProperties === "boolean" || names.length > 0 || isLoose) return undefined;
    const values = below(additionalProperties, "element", hasLongDefault);
    return { chain: call("z.record", call("z.string"), values), said: ["type", "additionalProperties"] };
  }
  const shape = names.map((name) => {
    const field = properties[name] ?? {};
    const position = required.includes(name) ? "required" : "optional";
    // Reading an absent `constructor` gives what every object inherits, so the type of the field promises nothing.
    if (name in Object.prototype) return [name, inheritedField(field, position)] as const;
    return [name, below(field, position, hasLongDefault)] as const;
  });
  const isSaid = (name: string) => shape.some(([known, chain]) => known === name && isRequired(chain));
  return {
    chain: call(isLoose ? "z.looseObject" : "z.object", fields(shape)),
    said: ["type", "properties", "required", ...(isLoose ? ["x-kubernetes-preserve-unknown-fields" as const] : [])],
    required: required.filter((name) => !isSaid(name)),
  };
}

/** A field of which zod checks nothing, and the API server everything. */
function inheritedField({ description, ...schema }: StructuralSchema, position: Position): Chain {
  const chain = then(call("z.unknown"), "meta", fields([["openapi", json(jsonOf(schema))]]));
  const whole = position === "required" ? chain : then(chain, "optional");
  return description === undefined ? whole : then(whole, "describe", json(description));
}

function below(schema: StructuralSchema, position: Position, hasLongDefault: boolean): Chain {
  return withDefault(schema, position, hasLongDefault || longTextIn(schema.default));
}

/** Whether zod takes the field for required. */
function isRequired({ calls }: Chain): boolean {
  return !calls.some(({ name }) => name === "optional" || name === "default" || name === "prefault");
}

function arrayDraft(schema: StructuralSchema, hasLongDefault: boolean): Draft | undefined {
  const { items, minItems, maxItems } = schema;
  if (items === undefined) return undefined;
  const chain = bounded(call("z.array", below(items, "element", hasLongDefault)), [["min", minItems], [
    "max",
    maxItems,
  ]]);
  return { chain, said: ["type", "items", "minItems", "maxItems"] };
}

function stringDraft(schema: StructuralSchema, hasLongDefault: boolean): Draft {
  const { enum: members, minLength, maxLength, pattern } = schema;
  if (members !== undefined && schema.nullable !== true && members.every((member) => typeof member === "string")) {
    return { chain: call("z.enum", json(members)), said: ["type", "enum"] };
  }
  const lengths = bounded(call("z.string"), [["min", minLength], ["max", maxLength]]);
  const regexp = pattern === undefined || hasLongDefault ? undefined : readAlike(pattern);
  const said = ["type", "minLength", "maxLength"] as const;
  if (regexp === undefined) return { chain: lengths, said };
  return { chain: then(lengths, "regex", { kind: "pattern", regexp }), said: [...said, "pattern"] };
}

/** The pattern for JavaScript; undefined when it means another thing there. */
function readAlike(pattern: string): RegExp | undefined {
  try {
    const regexp = new RegExp(pattern);
    return structuralSchema(z.string().regex(regexp), "Kind").pattern === pattern ? regexp : undefined;
  } catch {
    return undefined;
  }
}

function bounded(chain: Chain, checks: readonly (readonly [name: string, bound: number | undefined])[]): Chain {
  return checks.reduce((whole, [name, bound]) => bound === undefined ? whole : then(whole, name, json(bound)), chain);
}

/** The bounds of numbers, with the names that zod has for them. */
function numberBounds({ minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf }: StructuralSchema) {
  return [
    [exclusiveMinimum === true ? "gt" : "min", minimum],
    [exclusiveMaximum === true ? "lt" : "max", maximum],
    ["multipleOf", isWhole(multipleOf) ? multipleOf : undefined],
  ] as const;
}

/** The kind is refused with other steps in zod, because the API server computes them in another way. */
function isWhole(multipleOf: number | undefined): boolean {
  return multipleOf !== undefined && Number.isInteger(multipleOf);
}

const boundKeywords = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"] as const;

/** The keywords that `numberBounds` writes. */
function boundsSaid({ multipleOf }: StructuralSchema) {
  return [...boundKeywords, ...(isWhole(multipleOf) ? ["multipleOf" as const] : [])] as const;
}

function integerDraft(schema: StructuralSchema): Draft {
  const { format, minimum, maximum, enum: members } = schema;
  const isSafe = (value: unknown) => value === undefined || Number.isSafeInteger(value);
  if (members !== undefined && schema.nullable !== true && members.every((member) => Number.isSafeInteger(member))) {
    return { chain: call("z.literal", json(members)), said: ["type", "enum"] };
  }
  if (format === "int32" && boundKeywords.every((name) => isConsistent(schema, name))) {
    return { chain: bounded(call("z.int32"), numberBounds(schema)), said: ["type", "format", ...boundsSaid(schema)] };
  }
  const name = format === "int64" ? "int64" : "integer";
  const said = ["type", ...(format === "int64" ? ["format" as const] : [])] as const;
  const isPlain = schema.exclusiveMinimum !== true && schema.exclusiveMaximum !== true && isSafe(minimum) &&
    isSafe(maximum);
  if (!isPlain || (minimum === undefined && maximum === undefined)) return { chain: call(name), said };
  const bounds = {
    ...(minimum === undefined ? {} : { min: minimum }),
    ...(maximum === undefined ? {} : { max: maximum }),
  };
  const isNumber = format === "int64" && minimum !== undefined && maximum !== undefined;
  const chain = isNumber ? bounded(call("z.int"), numberBounds(schema)) : call(name, json(bounds));
  const saysStep = isNumber && isWhole(schema.multipleOf);
  return { chain, said: [...said, "minimum", "maximum", ...(saysStep ? ["multipleOf" as const] : [])] };
}

/** An exclusive bound without a bound says nothing to zod. */
function isConsistent(schema: StructuralSchema, name: typeof boundKeywords[number]): boolean {
  if (name === "exclusiveMinimum") return schema[name] !== true || schema.minimum !== undefined;
  if (name === "exclusiveMaximum") return schema[name] !== true || schema.maximum !== undefined;
  return true;
}

const floats: Readonly<Record<string, string>> = { float: "z.float32", double: "z.float64" };

function numberDraft(schema: StructuralSchema): Draft {
  const { format = "" } = schema;
  const name = Object.hasOwn(floats, format) ? floats[format] : undefined;
  const said = ["type", ...(name === undefined ? [] : ["format" as const])] as const;
  const chain = call(name ?? "z.number");
  if (!boundKeywords.every((keyword) => isConsistent(schema, keyword))) return { chain, said };
  return { chain: bounded(chain, numberBounds(schema)), said: [...said, ...boundsSaid(schema)] };
}

function intOrStringDraft(schema: StructuralSchema, hasLongDefault: boolean): Draft {
  const { chain, said } = stringDraft({ ...schema, enum: undefined }, hasLongDefault);
  const union = call("z.union", { kind: "list", items: [call("integer"), chain] });
  return { chain: union, said: [...said.filter((name) => name !== "type"), "anyOf", "x-kubernetes-int-or-string"] };
}
