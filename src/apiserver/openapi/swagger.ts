/**
 * swaggerOf(): converts OpenAPI v3 documents to one document of version 2, like kube-openapi, for old clients: without defaults
 * and `oneOf`, with plain references. Schemas of CRDs lose the keywords that these clients do not support.
 */
import { isJsonArray, isJsonObject, type Json, type JsonObject, put, read } from "../model/mod.ts";

const methods: ReadonlySet<string> = new Set(["delete", "get", "patch", "post", "put"]);

/** Merges and converts the documents. */
export function swaggerOf(documents: readonly JsonObject[], version: string): JsonObject {
  const paths: Record<string, Json> = {};
  const definitions: Record<string, Json> = {};
  for (const document of documents) {
    for (const [path, item] of Object.entries(objectAt(document, "paths"))) {
      if (isJsonObject(item)) put(paths, path, pathItem(item));
    }
    for (const [name, schema] of Object.entries(objectAt(objectAt(document, "components"), "schemas"))) {
      if (isJsonObject(schema) && !Object.hasOwn(definitions, name)) put(definitions, name, schemaV2(schema));
    }
  }
  return {
    swagger: "2.0",
    info: { title: "Kubernetes", version },
    paths,
    definitions,
    securityDefinitions: {
      BearerToken: { description: "Bearer Token authentication", in: "header", name: "authorization", type: "apiKey" },
    },
    security: [{ BearerToken: [] }],
  };
}

function pathItem(item: JsonObject): JsonObject {
  const converted: Record<string, Json> = {};
  for (const [key, value] of Object.entries(item)) {
    if (key === "parameters" && isJsonArray(value)) {
      converted[key] = value.filter((one) => isJsonObject(one)).map(parameter);
    } else if (methods.has(key) && isJsonObject(value)) converted[key] = operation(value);
  }
  return converted;
}

function parameter({ schema, ...rest }: JsonObject): JsonObject {
  return isJsonObject(schema) ? { ...rest, ...schema } : rest;
}

function operation({ requestBody, responses, parameters, ...rest }: JsonObject): JsonObject {
  const own = isJsonArray(parameters) ? parameters.filter((one) => isJsonObject(one)).map(parameter) : [];
  const body = isJsonObject(requestBody) ? requestBody : undefined;
  const all = body === undefined ? own : [bodyParameter(body), ...own];
  const byCode = isJsonObject(responses) ? responses : {};
  return {
    ...rest,
    consumes: body === undefined ? ["*/*"] : Object.keys(objectAt(body, "content")),
    produces: Object.keys(objectAt(objectAt(byCode, "200"), "content")),
    schemes: ["https"],
    ...(all.length === 0 ? {} : { parameters: all }),
    responses: Object.fromEntries(Object.entries(byCode).map(([code, value]) => [code, response(value)])),
  };
}

function bodyParameter(body: JsonObject): JsonObject {
  const isRequired: JsonObject = body["required"] === true ? { required: true } : {};
  return { in: "body", name: "body", ...isRequired, schema: schemaOfContent(body) ?? {} };
}

function response(value: Json): JsonObject {
  if (!isJsonObject(value)) return { description: "" };
  const schema = schemaOfContent(value);
  return { description: value["description"] ?? "", ...(schema === undefined ? {} : { schema }) };
}

function schemaOfContent(holder: JsonObject): JsonObject | undefined {
  const [first] = Object.values(objectAt(holder, "content"));
  const schema = isJsonObject(first) ? read(first, "schema") : undefined;
  return isJsonObject(schema) ? schemaV2(schema) : undefined;
}

/** Keywords that version 2 does not have. */
const dropped: ReadonlySet<string> = new Set(["default", "nullable", "oneOf", "anyOf", "allOf", "not"]);

function schemaV2(schema: JsonObject): JsonObject {
  const converted: Record<string, Json> = {};
  for (const [key, value] of Object.entries(schema)) {
    if (!dropped.has(key)) put(converted, key, memberV2(key, value));
  }
  const reference = onlyReference(schema);
  if (reference !== undefined) converted["$ref"] = referenceV2(reference);
  const isEither = schema["format"] === "int-or-string" || isJsonArray(schema["oneOf"]);
  if (isEither && converted["type"] === undefined) converted["type"] = "string";
  if (schema["nullable"] === true || schema["x-kubernetes-preserve-unknown-fields"] === true) return untyped(converted);
  return converted;
}

/** Old versions of kubectl would reject null and unknown fields because of `type` and `properties`. */
function untyped(schema: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(schema).filter(([key]) => !typing.has(key)));
}

const typing: ReadonlySet<string> = new Set(["type", "properties", "items", "additionalProperties", "required"]);

function memberV2(key: string, value: Json): Json {
  if (key === "$ref" && typeof value === "string") return referenceV2(value);
  if ((key === "items" || key === "additionalProperties") && isJsonObject(value)) return schemaV2(value);
  if (key !== "properties" || !isJsonObject(value)) return value;
  const fields: Record<string, Json> = {};
  for (const [name, field] of Object.entries(value)) put(fields, name, isJsonObject(field) ? schemaV2(field) : field);
  return fields;
}

/** The reference of `allOf: [{ $ref }]`, which version 3 uses for a reference with further keywords. */
function onlyReference(schema: JsonObject): string | undefined {
  const all = read(schema, "allOf");
  if (!isJsonArray(all) || all.length !== 1) return undefined;
  const [only] = all;
  const reference = isJsonObject(only) ? only["$ref"] : undefined;
  return typeof reference === "string" ? reference : undefined;
}

function referenceV2(reference: string): string {
  return reference.replace("#/components/schemas/", "#/definitions/");
}

function objectAt(object: JsonObject, key: string): JsonObject {
  const value = read(object, key);
  return isJsonObject(value) ? value : {};
}
