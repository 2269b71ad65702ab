/**
 * Checks that a schema is structural: the type of every value is given outside of allOf, anyOf, oneOf and not, and these
 * mention only fields that the schema has. Only such a schema can be used for pruning, defaults and types of rules. Texts of
 * apiextensions `schema/validation.go` and `complete.go` of Kubernetes 1.36.
 */
import { FieldPath, Problems } from "../../kinds/mod.ts";
import { type FieldError, formatFieldErrors, isSameJson, patternOf } from "../../model/mod.ts";
import type { SchemaProps } from "../schema/mod.ts";

/** The position of a node. */
type Level = "root" | "item" | "field";

/** The errors of a schema that is not structural, sorted by message. */
export function structuralErrors(schema: SchemaProps, path: FieldPath): readonly FieldError[] {
  const problems = new Problems();
  checkNode(schema, "root", path, problems);
  checkComplete(schema, schema, path, path, problems);
  const texts = new Map(problems.list.map((error) => [error, formatFieldErrors([error]).message]));
  return problems.list.toSorted((left, right) => (texts.get(left) ?? "") < (texts.get(right) ?? "") ? -1 : 1);
}

function checkNode(schema: SchemaProps, level: Level, path: FieldPath, problems: Problems): void {
  const { type, items, additionalProperties: values } = schema;
  if (type === "array" && items === undefined) problems.required(path.child("items"), "must be specified");
  if (items !== undefined) checkNode(items, "item", path.child("items"), problems);
  for (const [name, property] of schema.properties) {
    checkNode(property, "field", path.child("properties").key(name), problems);
  }
  if (values !== undefined) {
    if (level === "root") problems.forbidden(path.child("additionalProperties"), "must not be used at the root");
    if (typeof values === "object") checkNode(values, "field", path.child("additionalProperties"), problems);
  }
  checkExtensions(schema, path, problems);
  const isInt = isIntOrString(schema.anyOf);
  checkParts(schema, isInt, isIntOrString(schema.allOf[0]?.anyOf ?? []), path, problems);
  checkType(schema, level, path, problems);
  checkMeta(schema, level, path, problems);
  if (schema.isEmbeddedResource && schema.preservesUnknownFields !== true && schema.properties.size === 0) {
    const detail = "must not be empty if x-kubernetes-embedded-resource is true without " +
      "x-kubernetes-preserve-unknown-fields";
    problems.required(path.child("properties"), detail);
  }
}

function checkExtensions(schema: SchemaProps, path: FieldPath, problems: Problems): void {
  if (!schema.isIntOrString) return;
  const detail = "must be false if x-kubernetes-int-or-string is true";
  if (schema.preservesUnknownFields === true) {
    problems.invalid(path.child("x-kubernetes-preserve-unknown-fields"), true, detail);
  }
  if (schema.isEmbeddedResource) problems.invalid(path.child("x-kubernetes-embedded-resource"), true, detail);
}

const emptyTypes: Readonly<Record<Level, string>> = {
  root: "must not be empty at the root",
  item: "must not be empty for specified array items",
  field: "must not be empty for specified object fields",
};

function checkType(schema: SchemaProps, level: Level, path: FieldPath, problems: Problems): void {
  const { type, isEmbeddedResource } = schema;
  const where = path.child("type");
  if (isEmbeddedResource && type !== "object") {
    const detail = "must be object if x-kubernetes-embedded-resource is true";
    if (type === "") problems.required(where, detail);
    else problems.invalid(where, type, detail);
  } else if (type === "" && !schema.isIntOrString && schema.preservesUnknownFields !== true) {
    problems.required(where, emptyTypes[level]);
  }
  if (isEmbeddedResource && schema.additionalProperties !== undefined) {
    const detail = "must not be used if x-kubernetes-embedded-resource is set";
    problems.forbidden(path.child("additionalProperties"), detail);
  }
  if (level === "root" && type !== "" && type !== "object") problems.invalid(where, type, "must be object at the root");
}

/** kind, apiVersion and metadata of a resource must have their usual types. */
function checkMeta(schema: SchemaProps, level: Level, path: FieldPath, problems: Problems): void {
  const isResource = level === "root" || schema.isEmbeddedResource;
  for (const name of ["kind", "apiVersion"]) {
    const property = schema.properties.get(name);
    if (!isResource || property === undefined || property.type === "string") continue;
    problems.invalid(path.child("properties").key(name).child("type"), property.type, "must be string");
  }
  const metadata = schema.properties.get("metadata");
  if (metadata === undefined) return;
  const where = path.child("properties").key("metadata");
  if (isResource && metadata.type !== "object") problems.invalid(where.child("type"), metadata.type, "must be object");
  if (level !== "root" || isPlainMetadata(metadata)) return;
  const detail = "must not specify anything other than name and generateName, but metadata is implicitly specified";
  problems.forbidden(where, detail);
}

const plainMetadataKeys = new Set(["type", "default", "properties"]);

