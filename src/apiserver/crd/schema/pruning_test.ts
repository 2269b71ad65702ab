import { assertEquals, test } from "../../../../tests/testing.ts";
import type { Draft, JsonObject } from "../../model/mod.ts";
import { compileDefaulter, compileNullPruner, compilePruner } from "./pruning.ts";
import { readSchema } from "../../../cel/mod.ts";

const text = { type: "string" };

function pruned(schema: JsonObject, object: Draft): readonly [object: Draft, dropped: readonly string[]] {
  const dropped = compilePruner(readSchema({ type: "object", properties: { spec: schema } }))(object);
  return [object, dropped];
}

test("unknown fields are dropped and reported, also in lists", () => {
  const schema = {
    type: "object",
    properties: { a: text, items: { type: "array", items: { type: "object", properties: { b: text } } } },
  };
  const [object, dropped] = pruned(schema, {
    kind: "Foo",
    extra: 1,
    spec: { a: "x", c: 1, items: [{ b: "y" }, { d: { e: 1 } }] },
  });
  assertEquals(object, { kind: "Foo", spec: { a: "x", items: [{ b: "y" }, {}] } });
  assertEquals(dropped, ["extra", "spec.c", "spec.items[1].d"]);
});

test("a node that preserves unknown fields keeps them and prunes its known fields", () => {
  const schema = {
    type: "object",
    "x-kubernetes-preserve-unknown-fields": true,
    properties: { known: { type: "object", properties: { a: text } } },
  };
  const [object] = pruned(schema, { spec: { free: { x: 1 }, known: { a: "1", b: "2" } } });
  assertEquals(object, { spec: { free: { x: 1 }, known: { a: "1" } } });
});

test("the keys __proto__ and constructor are pruned like any other key", () => {
  const spec: Draft = JSON.parse('{"__proto__": "x", "constructor": "y"}');
  const [object] = pruned({ type: "object", additionalProperties: text }, { spec });
  assertEquals(JSON.stringify(object), '{"spec":{"__proto__":"x","constructor":"y"}}');
  const [other, dropped] = pruned({ type: "object", properties: { a: text } }, {
    spec: JSON.parse('{"constructor": "y"}'),
  });
  assertEquals([JSON.stringify(other), dropped], ['{"spec":{}}', ["spec.constructor"]]);
});

test("defaults are set for missing fields, inside of existing objects and items", () => {
  const schema = readSchema({
    type: "object",
    properties: {
      spec: {
        type: "object",
        default: {},
        properties: {
          size: { type: "integer", default: 1 },
          ports: {
            type: "array",
            items: { type: "object", properties: { protocol: { type: "string", default: "TCP" } } },
          },
        },
      },
    },
  });
  const setDefaults = compileDefaulter(schema);
  const [empty, full]: Draft[] = [{}, { spec: { size: 3, ports: [{}, { protocol: "UDP" }] } }];
  for (const object of [empty, full]) if (object !== undefined) setDefaults?.(object);
  assertEquals(empty, { spec: { size: 1 } });
  assertEquals(full, { spec: { size: 3, ports: [{ protocol: "TCP" }, { protocol: "UDP" }] } });
});

test("null is dropped or replaced by a default; a nullable field keeps it", () => {
  const schema = readSchema({
    type: "object",
    properties: {
      spec: {
        type: "object",
        properties: {
          size: { type: "integer", default: 1 },
          maybe: { type: "string", nullable: true, default: "x" },
        },
      },
    },
  });
  const object: Draft = { spec: { size: null, maybe: null } };
  compileNullPruner(schema)(object);
  compileDefaulter(schema)?.(object);
  assertEquals(object, { spec: { maybe: null, size: 1 } });
});

test("a schema without defaults has no defaulter", () => {
  assertEquals(compileDefaulter(readSchema({ type: "object", properties: { a: text } })), undefined);
});
