import { assertEquals, assertThrows, test } from "../../../tests/testing.ts";
import type { Draft } from "../model/mod.ts";
import { configMap, foo } from "../testing/test_kinds.ts";
import { ShapeCache } from "./track_fields.ts";

const entry = (): Draft => ({ manager: "m", time: "then", fieldsV1: { "f:data": { "f:k": {} } } });

function known(): ShapeCache {
  const cache = new ShapeCache();
  cache.remember(configMap, "m", { metadata: { name: "a" }, data: { k: "v", n: null }, list: [1, 2] }, [entry()]);
  return cache;
}

const drafts: readonly (readonly [string, Draft, boolean])[] = [
  ["other values", { metadata: { name: "b" }, data: { k: "w", n: null }, list: [1, 2] }, true],
  ["another order", { list: [1, 2], data: { n: null, k: "w" }, metadata: { name: "b" } }, true],
  ["a zero value", { metadata: { name: "b" }, data: { k: "", n: null }, list: [1, 2] }, false],
  ["one key more", { metadata: { name: "b" }, data: { k: "w", n: null, x: "" }, list: [1, 2] }, false],
  ["one key less", { metadata: { name: "b" }, data: { k: "w" }, list: [1, 2] }, false],
  ["another key", { metadata: { name: "b" }, data: { j: "w", n: null }, list: [1, 2] }, false],
  ["another list", { metadata: { name: "b" }, data: { k: "w", n: null }, list: [2, 1] }, false],
  ["a value for null", { metadata: { name: "b" }, data: { k: "w", n: "x" }, list: [1, 2] }, false],
  ["an object for a value", { metadata: { name: "b" }, data: { k: {}, n: null }, list: [1, 2] }, false],
  ["a value for an object", { metadata: { name: "b" }, data: "x", list: [1, 2] }, false],
];

for (const [what, draft, isKnown] of drafts) {
  test(`an object with ${what} ${isKnown ? "has" : "does not have"} the known shape`, () => {
    const fields = known().find(configMap, "m", draft, "now");
    assertEquals(fields, isKnown ? [{ ...entry(), time: "now" }] : undefined);
  });
}

test("ShapeCache has one shape per kind and manager", () => {
  const draft = { metadata: { name: "b" }, data: { k: "w", n: null }, list: [1, 2] };
  assertEquals(known().find(foo, "m", draft, "now"), undefined);
  assertEquals(known().find(configMap, "other", draft, "now"), undefined);
});

test("a shared managedFields entry cannot be changed", () => {
  const draft = { metadata: { name: "b" }, data: { k: "w", n: null }, list: [1, 2] };
  const [first] = known().find(configMap, "m", draft, "now") ?? [];
  const fields = first?.["fieldsV1"];
  assertThrows(() => Object.assign(fields ?? {}, { more: {} }), /extensible|add property|readonly/);
});
