/**
 * SchemaProps: one node of the OpenAPI v3 schema of a CustomResourceDefinition, read from its JSON once, so that nothing
 * that runs per object looks at keywords. Values of the wrong type are as if they were not there: decoding has refused
 * them before.
 */
import { isJsonArray, isJsonObject, type Json, type JsonObject, read } from "../model/mod.ts";

/** A rule of x-kubernetes-validations. */
export interface ValidationRule {
  readonly rule: string;
  readonly message: string;
  readonly messageExpression: string;
  readonly reason: string | undefined;
  readonly fieldPath: string;
  readonly optionalOldSelf: boolean | undefined;
  /** As it was written: messages show it. */
  readonly json: JsonObject;
}

/** One node of a schema. Absent numbers and texts are undefined or "". */
export interface SchemaProps {
  /** As it was written: messages show it. */
  readonly json: JsonObject;
  readonly type: string;
  readonly format: string;
  readonly title: string;
  readonly description: string;
  readonly nullable: boolean;
  /** Undefined for none; a default of null is none as well. */
  readonly default: Json | undefined;
  readonly maximum: number | undefined;
  readonly exclusiveMaximum: boolean;
  readonly minimum: number | undefined;
  readonly exclusiveMinimum: boolean;
  readonly maxLength: number | undefined;
  readonly minLength: number | undefined;
  readonly pattern: string;
  readonly maxItems: number | undefined;
  readonly minItems: number | undefined;
  readonly uniqueItems: boolean;
  readonly multipleOf: number | undefined;
  readonly maxProperties: number | undefined;
  readonly minProperties: number | undefined;
  readonly enum: readonly Json[];
  readonly required: readonly string[];
  readonly items: SchemaProps | undefined;
  /** The schema of values, or whether there may be any; undefined where it is not said. */
  readonly additionalProperties: SchemaProps | boolean | undefined;
  readonly properties: ReadonlyMap<string, SchemaProps>;
  readonly allOf: readonly SchemaProps[];
  readonly oneOf: readonly SchemaProps[];
  readonly anyOf: readonly SchemaProps[];
  readonly not: SchemaProps | undefined;
  /** Keywords that no schema may have. */
  readonly unsupported: ReadonlySet<UnsupportedKeyword>;
  /** False is an error of its own. */
  readonly preservesUnknownFields: boolean | undefined;
  readonly isEmbeddedResource: boolean;
  readonly isIntOrString: boolean;
  readonly listType: string | undefined;
  readonly listMapKeys: readonly string[];
  readonly mapType: string | undefined;
  readonly rules: readonly ValidationRule[];
}

/** A keyword that no schema may have; `itemsArray` is `items` with a list of schemas. */
export type UnsupportedKeyword =
  | "id"
  | "$schema"
  | "$ref"
  | "additionalItems"
  | "patternProperties"
  | "definitions"
  | "dependencies"
  | "itemsArray";

