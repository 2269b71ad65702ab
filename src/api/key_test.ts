import { assertEquals, assertThrows, test } from "../../tests/testing.ts";
import { keyOf, objectKey, splitKey } from "./key.ts";

test("keys go apart into what they were made of", () => {
  assertEquals(splitKey(objectKey({ namespace: "shop", name: "web" })), { namespace: "shop", name: "web" });
  assertEquals(splitKey(objectKey({ name: "node-1" })), { name: "node-1" });
  assertEquals(splitKey(objectKey({ namespace: "", name: "node-1" })), { name: "node-1" });
});

test("[94] names that mean something to JavaScript are names like others", () => {
  for (const name of ["constructor", "__proto__", "toString"]) {
    assertEquals(String(keyOf({ metadata: { namespace: name, name } })), `${name}/${name}`);
  }
});

test("an object without name has no key", () => {
  assertThrows(() => keyOf({ metadata: {} }), /metadata.name is missing/);
});
