/**
 * DefinitionForm: the internal form of a CustomResourceDefinition, which Kubernetes validates. In this form everything that
 * all versions have in common stands once at the top, and messages name fields by it (`spec.validation`). Also prints parts
 * of a definition as Go prints its internal types: all fields, in Go's order, with their Go names.
 */
import { printExactJson } from "../../../api/mod.ts";
import { isJsonArray, isJsonObject, isSameJson, type Json, type JsonObject, read } from "../../model/mod.ts";
import { objectAt, objectsAt, textAt } from "../../kinds/mod.ts";
import { type CrdNames, readNames } from "./crd_spec.ts";
import { schemaOf, type SchemaProps, type ValidationRule } from "../schema/mod.ts";

/** The parts that stand in each version, or at the top. */
export interface SharedParts {
  /** True when `schema` is set, even without a schema in it. */
  readonly hasValidation: boolean;
  readonly schema: SchemaProps | undefined;
  readonly subresources: JsonObject | undefined;
  readonly columns: readonly JsonObject[];
  /** JSON paths. */
  readonly selectableFields: readonly string[];
}

/** One version. */
export interface VersionForm extends SharedParts {
  readonly name: string;
  readonly isServed: boolean;
  readonly isStorage: boolean;
  readonly isDeprecated: boolean;
  readonly deprecationWarning: string | undefined;
  /** All parts of the version, shared or not. */
  readonly own: SharedParts;
}

/** A definition. */
export interface DefinitionForm {
  readonly name: string;
  readonly group: string;
  readonly scope: string;
  readonly names: CrdNames;
  readonly preservesUnknownFields: boolean;
  readonly versions: readonly VersionForm[];
  /** The parts that all versions have in common. */
  readonly shared: SharedParts;
  /** Undefined when it is not set. */
  readonly conversion: JsonObject | undefined;
  readonly approval: string;
  readonly status: JsonObject;
  readonly isEstablished: boolean;
}

const noParts: SharedParts = {
  hasValidation: false,
  schema: undefined,
  subresources: undefined,
  columns: [],
  selectableFields: [],
};

/** Reads a definition. */
export function readForm(object: JsonObject): DefinitionForm {
  const metadata = objectAt(object, "metadata");
  const spec = objectAt(object, "spec");
  const status = objectAt(object, "status");
  const versions = objectsAt(spec, "versions");
  const isShared = sharedKeys(versions);
  const [first] = versions;
  const conversion = read(spec, "conversion");
  return {
    name: textAt(metadata, "name"),
    group: textAt(spec, "group"),
    scope: textAt(spec, "scope"),
    names: readNames(objectAt(spec, "names")),
    preservesUnknownFields: read(spec, "preserveUnknownFields") === true,
    versions: versions.map((version) => readVersion(version, isShared)),
    shared: first === undefined ? noParts : readParts(first, (key) => isShared.has(key)),
    conversion: isJsonObject(conversion) ? conversion : undefined,
    approval: textAt(objectAt(metadata, "annotations"), "api-approved.kubernetes.io"),
    status,
    isEstablished: objectsAt(status, "conditions").some((condition) =>
      textAt(condition, "type") === "Established" && textAt(condition, "status") === "True"
    ),
  };
}

const partKeys = ["schema", "subresources", "additionalPrinterColumns", "selectableFields"] as const;
type PartKey = (typeof partKeys)[number];

/** The parts that are equal in all versions. */
function sharedKeys(versions: readonly JsonObject[]): ReadonlySet<PartKey> {
  const [first] = versions;
  if (first === undefined) return new Set();
  return new Set(
    partKeys.filter((key) => versions.every((version) => isSamePart(read(version, key), read(first, key)))),
  );
}

/** Go treats an absent value, null and an empty list alike. */
function isSamePart(left: Json | undefined, right: Json | undefined): boolean {
  const [a, b] = [left ?? null, right ?? null].map((part) => Array.isArray(part) && part.length === 0 ? null : part);
  return isSameJson(a, b);
}