/** Reads a schema. */
export function readSchema(json: JsonObject): SchemaProps {
  const items = read(json, "items");
  const additional = read(json, "additionalProperties");
  const not = read(json, "not");
  return {
    json,
    type: text(json, "type"),
    format: text(json, "format"),
    title: text(json, "title"),
    description: text(json, "description"),
    nullable: flag(json, "nullable"),
    default: read(json, "default") ?? undefined,
    maximum: number(json, "maximum"),
    exclusiveMaximum: flag(json, "exclusiveMaximum"),
    minimum: number(json, "minimum"),
    exclusiveMinimum: flag(json, "exclusiveMinimum"),
    maxLength: number(json, "maxLength"),
    minLength: number(json, "minLength"),
    pattern: text(json, "pattern"),
    maxItems: number(json, "maxItems"),
    minItems: number(json, "minItems"),
    uniqueItems: flag(json, "uniqueItems"),
    multipleOf: number(json, "multipleOf"),
    maxProperties: number(json, "maxProperties"),
    minProperties: number(json, "minProperties"),
    enum: list(json, "enum"),
    required: texts(json, "required"),
    items: isJsonObject(items) ? readSchema(items) : undefined,
    additionalProperties: isJsonObject(additional)
      ? readSchema(additional)
      : typeof additional === "boolean"
      ? additional
      : undefined,
    properties: schemas(json, "properties"),
    allOf: schemaList(json, "allOf"),
    oneOf: schemaList(json, "oneOf"),
    anyOf: schemaList(json, "anyOf"),
    not: isJsonObject(not) ? readSchema(not) : undefined,
    unsupported: unsupportedOf(json),
    preservesUnknownFields: tristate(json, "x-kubernetes-preserve-unknown-fields"),
    isEmbeddedResource: flag(json, "x-kubernetes-embedded-resource"),
    isIntOrString: flag(json, "x-kubernetes-int-or-string"),
    listType: optionalText(json, "x-kubernetes-list-type"),
    listMapKeys: texts(json, "x-kubernetes-list-map-keys"),
    mapType: optionalText(json, "x-kubernetes-map-type"),
    rules: list(json, "x-kubernetes-validations").filter((rule) => isJsonObject(rule)).map(readRule),
  };
}

/** The schema of values of an object with free keys. */
export function valueSchema(props: SchemaProps): SchemaProps | undefined {
  return typeof props.additionalProperties === "object" ? props.additionalProperties : undefined;
}

function readRule(json: JsonObject): ValidationRule {
  return {
    rule: text(json, "rule"),
    message: text(json, "message"),
    messageExpression: text(json, "messageExpression"),
    reason: optionalText(json, "reason"),
    fieldPath: text(json, "fieldPath"),
    optionalOldSelf: tristate(json, "optionalOldSelf"),
    json,
  };
}

function unsupportedOf(json: JsonObject): ReadonlySet<UnsupportedKeyword> {
  const found = new Set<UnsupportedKeyword>();
  if (text(json, "id") !== "") found.add("id");
  if (text(json, "$schema") !== "") found.add("$schema");
  if (read(json, "$ref") !== undefined) found.add("$ref");
  if (read(json, "additionalItems") !== undefined) found.add("additionalItems");
  if (Object.keys(object(json, "patternProperties")).length > 0) found.add("patternProperties");
  if (Object.keys(object(json, "definitions")).length > 0) found.add("definitions");
  if (isJsonObject(read(json, "dependencies"))) found.add("dependencies");
  const items = read(json, "items");
  if (isJsonArray(items) && items.length > 0) found.add("itemsArray");
  return found;
}

function schemas(json: JsonObject, key: string): ReadonlyMap<string, SchemaProps> {
  const found = new Map<string, SchemaProps>();
  for (const [name, value] of Object.entries(object(json, key))) {
    if (isJsonObject(value)) found.set(name, readSchema(value));
  }
  return found;
}

function schemaList(json: JsonObject, key: string): readonly SchemaProps[] {
  return list(json, key).filter((item) => isJsonObject(item)).map(readSchema);
}

function object(json: JsonObject, key: string): JsonObject {
  const value = read(json, key);
  return isJsonObject(value) ? value : {};
}

function list(json: JsonObject, key: string): readonly Json[] {
  const value = read(json, key);
  return isJsonArray(value) ? value : [];
}

function texts(json: JsonObject, key: string): readonly string[] {
  return list(json, key).filter((item) => typeof item === "string");
}

function text(json: JsonObject, key: string): string {
  return optionalText(json, key) ?? "";
}

function optionalText(json: JsonObject, key: string): string | undefined {
  const value = read(json, key);
  return typeof value === "string" ? value : undefined;
}

function number(json: JsonObject, key: string): number | undefined {
  const value = read(json, key);
  return typeof value === "number" ? value : undefined;
}

function flag(json: JsonObject, key: string): boolean {
  return read(json, key) === true;
}

function tristate(json: JsonObject, key: string): boolean | undefined {
  const value = read(json, key);
  return typeof value === "boolean" ? value : undefined;
}
