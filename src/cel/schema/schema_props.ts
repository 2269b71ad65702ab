/**
 * SchemaProps: one node of the OpenAPI v3 schema of a CustomResourceDefinition, read from its JSON once. Code that runs for
 * each object uses this form. Values of the wrong type count as absent: decoding has rejected them before.
 */
import {
  booleanAt,
  findNumber,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  objectAt,
  objectsAt,
  read,
  textAt,
  textsAt,
} from "../model/mod.ts";

/** A rule of x-kubernetes-validations. */
export interface ValidationRule {
  readonly rule: string;
  readonly message: string;
  readonly messageExpression: string;
  readonly reason: string | undefined;
  readonly fieldPath: string;
  readonly optionalOldSelf: boolean | undefined;
  /** The original JSON, for messages. */
  readonly json: JsonObject;
}

/** One node of a schema. Absent numbers are undefined, absent strings are "". */
export interface SchemaProps {
  /** The original JSON, for messages. */
  readonly json: JsonObject;
  readonly type: string;
  readonly format: string;
  readonly title: string;
  readonly description: string;
  readonly nullable: boolean;
  /** Undefined when absent or null. */
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
  /** The schema of values, or whether any values are allowed; undefined when absent. */
  readonly additionalProperties: SchemaProps | boolean | undefined;
  readonly properties: ReadonlyMap<string, SchemaProps>;
  readonly allOf: readonly SchemaProps[];
  readonly oneOf: readonly SchemaProps[];
  readonly anyOf: readonly SchemaProps[];
  readonly not: SchemaProps | undefined;
  /** Keywords that a definition must not use. */
  readonly unsupported: ReadonlySet<UnsupportedKeyword>;
  /** False is an error. */
  readonly preservesUnknownFields: boolean | undefined;
  readonly isEmbeddedResource: boolean;
  readonly isIntOrString: boolean;
  readonly listType: string | undefined;
  readonly listMapKeys: readonly string[];
  readonly mapType: string | undefined;
  readonly rules: readonly ValidationRule[];
}

/** A keyword that a definition must not use; `itemsArray` is `items` with a list of schemas. */
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
    type: textAt(json, "type"),
    format: textAt(json, "format"),
    title: textAt(json, "title"),
    description: textAt(json, "description"),
    nullable: booleanAt(json, "nullable"),
    default: read(json, "default") ?? undefined,
    maximum: findNumber(json, "maximum"),
    exclusiveMaximum: booleanAt(json, "exclusiveMaximum"),
    minimum: findNumber(json, "minimum"),
    exclusiveMinimum: booleanAt(json, "exclusiveMinimum"),
    maxLength: findNumber(json, "maxLength"),
    minLength: findNumber(json, "minLength"),
    pattern: textAt(json, "pattern"),
    maxItems: findNumber(json, "maxItems"),
    minItems: findNumber(json, "minItems"),
    uniqueItems: booleanAt(json, "uniqueItems"),
    multipleOf: findNumber(json, "multipleOf"),
    maxProperties: findNumber(json, "maxProperties"),
    minProperties: findNumber(json, "minProperties"),
    enum: list(json, "enum"),
    required: textsAt(json, "required"),
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
    isEmbeddedResource: booleanAt(json, "x-kubernetes-embedded-resource"),
    isIntOrString: booleanAt(json, "x-kubernetes-int-or-string"),
    listType: optionalText(json, "x-kubernetes-list-type"),
    listMapKeys: textsAt(json, "x-kubernetes-list-map-keys"),
    mapType: optionalText(json, "x-kubernetes-map-type"),
    rules: read(json, "x-kubernetes-validations") === undefined
      ? none
      : objectsAt(json, "x-kubernetes-validations").map(readRule),
  };
}

const known = new WeakMap<JsonObject, SchemaProps>();

/** As {@link readSchema}, once for each object: validation, warnings and serving read the same schemas. */
export function schemaOf(json: JsonObject): SchemaProps {
  const props = known.get(json) ?? readSchema(json);
  known.set(json, props);
  return props;
}

/** The schema of the values of a map. */
export function valueSchema(props: SchemaProps): SchemaProps | undefined {
  return typeof props.additionalProperties === "object" ? props.additionalProperties : undefined;
}

function readRule(json: JsonObject): ValidationRule {
  return {
    rule: textAt(json, "rule"),
    message: textAt(json, "message"),
    messageExpression: textAt(json, "messageExpression"),
    reason: optionalText(json, "reason"),
    fieldPath: textAt(json, "fieldPath"),
    optionalOldSelf: tristate(json, "optionalOldSelf"),
    json,
  };
}

// Shared, because most of the 30,000 nodes of a large schema have none of these.
const none: readonly never[] = [];
const noSchemas: ReadonlyMap<string, SchemaProps> = new Map();
const allSupported: ReadonlySet<UnsupportedKeyword> = new Set();

function unsupportedOf(json: JsonObject): ReadonlySet<UnsupportedKeyword> {
  const found = new Set<UnsupportedKeyword>();
  if (textAt(json, "id") !== "") found.add("id");
  if (textAt(json, "$schema") !== "") found.add("$schema");
  if (read(json, "$ref") !== undefined) found.add("$ref");
  if (read(json, "additionalItems") !== undefined) found.add("additionalItems");
  if (Object.keys(objectAt(json, "patternProperties")).length > 0) found.add("patternProperties");
  if (Object.keys(objectAt(json, "definitions")).length > 0) found.add("definitions");
  if (isJsonObject(read(json, "dependencies"))) found.add("dependencies");
  const items = read(json, "items");
  if (isJsonArray(items) && items.length > 0) found.add("itemsArray");
  return found.size === 0 ? allSupported : found;
}

function schemas(json: JsonObject, key: string): ReadonlyMap<string, SchemaProps> {
  if (read(json, key) === undefined) return noSchemas;
  const found = new Map<string, SchemaProps>();
  for (const [name, value] of Object.entries(objectAt(json, key))) {
    if (isJsonObject(value)) found.set(name, readSchema(value));
  }
  return found;
}

function schemaList(json: JsonObject, key: string): readonly SchemaProps[] {
  return read(json, key) === undefined ? none : objectsAt(json, key).map(readSchema);
}

function list(json: JsonObject, key: string): readonly Json[] {
  const value = read(json, key);
  return isJsonArray(value) ? value : none;
}

function optionalText(json: JsonObject, key: string): string | undefined {
  const value = read(json, key);
  return typeof value === "string" ? value : undefined;
}

function tristate(json: JsonObject, key: string): boolean | undefined {
  const value = read(json, key);
  return typeof value === "boolean" ? value : undefined;
}
