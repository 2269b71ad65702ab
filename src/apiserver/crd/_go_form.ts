/**
 * Parts of a definition as Go writes its internal types: all fields, in their order, with the names they have in Go.
 * Messages show them so.
 */
import { isJsonArray, isJsonObject, type Json, type JsonObject, read } from "../model/mod.ts";
import type { VersionForm } from "./definition_form.ts";
import { textAt } from "./crd_spec.ts";
import type { ValidationRule } from "./schema_props.ts";

/** A rule. */
export function goRule(rule: ValidationRule): string {
  return jsonInOrder(goRuleJson(rule.json));
}

/** As Go's encoding/json writes a struct: fields in their order, what means something in HTML escaped. */
function jsonInOrder(value: Json): string {
  const escape = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, escape);
}

/** The versions. */
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

/** A schema. */
export function goSchema(json: JsonObject): JsonObject {
  return Object.fromEntries(schemaFields.map(([goName, name, shape]) => [goName, goField(read(json, name), shape)]));
}

/** The fields of a schema that are set, in their order in Go. */
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