function readVersion(json: JsonObject, isShared: ReadonlySet<PartKey>): VersionForm {
  const warning = read(json, "deprecationWarning");
  return {
    ...readParts(json, (key) => !isShared.has(key)),
    name: textAt(json, "name"),
    isServed: read(json, "served") === true,
    isStorage: read(json, "storage") === true,
    isDeprecated: read(json, "deprecated") === true,
    deprecationWarning: typeof warning === "string" ? warning : undefined,
    own: readParts(json, () => true),
  };
}

function readParts(json: JsonObject, isHere: (key: PartKey) => boolean): SharedParts {
  const validation = isHere("schema") ? read(json, "schema") : undefined;
  const schema = isJsonObject(validation) ? read(validation, "openAPIV3Schema") : undefined;
  const subresources = isHere("subresources") ? read(json, "subresources") : undefined;
  return {
    hasValidation: isJsonObject(validation),
    schema: isJsonObject(schema) ? schemaOf(schema) : undefined,
    subresources: isJsonObject(subresources) ? subresources : undefined,
    columns: isHere("additionalPrinterColumns") ? objectsAt(json, "additionalPrinterColumns") : [],
    selectableFields: isHere("selectableFields")
      ? objectsAt(json, "selectableFields").map((field) => textAt(field, "jsonPath"))
      : [],
  };
}

/** All distinct schemas of a definition. */
export function schemasOf(form: DefinitionForm): readonly SchemaProps[] {
  return [form.shared, ...form.versions].flatMap(({ schema }) => schema ?? []);
}

/** A rule as messages print it. */
export function goRule(rule: ValidationRule): string {
  return jsonInOrder(goRuleJson(rule.json));
}

/** Like Go's encoding/json for a struct: fields in order, HTML characters escaped. */
function jsonInOrder(value: Json): string {
  const escape = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return printExactJson(value).replace(/[<>&\u2028\u2029]/g, escape);
}

/** The versions as messages print them. */
export function goVersions(versions: readonly VersionForm[]): string {
  return jsonInOrder(versions.map((version) => ({
    Name: version.name,
    Served: version.isServed,
    Storage: version.isStorage,
    Deprecated: version.isDeprecated,
    DeprecationWarning: version.deprecationWarning ?? null,
    Schema: version.hasValidation
      ? { OpenAPIV3Schema: version.schema === undefined ? null : goSchema(version.schema.json) }
      : null,
    Subresources: version.subresources === undefined ? null : goSubresources(version.subresources),
    AdditionalPrinterColumns: version.columns.length === 0 ? null : version.columns.map(goColumn),
    SelectableFields: version.selectableFields.length === 0
      ? null
      : version.selectableFields.map((path) => ({ JSONPath: path })),
  })));
}

function goSubresources(json: JsonObject): JsonObject {
  const [status, scale] = [read(json, "status"), read(json, "scale")];
  return {
    Status: isJsonObject(status) ? {} : null,
    Scale: isJsonObject(scale)
      ? {
        SpecReplicasPath: textAt(scale, "specReplicasPath"),
        StatusReplicasPath: textAt(scale, "statusReplicasPath"),
        LabelSelectorPath: read(scale, "labelSelectorPath") ?? null,
      }
      : null,
  };
}

function goColumn(json: JsonObject): JsonObject {
  return {
    Name: textAt(json, "name"),
    Type: textAt(json, "type"),
    Format: textAt(json, "format"),
    Description: textAt(json, "description"),
    Priority: read(json, "priority") ?? 0,
    JSONPath: textAt(json, "jsonPath"),
  };
}

type Shape = "text" | "flag" | "any" | "schema" | "schemas" | "schemaMap" | "items" | "schemaOrBool" | "docs" | "rules";

