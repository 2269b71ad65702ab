import { assertEquals, test } from "../../../../tests/testing.ts";
import type { Json } from "../../model/mod.ts";
import { changedFields } from "./changed_fields.ts";
import { FieldPath } from "./problems.ts";

const changes: readonly (readonly [what: string, before: Json, after: Json, fields: string])[] = [
  ["a field that is set", { a: 1 }, { a: 1, b: 2 }, '"spec.b"'],
  ["a field that is removed", { a: 1, b: 2 }, { a: 1 }, '"spec.b"'],
  [
    "fields at two depths",
    { a: { b: 1 }, c: [{ d: 1 }] },
    { a: { b: 2 }, c: [{ d: 2 }] },
    '"spec.a.b" and "spec.c[0].d"',
  ],
  ["a list of another length", { a: [1] }, { a: [1, 2] }, '"spec.a"'],
  ["three fields", { a: 1, b: 1, c: 1 }, { a: 2, b: 2, c: 2 }, '"spec.a", "spec.b" and "spec.c"'],
];
for (const [what, before, after, fields] of changes) {
  test(`changedFields() names ${what}`, () => {
    assertEquals(changedFields(before, after, FieldPath.of("spec")), `this update changes ${fields}`);
  });
}

test("changedFields() names eight fields and counts the others", () => {
  const keys = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
  const text = changedFields(Object.fromEntries(keys.map((key) => [key, 1])), {}, FieldPath.of("spec"));
  assertEquals(text.endsWith('"spec.g", "spec.h" and 2 more'), true);
});
