/**
 * customComponents(): the schemas of a definition's kind and of its list as OpenAPI publishes them: the definition's own
 * schema, with what every object has. As apiextensions-apiserver `controller/openapi/builder` of Kubernetes 1.36 has it.
 */
import type { CustomKind } from "../crd/mod.ts";
import { fullNameOf } from "../kinds/mod.ts";
import { isJsonArray, isJsonObject, type Json, type JsonObject, put, read } from "../model/mod.ts";
import { metaTypes } from "./builtin_components.ts";

const prefix = "#/components/schemas/";

/** What every object says of itself. */
const typeFields: JsonObject = { apiVersion: { type: "string" }, kind: { type: "string" } };

/** What every object of a definition has. */
const objectFields: JsonObject = { ...typeFields, metadata: metadataField(metaTypes.objectMeta) };

/** `com.example.v1.Foo`: the name of a kind's component. */
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
  const schema = published(kind.compiled.json);
  return { ...schema, properties: { ...propertiesOf(schema), ...objectFields } };
}

function propertiesOf(schema: JsonObject): JsonObject {
  const properties = read(schema, "properties");
  return isJsonObject(properties) ? properties : {};
}

function metadataField(type: string): JsonObject {
  return { allOf: [{ $ref: prefix + fullNameOf(type) }] };
}

/** The schema as it is shown: embedded objects have their own fields, a number or text says that it is either. */
function published(schema: JsonObject): JsonObject {
  const shown: Record<string, Json> = {};
  for (const [key, value] of Object.entries(schema)) put(shown, key, publishedMember(key, value));
  if (schema["x-kubernetes-int-or-string"] === true && schema["anyOf"] === undefined && schema["allOf"] === undefined) {
    shown["anyOf"] = [{ type: "integer" }, { type: "string" }];
  }
  if (schema["x-kubernetes-embedded-resource"] !== true) return shown;
  const required = isJsonArray(schema["required"]) ? schema["required"] : [];
  return {
    ...shown,
    properties: { ...propertiesOf(shown), ...objectFields },
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
