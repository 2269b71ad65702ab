/**
 * What is wrong with x-kubernetes-list-type, -list-map-keys and -map-type at one node of a schema. Texts of apiextensions
 * `validation.go` of Kubernetes 1.36.
 */
import type { FieldPath, Problems } from "../kinds/mod.ts";
import type { SchemaProps } from "./schema_props.ts";

const listTypeKey = "x-kubernetes-list-type";
const mapTypeKey = "x-kubernetes-map-type";
const mapKeysKey = "x-kubernetes-list-map-keys";

/** Checks one node. */
export function checkListTypes(schema: SchemaProps, path: FieldPath, problems: Problems): void {
  const { listType, mapType } = schema;
  if (mapType !== undefined) {
    checkType(schema, "object", mapTypeKey, path, problems);
    if (mapType !== "atomic" && mapType !== "granular") {
      problems.notSupported(path.child(mapTypeKey), mapType, ["atomic", "granular"]);
    }
  }
  if (listType !== undefined && schema.type !== "array") checkType(schema, "array", listTypeKey, path, problems);
  else if (listType === "set") checkSetItems(schema.items, path.child("items"), problems);
  if (listType !== undefined && !["atomic", "set", "map"].includes(listType)) {
    problems.notSupported(path.child(listTypeKey), listType, ["atomic", "set", "map"]);
  }
  if (schema.listMapKeys.length > 0 && listType !== "map") {
    const detail = "must be map if x-kubernetes-list-map-keys is non-empty";
    if (listType === undefined) problems.required(path.child(listTypeKey), detail);
    else problems.invalid(path.child(listTypeKey), listType, detail);
  }
  if (listType === "map") checkMapList(schema, path, problems);
  if (listType === "map" || listType === "set") checkNullability(schema, listType, path, problems);
}

function checkType(schema: SchemaProps, type: string, key: string, path: FieldPath, problems: Problems): void {
  if (schema.type === type) return;
  const detail = `must be ${type} if ${key} is specified`;
  if (schema.type === "") problems.required(path.child("type"), detail);
  else problems.invalid(path.child("type"), schema.type, detail);
}

/** Items of a set are told from each other as a whole. */
function checkSetItems(items: SchemaProps | undefined, path: FieldPath, problems: Problems): void {
  if (items === undefined) return;
  const detail = "must be atomic as item of a list with x-kubernetes-list-type=set";
  if (items.type === "array" && items.listType !== undefined && items.listType !== "atomic") {
    problems.invalid(path.child(listTypeKey), items.listType, detail);
  }
  if (items.type === "object" && items.mapType !== "atomic") {
    problems.invalid(path.child(mapTypeKey), items.listType ?? null, detail);
  }
}

function checkMapList(schema: SchemaProps, path: FieldPath, problems: Problems): void {
  const { items, listMapKeys } = schema;
  const where = path.child(mapKeysKey);
  if (listMapKeys.length === 0) problems.required(where, "must not be empty if x-kubernetes-list-type is map");
  if (items === undefined) {
    if (schema.unsupported.has("itemsArray")) return;
    return problems.required(path.child("items"), "must have a schema if x-kubernetes-list-type is map");
  }
  if (items.type !== "object") {
    const detail = "must be object if parent array's x-kubernetes-list-type is map";
    return problems.invalid(path.child("items", "type"), items.type, detail);
  }
  const seen = new Set<string>();
  for (const key of listMapKeys) {
    const property = items.properties.get(key);
    if (property === undefined) {
      problems.invalid(where, listMapKeys, "entries must all be names of item properties");
    } else if (property.type === "array" || property.type === "object") {
      const detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
      problems.invalid(path.child("items", "properties").key(key).child("type"), items.type, detail);
    }
    if (seen.has(key)) problems.invalid(where, listMapKeys, "must not contain duplicate entries");
    seen.add(key);
  }
}

/** Keys must be there, and items must be something. */
function checkNullability(schema: SchemaProps, listType: string, path: FieldPath, problems: Problems): void {
  const { items } = schema;
  if (items === undefined) return;
  if (items.nullable) {
    const detail = `cannot be nullable when x-kubernetes-list-type is ${listType}`;
    problems.forbidden(path.child("items", "nullable"), detail);
  }
  if (listType !== "map") return;
  for (const key of schema.listMapKeys) {
    const property = items.properties.get(key);
    const where = path.child("items", "properties").key(key);
    if (property === undefined) continue;
    if (!items.required.includes(key) && property.default === undefined) {
      const detail =
        "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property";
      problems.required(where.child("default"), detail);
    }
    if (property.nullable) {
      const detail = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable";
      problems.forbidden(where.child("nullable"), detail);
    }
  }
}
