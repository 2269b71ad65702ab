import { assertEquals, assertThrows, test } from "../../../tests/testing.ts";
import type { Json, JsonObject } from "../model/mod.ts";
import { mergePatch } from "./merge_patch.ts";

/** The examples of RFC 7386 with objects, and the differences of kube-apiserver. */
const table: readonly (readonly [object: JsonObject, patch: JsonObject, after: JsonObject])[] = [
  [{ a: "b" }, { a: "c" }, { a: "c" }],
  [{ a: "b" }, { b: "c" }, { a: "b", b: "c" }],
  [{ a: "b" }, { a: null }, {}],
  [{ a: "b", b: "c" }, { a: null }, { b: "c" }],
  [{ a: ["b"] }, { a: "c" }, { a: "c" }],
  [{ a: "c" }, { a: ["b"] }, { a: ["b"] }],
  [{ a: { b: "c" } }, { a: { b: "d", c: null } }, { a: { b: "d" } }],
  [{ a: [{ b: "c" }] }, { a: [1] }, { a: [1] }],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  [{ a: null }, { a: { b: null, c: 1 } }, { a: { c: 1 } }],
  [{}, { a: [{ b: null }, null] }, { a: [{}, null] }],
  [{ a: 1 }, { a: [{ b: null }] }, { a: [{}] }],
  [{ a: {} }, { a: [{ b: null }] }, { a: [{ b: null }] }],
  [{ a: {} }, { a: 1 }, { a: 1 }],
];

for (const [object, patch, after] of table) {
  test(`merge patch ${JSON.stringify(patch)} on ${JSON.stringify(object)}`, () => {
    assertEquals(mergePatch(object, patch), after);
  });
}

test("a merge patch must be an object", () => {
  const rejected: readonly Json[] = [null, [], "x", 1, true];
  for (const patch of rejected) assertThrows(() => mergePatch({}, patch));
  assertThrows(() => mergePatch({}, null), /^Invalid JSON Patch$/);
  assertThrows(() => mergePatch({}, [], "Ignore"), /^Invalid JSON Patch$/);
  assertThrows(
    () => mergePatch({}, []),
    /^error decoding patch: json: cannot unmarshal array into Go value of type map\[string\]interface \{\}$/,
  );
});

test("a merge patch writes keys with any name, but no prototype", () => {
  const patch: JsonObject = JSON.parse('{"__proto__":{"polluted":1},"constructor":{"a":null}}');
  assertEquals(JSON.stringify(mergePatch({}, patch)), '{"__proto__":{"polluted":1},"constructor":{}}');
  const object: JsonObject = JSON.parse('{"__proto__":{"a":1,"b":2}}');
  assertEquals(JSON.stringify(mergePatch(object, JSON.parse('{"__proto__":{"a":null}}'))), '{"__proto__":{"b":2}}');
});

test("a merge patch shares nothing with the object and the patch", () => {
  const [object, patch] = [{ a: { b: [1] } }, { c: { d: [2] } }];
  const after = mergePatch(object, patch);
  assertEquals([after["a"] === object.a, after["c"] === patch.c], [false, false]);
});