const schemaFields: ReadonlyArray<readonly [goName: string, jsonName: string, shape: Shape]> = [
  ["ID", "id", "text"],
  ["Schema", "$schema", "text"],
  ["Ref", "$ref", "any"],
  ["Description", "description", "text"],
  ["Type", "type", "text"],
  ["Nullable", "nullable", "flag"],
  ["Format", "format", "text"],
  ["Title", "title", "text"],
  ["Default", "default", "any"],
  ["Maximum", "maximum", "any"],
  ["ExclusiveMaximum", "exclusiveMaximum", "flag"],
  ["Minimum", "minimum", "any"],
  ["ExclusiveMinimum", "exclusiveMinimum", "flag"],
  ["MaxLength", "maxLength", "any"],
  ["MinLength", "minLength", "any"],
  ["Pattern", "pattern", "text"],
  ["MaxItems", "maxItems", "any"],
  ["MinItems", "minItems", "any"],
  ["UniqueItems", "uniqueItems", "flag"],
  ["MultipleOf", "multipleOf", "any"],
  ["Enum", "enum", "any"],
  ["MaxProperties", "maxProperties", "any"],
  ["MinProperties", "minProperties", "any"],
  ["Required", "required", "any"],
  ["Items", "items", "items"],
  ["AllOf", "allOf", "schemas"],
  ["OneOf", "oneOf", "schemas"],
  ["AnyOf", "anyOf", "schemas"],
  ["Not", "not", "schema"],
  ["Properties", "properties", "schemaMap"],
  ["AdditionalProperties", "additionalProperties", "schemaOrBool"],
  ["PatternProperties", "patternProperties", "schemaMap"],
  ["Dependencies", "dependencies", "any"],
  ["AdditionalItems", "additionalItems", "schemaOrBool"],
  ["Definitions", "definitions", "schemaMap"],
  ["ExternalDocs", "externalDocs", "docs"],
  ["Example", "example", "any"],
  ["XPreserveUnknownFields", "x-kubernetes-preserve-unknown-fields", "any"],
  ["XEmbeddedResource", "x-kubernetes-embedded-resource", "flag"],
  ["XIntOrString", "x-kubernetes-int-or-string", "flag"],
  ["XListMapKeys", "x-kubernetes-list-map-keys", "any"],
  ["XListType", "x-kubernetes-list-type", "any"],
  ["XMapType", "x-kubernetes-map-type", "any"],
  ["XValidations", "x-kubernetes-validations", "rules"],
];

/** A schema as messages print it. */
export function goSchema(json: JsonObject): JsonObject {
  return Object.fromEntries(schemaFields.map(([goName, name, shape]) => [goName, goField(read(json, name), shape)]));
}

/** The Go names of the fields that are set in a schema, in Go's order. */
export function setFieldsOf(json: JsonObject): readonly string[] {
  return schemaFields.filter(([, name, shape]) => !isZero(read(json, name), shape)).map(([goName]) => goName);
}

function isZero(value: Json | undefined, shape: Shape): boolean {
  if (value === undefined || value === null) return true;
  return shape === "text" ? value === "" : shape === "flag" ? value === false : false;
}

function goField(value: Json | undefined, shape: Shape): Json {
  if (value === undefined || value === null) return shape === "text" ? "" : shape === "flag" ? false : null;
  switch (shape) {
    case "text":
    case "flag":
    case "any":
      return value;
    case "schema":
      return isJsonObject(value) ? goSchema(value) : null;
    case "schemas":
      return isJsonArray(value) ? value.map((item) => goField(item, "schema")) : null;
    case "schemaMap":
      if (!isJsonObject(value)) return null;
      return Object.fromEntries(Object.keys(value).sort().map((key) => [key, goField(read(value, key), "schema")]));
    case "items":
      return isJsonArray(value)
        ? { Schema: null, JSONSchemas: goField(value, "schemas") }
        : { Schema: goField(value, "schema"), JSONSchemas: null };
    case "schemaOrBool":
      return isJsonObject(value) ? { Allows: true, Schema: goSchema(value) } : { Allows: value, Schema: null };
    case "docs":
      return isJsonObject(value) ? { Description: textAt(value, "description"), URL: textAt(value, "url") } : null;
    case "rules":
      return isJsonArray(value) ? value.map((rule) => goRuleJson(isJsonObject(rule) ? rule : {})) : null;
    default:
      return shape satisfies never;
  }
}

function goRuleJson(json: JsonObject): JsonObject {
  return {
    Rule: textAt(json, "rule"),
    Message: textAt(json, "message"),
    MessageExpression: textAt(json, "messageExpression"),
    Reason: read(json, "reason") ?? null,
    FieldPath: textAt(json, "fieldPath"),
    OptionalOldSelf: read(json, "optionalOldSelf") ?? null,
  };
}
