/**
 * Thing: a kind for tests with each type of list, map and struct, in two versions that differ in the name of one field. The
 * tests against the Go libraries (tests/conformance) use the same OpenAPI.
 */
import type { JsonObject } from "../../model/mod.ts";

const text: JsonObject = { type: "string" };
const texts: JsonObject = { type: "array", items: text };

const metadata: JsonObject = {
  type: "object",
  properties: {
    name: text,
    namespace: text,
    uid: text,
    labels: { type: "object", additionalProperties: text },
    annotations: { type: "object", additionalProperties: text },
    finalizers: { ...texts, "x-kubernetes-list-type": "set" },
    managedFields: { type: "array", items: { type: "object", additionalProperties: true } },
  },
};

const item: JsonObject = {
  type: "object",
  required: ["name"],
  properties: {
    name: text,
    value: text,
    tags: { ...texts, "x-kubernetes-list-type": "set" },
    options: { type: "object", additionalProperties: text },
  },
};

const port: JsonObject = {
  type: "object",
  properties: { port: { type: "integer" }, protocol: { type: "string", default: "TCP" }, name: text },
};

function specOf(renamed: string): JsonObject {
  return {
    type: "object",
    properties: {
      [renamed]: text,
      replicas: { type: "integer", format: "int32" },
      paused: { type: "boolean" },
      labels: { type: "object", additionalProperties: text },
      groups: { type: "object", additionalProperties: { $ref: "#/components/schemas/Item" } },
      items: {
        type: "array",
        items: { $ref: "#/components/schemas/Item" },
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"],
      },
      ports: {
        type: "array",
        items: port,
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["port", "protocol"],
      },
      tags: { ...texts, "x-kubernetes-list-type": "set" },
      numbers: { type: "array", items: { type: "integer" }, "x-kubernetes-list-type": "set" },
      args: texts,
      volumes: { type: "array", items: item, "x-kubernetes-list-type": "atomic" },
      selector: { allOf: [{ $ref: "#/components/schemas/Item" }], "x-kubernetes-map-type": "atomic" },
      template: { $ref: "#/components/schemas/Item" },
      wholeMap: { type: "object", additionalProperties: text, "x-kubernetes-map-type": "atomic" },
      free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
      open: {
        type: "object",
        properties: { known: text },
        "x-kubernetes-preserve-unknown-fields": true,
      },
      anything: { "x-kubernetes-preserve-unknown-fields": true },
    },
  };
}

function thing(version: string, renamed: string): JsonObject {
  return {
    type: "object",
    properties: {
      apiVersion: text,
      kind: text,
      metadata: { $ref: "#/components/schemas/Metadata" },
      spec: specOf(renamed),
      status: {
        type: "object",
        properties: { ready: { type: "integer" }, conditions: { type: "array", items: item } },
      },
    },
    "x-kubernetes-group-version-kind": [{ group: "example.dev", version, kind: "Thing" }],
  };
}

/** `components.schemas`. */
export const thingComponents: JsonObject = {
  Metadata: metadata,
  Item: item,
  ThingV1: thing("v1", "alpha"),
  ThingV2: thing("v2", "beta"),
};
