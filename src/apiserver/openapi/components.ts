/**
 * The components of OpenAPI v3 documents. BuiltinComponents has the schemas of the types of Kubernetes, with all types that
 * they refer to, but without descriptions. customComponents() has the schema of a custom resource and of its list, like
 * apiextensions-apiserver `controller/openapi/builder` of Kubernetes 1.36.
 */
import { fullNameOf, openApiOf, packageNames, referencesOf, structNames, wireStruct } from "../kinds/mod.ts";
import { isJsonArray, isJsonObject, type Json, type JsonObject, put, read } from "../model/mod.ts";
import type { CustomKind } from "../crd/mod.ts";

/** A group, version and kind. */
export interface KindName {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** The types of meta/v1 in operations. */
export const metaTypes = {
  deleteOptions: "meta/v1.DeleteOptions",
  listMeta: "meta/v1.ListMeta",
  objectMeta: "meta/v1.ObjectMeta",
  patch: "meta/v1.Patch",
  resourceList: "meta/v1.APIResourceList",
  status: "meta/v1.Status",
  watchEvent: "meta/v1.WatchEvent",
} as const;

/** The types of Kubernetes. */
export class BuiltinComponents {
  readonly #schemas = new Map<string, JsonObject>();

  /** The short name of the type of a kind, e.g. `apps/v1.Deployment`. */
  find({ group, version, kind }: KindName): string | undefined {
    return typesByKind().get(`${group}/${version}/${kind}`);
  }

  /** Adds types and all types that they refer to, by their full names. */
  addTo(components: Map<string, JsonObject>, names: Iterable<string>): void {
    const pending = [...names];
    for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
      const fullName = fullNameOf(name);
      if (components.has(fullName)) continue;
      components.set(fullName, this.#schema(name, fullName));
      pending.push(...referencesOf(wireStruct(name)));
    }
  }

  #schema(name: string, fullName: string): JsonObject {
    const known = this.#schemas.get(fullName);
    if (known !== undefined) return known;
    const schema = openApiOf(wireStruct(name));
    this.#schemas.set(fullName, schema);
    return schema;
  }
}

let known: ReadonlyMap<string, string> | undefined;

/** The types of a single kind. The options are in every group, and so not included. */
function typesByKind(): ReadonlyMap<string, string> {
  if (known !== undefined) return known;
  const found = new Map<string, string>();
  for (const name of packageNames().flatMap(structNames)) {
    const [kind, ...others] = wireStruct(name).kinds;
    if (kind !== undefined && others.length === 0) found.set(`${kind.group}/${kind.version}/${kind.kind}`, name);
  }
  return known = found;
}

const prefix = "#/components/schemas/";

/** The type fields of every object. */
const typeFields: JsonObject = { apiVersion: { type: "string" }, kind: { type: "string" } };

/** The fields of every custom resource. */
const objectFields: JsonObject = { ...typeFields, metadata: metadataField(metaTypes.objectMeta) };

/** The name of the component of a kind: `com.example.v1.Foo`. */
export function customComponentName(kind: CustomKind, name: string = kind.kind): string {
  return [...kind.group.split(".").reverse(), kind.version, name].join(".");
}

/** The components of a kind and its list, by name. */
export function customComponents(kind: CustomKind): ReadonlyMap<string, JsonObject> {
  const { group, version } = kind;
  const object = { ...kindSchema(kind), ...kindOf({ group, kind: kind.kind, version }) };
  const list: JsonObject = {
    ...kindOf({ group, kind: kind.listKind, version }),
    properties: {
      ...typeFields,
      items: {
        items: { $ref: prefix + customComponentName(kind) },
        type: "array",
      },
      metadata: metadataField(metaTypes.listMeta),
    },
    required: ["items"],
    type: "object",
  };
  return new Map([[customComponentName(kind), object], [customComponentName(kind, kind.listKind), list]]);
}

function kindOf(name: JsonObject): JsonObject {
  return { "x-kubernetes-group-version-kind": [name] };
}

function kindSchema(kind: CustomKind): JsonObject {
  return publishedSchema(kind.compiled.json);
}

/** The schema of a custom resource as it is published. @param json `openAPIV3Schema` of a version */
export function publishedSchema(json: JsonObject): JsonObject {
  const schema = published(json);
  return { ...schema, properties: { ...propertiesOf(schema), ...objectFields } };
}

function propertiesOf(schema: JsonObject): JsonObject {
  const properties = read(schema, "properties");
  return isJsonObject(properties) ? properties : {};
}

function metadataField(type: string): JsonObject {
  return { allOf: [{ $ref: prefix + fullNameOf(type) }] };
}

/** The published schema: embedded resources have the fields of an object, and int-or-string has both types. */
function published(schema: JsonObject): JsonObject {
  const result: Record<string, Json> = {};
  for (const [key, value] of Object.entries(schema)) put(result, key, publishedMember(key, value));
  if (schema["x-kubernetes-int-or-string"] === true && schema["anyOf"] === undefined && schema["allOf"] === undefined) {
    result["anyOf"] = [{ type: "integer" }, { type: "string" }];
  }
  if (schema["x-kubernetes-embedded-resource"] !== true) return result;
  const required = isJsonArray(schema["required"]) ? schema["required"] : [];
  return {
    ...result,
    properties: { ...propertiesOf(result), ...objectFields },
    required: [...new Set([...required, "kind", "apiVersion"])],
  };
}

function publishedMember(key: string, value: Json): Json {
  if (key === "items" || key === "additionalProperties" || key === "not") {
    return isJsonObject(value) ? published(value) : value;
  }
  if (key !== "properties" || !isJsonObject(value)) return value;
  const fields: Record<string, Json> = {};
  for (const [name, field] of Object.entries(value)) {
    put(fields, name, isJsonObject(field) ? published(field) : field);
  }
  return fields;
}
