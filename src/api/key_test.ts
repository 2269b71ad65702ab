import { assertEquals, assertThrows, test } from "../../tests/testing.ts";
import { keyOf, objectKey, splitKey } from "./key.ts";

test("splitKey() returns the parts of a key", () => {
  assertEquals(splitKey(objectKey({ namespace: "shop", name: "web" })), { namespace: "shop", name: "web" });
  assertEquals(splitKey(objectKey({ name: "node-1" })), { name: "node-1" });
  assertEquals(splitKey(objectKey({ namespace: "", name: "node-1" })), { name: "node-1" });
});

test("[94] names such as constructor and __proto__ work as all others", () => {
  for (const name of ["constructor", "__proto__", "toString"]) {
    assertEquals(String(keyOf({ metadata: { namespace: name, name } })), `${name}/${name}`);
  }
});

test("keyOf() refuses an object without a name", () => {
  assertThrows(() => keyOf({ metadata: {} }), /metadata.name is missing/);
});
