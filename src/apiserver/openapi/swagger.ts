/**
 * swaggerOf(): OpenAPI v3 documents as one of version 2, as kube-openapi writes it for clients that know no other: no
 * defaults, no `oneOf`, references bare; what those clients cannot say of a definition's field is left out.
 */
import { isJsonArray, isJsonObject, type Json, type JsonObject, put, read } from "../model/mod.ts";

const methods: ReadonlySet<string> = new Set(["delete", "get", "patch", "post", "put"]);

/** Merges and converts. */
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
  const made: Record<string, Json> = {};
  for (const [key, value] of Object.entries(item)) {
    if (key === "parameters" && isJsonArray(value)) made[key] = value.filter((one) => isJsonObject(one)).map(parameter);
    else if (methods.has(key) && isJsonObject(value)) made[key] = operation(value);
  }
  return made;
}

function parameter({ schema, ...rest }: JsonObject): JsonObject {
  return isJsonObject(schema) ? { ...rest, ...schema } : rest;
}

function operation({ requestBody, responses, parameters, ...rest }: JsonObject): JsonObject {
  const own = isJsonArray(parameters) ? parameters.filter((one) => isJsonObject(one)).map(parameter) : [];
  const body = isJsonObject(requestBody) ? requestBody : undefined;
  const all = body === undefined ? own : [bodyParameter(body), ...own];
  const answers = isJsonObject(responses) ? responses : {};
  return {
    ...rest,
    consumes: body === undefined ? ["*/*"] : Object.keys(objectAt(body, "content")),
    produces: Object.keys(objectAt(objectAt(answers, "200"), "content")),
    schemes: ["https"],
    ...(all.length === 0 ? {} : { parameters: all }),
    responses: Object.fromEntries(Object.entries(answers).map(([code, answer]) => [code, response(answer)])),
  };
}

function bodyParameter(body: JsonObject): JsonObject {
  const isRequired: JsonObject = body["required"] === true ? { required: true } : {};
  return { in: "body", name: "body", ...isRequired, schema: schemaOfContent(body) ?? {} };
}

function response(answer: Json): JsonObject {
  if (!isJsonObject(answer)) return { description: "" };
  const schema = schemaOfContent(answer);
  return { description: answer["description"] ?? "", ...(schema === undefined ? {} : { schema }) };
}

function schemaOfContent(holder: JsonObject): JsonObject | undefined {
  const [first] = Object.values(objectAt(holder, "content"));
  const schema = isJsonObject(first) ? read(first, "schema") : undefined;
  return isJsonObject(schema) ? schemaV2(schema) : undefined;
}

/** Keywords that version 2 does not have. */
const dropped: ReadonlySet<string> = new Set(["default", "nullable", "oneOf", "anyOf", "allOf", "not"]);

function schemaV2(schema: JsonObject): JsonObject {
  const made: Record<string, Json> = {};
  for (const [key, value] of Object.entries(schema)) {
    if (!dropped.has(key)) put(made, key, memberV2(key, value));
  }
  const reference = onlyReference(schema);
  if (reference !== undefined) made["$ref"] = referenceV2(reference);
  const isEither = schema["format"] === "int-or-string" || isJsonArray(schema["oneOf"]);
  if (isEither && made["type"] === undefined) made["type"] = "string";
  if (schema["nullable"] === true || schema["x-kubernetes-preserve-unknown-fields"] === true) return untyped(made);
  return made;
}

/** Old kubectl takes `type` and `properties` at their word, and would refuse null and unknown fields. */
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

/** The reference of `allOf: [{ $ref }]`, which is how version 3 says something beside it. */
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
