/**
 * structuralSchema(): a zod schema as the structural schema of a CustomResourceDefinition.
 *
 * Guarantees: what zod refuses, the API server refuses too, and defaults are the same on both sides, so an object
 * that was stored has the type that zod infers and nobody needs to parse it again. What a CRD cannot express is an
 * error at definition that names the field and the way out; nothing is dropped in silence.
 * Caveats: the server prunes unknown fields where a strict zod object refuses them, and does not know zod's messages.
 */
import { z } from "zod";
import { applyMeta, nullable } from "./_extensions.ts";
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
} from "./_leaves.ts";
import { objectSchema, recordSchema } from "./_objects.ts";
import { patternOf } from "./_pattern.ts";
import { cannotDefine, elementOf, type Place, rootPlace } from "./_place.ts";
import { unionSchema } from "./_unions.ts";
import { checksOf, type Definition, definitionOf, metaOf, type Schema } from "./_zod.ts";
import type { StructuralSchema } from "./structural_schema.ts";

/** Translates the schema below another one. */
export type Translate = (schema: Schema, place: Place) => StructuralSchema;

/**
 * Translates `schema`.
 *
 * @param kind What is being defined, for messages.
 * @throws TypeError when the schema holds something a CRD cannot express.
 *
 * @example
 * ```ts
 * import { structuralSchema, z } from "@pintle/controller";
 *
 * const schema = structuralSchema(z.object({ replicas: z.int32().min(0).default(1) }), "Foo");
 * console.assert(schema.properties?.replicas?.default === 1);
 * ```
 */
export function structuralSchema(schema: z.ZodType, kind: string): StructuralSchema {
  return canonical(translate(schema, rootPlace(kind)));
}

/** Translates `schema` at a place inside a definition. */
export function translate(schema: Schema, place: Place): StructuralSchema {
  refuseCoercion(schema, place);
  const draft = draftOf(schema, place);
  if (!drafterChecks.has(definitionOf(schema).type)) {
    for (const check of checksOf(schema)) refuseCheck(schema, check, place);
  }
  applyMeta(draft, schema, place);
  return draft;
}

/** Types whose drafting looks at every check itself; no other type has checks that a CRD can express. */
const drafterChecks: ReadonlySet<Definition["type"]> = new Set(["string", "number", "array"]);

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
      return objectSchema(definition, place, translate);
    case "record":
      return recordSchema(definition, place, translate);
    case "array":
      return arraySchema(schema, definition.element, place);
    case "union":
      return unionSchema(definition, place, translate);
    case "any":
    case "unknown":
      return { "x-kubernetes-preserve-unknown-fields": true };
    case "lazy":
      return lazySchema(schema, definition.getter, place);
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
      throw cannotDefine(place, `${refusal(definition.type)}, which a CRD cannot express${wayOut(definition.type)}`);
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
  // A function as default is called again each time it is asked for.
  if (!sameJson(value, definition.defaultValue)) {
    throw cannotDefine(place, "has a default that differs each time, a CRD holds one value");
  }
  const parsed = z.safeParse(definition.innerType, value);
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

function lazySchema(schema: Schema, getter: () => Schema, place: Place): Draft {
  if (place.open.has(schema)) throw cannotDefine(place, "contains itself, which a CRD cannot express; use z.unknown()");
  return { ...translate(getter(), { ...place, open: new Set([...place.open, schema]) }) };
}

function templatePattern(schema: Schema, place: Place): RegExp {
  const pattern = schema._zod.pattern;
  if (pattern === undefined) throw cannotDefine(place, "is a template literal without a pattern");
  return pattern;
}

function refusal(type: Definition["type"]): string {
  if (type === "pipe") return "is a transform, preprocess or codec";
  return /^[aeiou]/.test(type) ? `is an ${type}` : `is a ${type}`;
}

function wayOut(type: Definition["type"]): string {
  switch (type) {
    case "date":
      return "; use z.iso.datetime()";
    case "bigint":
      return "; use z.int()";
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
