import fc from "fast-check";
import fastJsonPatch from "fast-json-patch";
import { assertEquals, test } from "../../tests/testing.ts";
import { jsonPatch } from "./json_patch.ts";

test("[68] a patch touches only what differs, in document order", () => {
  const before = { a: 1, b: { c: [1, 2, 3], d: "x" }, gone: true, "e/f~g": 1 };
  const after = { a: 1, b: { c: [1, 9, 2, 3], d: "y" }, "e/f~g": 2, added: { deep: [] } };
  assertEquals(jsonPatch(before, after), [
    { op: "add", path: "/b/c/1", value: 9 },
    { op: "replace", path: "/b/d", value: "y" },
    { op: "remove", path: "/gone" },
    { op: "replace", path: "/e~1f~0g", value: 2 },
    { op: "add", path: "/added", value: { deep: [] } },
  ]);
});

test("[68] equal values give no operation, and an undefined field counts as absent", () => {
  const object = { a: [{ b: null }], c: {} };
  assertEquals(jsonPatch(object, structuredClone(object)), []);
  assertEquals(jsonPatch({ a: 1 }, { a: 1, b: undefined }), []);
  assertEquals(jsonPatch({ a: 1 }, { a: undefined }), [{ op: "remove", path: "/a" }]);
});

test("[68] list elements are removed from the back and added at their index", () => {
  assertEquals(jsonPatch([1, 2, 3, 4], [1, 4]), [{ op: "remove", path: "/2" }, { op: "remove", path: "/1" }]);
  assertEquals(jsonPatch([], [1, 2]), [{ op: "add", path: "/0", value: 1 }, { op: "add", path: "/1", value: 2 }]);
  assertEquals(jsonPatch([{ a: 1 }, { b: 1 }], [{ a: 2 }, { b: 1 }]), [{ op: "replace", path: "/0/a", value: 2 }]);
});

test("[68] applying the patch to the first value gives the second, for any two JSON values", () => {
  // Invariant: apply(before, patch) equals after, and a second patch is empty. Keys include names like __proto__.
  const key = fc.constantFrom("a", "b", "constructor", "toString", "x/y", "x~y", "");
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 4 }, fc.constantFrom<unknown>(null, true, 0, 1, "s"), tie("list"), tie("record")),
    list: fc.array(tie("value"), { maxLength: 5 }),
    record: fc.dictionary(key, tie("value"), { maxKeys: 4 }).map((record) => ({ ...record })),
  }));
  fc.assert(
    fc.property(value, value, (before, after) => {
      const steps = structuredClone(jsonPatch(before, after));
      const applied: unknown = fastJsonPatch.applyPatch(structuredClone(before), [...steps]).newDocument;
      assertEquals(jsonPatch(applied, after), []);
      assertEquals(applied, after);
    }),
    { numRuns: 2000 },
  );
});

test("[68] a key named __proto__ is a key like any other", () => {
  const before: unknown = JSON.parse('{"data":{"a":"1"}}');
  const after: unknown = JSON.parse('{"data":{"a":"1","__proto__":"x"}}');
  assertEquals(jsonPatch(before, after), [{ op: "add", path: "/data/__proto__", value: "x" }]);
  assertEquals(jsonPatch(after, before), [{ op: "remove", path: "/data/__proto__" }]);
  assertEquals(Object.hasOwn(Object.prototype, "a"), false);
});