/** True for a schema of metadata that has only its type and the schemas of name and generateName. */
function isPlainMetadata({ json, properties }: SchemaProps): boolean {
  const isNames = [...properties.keys()].every((name) => name === "name" || name === "generateName");
  return isNames && Object.entries(json).every(([key, value]) => plainMetadataKeys.has(key) || isEmptyValue(value));
}

function isEmptyValue(value: unknown): boolean {
  return value === null || value === "" || value === false;
}

/** True for the only anyOf that may contain types: an integer or a string. */
function isIntOrString(parts: readonly SchemaProps[]): boolean {
  const types = parts.map(({ json }) => json);
  return isSameJson(types, [{ type: "integer" }, { type: "string" }]);
}

/** Checks the schemas under allOf, anyOf, oneOf and not, and the pattern. */
function checkParts(
  schema: SchemaProps,
  skipsAnyOf: boolean,
  skipsFirstAllOf: boolean,
  path: FieldPath,
  problems: Problems,
): void {
  if (!skipsAnyOf) {
    schema.anyOf.forEach((part, index) => checkPart(part, false, path.child("anyOf").index(index), problems));
  }
  schema.allOf.forEach((part, index) =>
    checkPart(part, skipsFirstAllOf && index === 0, path.child("allOf").index(index), problems)
  );
  schema.oneOf.forEach((part, index) => checkPart(part, false, path.child("oneOf").index(index), problems));
  if (schema.not !== undefined) checkPart(schema.not, false, path.child("not"), problems);
  if (schema.pattern === "") return;
  try {
    patternOf(schema.pattern);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const detail = `must be a valid regular expression, but isn't: ${error.message}`;
    problems.invalid(path.child("pattern"), schema.pattern, detail);
  }
}

/** Checks a schema under a combinator: it may restrict values and nothing else. */
function checkPart(schema: SchemaProps, skipsAnyOf: boolean, path: FieldPath, problems: Problems): void {
  checkParts(schema, skipsAnyOf, false, path, problems);
  if (schema.items !== undefined) checkPart(schema.items, false, path.child("items"), problems);
  for (const [name, property] of schema.properties) {
    checkPart(property, false, path.child("properties").key(name), problems);
  }
  const forbid = (isSet: boolean, key: string, what: string): void => {
    if (isSet) problems.forbidden(path.child(key), `must be ${what} to be structural`);
  };
  const { additionalProperties: values } = schema;
  forbid(schema.type !== "", "type", "empty");
  forbid(values !== undefined && values !== false, "additionalProperties", "undefined");
  forbid(schema.default !== undefined, "default", "undefined");
  forbid(schema.title !== "", "title", "empty");
  forbid(schema.description !== "", "description", "empty");
  forbid(schema.nullable, "nullable", "false");
  forbid(schema.preservesUnknownFields === true, "x-kubernetes-preserve-unknown-fields", "false");
  forbid(schema.isEmbeddedResource, "x-kubernetes-embedded-resource", "false");
  forbid(schema.isIntOrString, "x-kubernetes-int-or-string", "false");
  forbid(schema.listMapKeys.length > 0, "x-kubernetes-list-map-keys", "empty");
  forbid(schema.listType !== undefined, "x-kubernetes-list-type", "undefined");
  forbid(schema.mapType !== undefined, "x-kubernetes-map-type", "undefined");
  forbid(schema.rules.length > 0, "x-kubernetes-validations", "empty");
  if (schema.properties.has("metadata")) {
    problems.forbidden(path.child("properties").key("metadata"), "must not be specified in a nested context");
  }
}

/** Every field under a combinator must also be in the schema itself. @param path of `schema` @param partPath of `part` */
function checkComplete(
  part: SchemaProps,
  schema: SchemaProps,
  path: FieldPath,
  partPath: FieldPath,
  problems: Problems,
): void {
  if (part.not !== undefined) checkPartComplete(part.not, schema, path, partPath.child("not"), problems);
  for (const key of ["allOf", "anyOf", "oneOf"] as const) {
    part[key].forEach((each, index) =>
      checkPartComplete(each, schema, path, partPath.child(key).index(index), problems)
    );
  }
}

function checkPartComplete(
  part: SchemaProps,
  schema: SchemaProps | undefined,
  path: FieldPath,
  partPath: FieldPath,
  problems: Problems,
): void {
  if (schema === undefined) return problems.required(path, `because it is defined in ${partPath}`);
  checkComplete(part, schema, path, partPath, problems);
  if (part.items !== undefined) {
    checkPartComplete(part.items, schema.items, path.child("items"), partPath.child("items"), problems);
  }
  for (const [name, property] of part.properties) {
    const [where, partWhere] = [path, partPath].map((each) => each.child("properties").key(name));
    if (where === undefined || partWhere === undefined) continue;
    checkPartComplete(property, schema.properties.get(name), where, partWhere, problems);
  }
}
