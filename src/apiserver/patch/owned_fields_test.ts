import { assertEquals, assertThrows, test } from "../../../tests/testing.ts";
import type { Json } from "../model/mod.ts";
import { addedFields, ownedFields } from "./owned_fields.ts";
import { specField, thing, thingType } from "./thing_testing.ts";

/** What an applier of a value of a field of the spec owns, and what a creator does. */
const table: readonly (readonly [field: string, value: Json, applied: string, created: string])[] = [
  ["alpha", "a", "{}", "{}"],
  ["alpha", null, "{}", "{}"],
  ["labels", { b: "2", a: "1" }, '{"f:a":{},"f:b":{}}', '{".":{},"f:a":{},"f:b":{}}'],
  ["labels", {}, "{}", "{}"],
  ["wholeMap", { a: "1" }, "{}", "{}"],
  ["args", ["a", "b"], "{}", "{}"],
  ["tags", ["b", "a"], '{"v:\\"a\\"":{},"v:\\"b\\"":{}}', '{".":{},"v:\\"a\\"":{},"v:\\"b\\"":{}}'],
  ["numbers", [10, 9], '{"v:9":{},"v:10":{}}', '{".":{},"v:9":{},"v:10":{}}'],
  [
    "items",
    [{ name: "a", value: "1" }],
    '{"k:{\\"name\\":\\"a\\"}":{".":{},"f:name":{},"f:value":{}}}',
    '{".":{},"k:{\\"name\\":\\"a\\"}":{".":{},"f:name":{},"f:value":{}}}',
  ],
  [
    "ports",
    [{ port: 80 }, { port: 80, protocol: "UDP" }],
    '{"k:{\\"port\\":80,\\"protocol\\":\\"TCP\\"}":{".":{},"f:port":{}},' +
    '"k:{\\"port\\":80,\\"protocol\\":\\"UDP\\"}":{".":{},"f:port":{},"f:protocol":{}}}',
    '{".":{},"k:{\\"port\\":80,\\"protocol\\":\\"TCP\\"}":{".":{},"f:port":{}},' +
    '"k:{\\"port\\":80,\\"protocol\\":\\"UDP\\"}":{".":{},"f:port":{},"f:protocol":{}}}',
  ],
  ["volumes", [{ name: "a" }], "{}", "{}"],
  ["selector", { name: "a" }, "{}", "{}"],
  ["template", { name: "a", tags: [] }, '{"f:name":{}}', '{".":{},"f:name":{},"f:tags":{}}'],
  ["free", { a: { b: [1] } }, '{"f:a":{".":{},"f:b":{}}}', '{".":{},"f:a":{".":{},"f:b":{}}}'],
  ["free", { "<": null }, '{"f:<":{}}', '{".":{},"f:<":{}}'],
  [
    "open",
    { known: "a", other: { x: 1 } },
    '{"f:known":{},"f:other":{".":{},"f:x":{}}}',
    '{".":{},"f:known":{},"f:other":{".":{},"f:x":{}}}',
  ],
  ["anything", [1, { a: 2 }], "{}", "{}"],
  ["groups", { a: { value: "1" } }, '{"f:a":{".":{},"f:value":{}}}', '{".":{},"f:a":{".":{},"f:value":{}}}'],
  ["tags", ["a", "b", "a"], '{"v:\\"a\\"":{},"v:\\"b\\"":{}}', '{".":{},"v:\\"a\\"":{},"v:\\"b\\"":{}}'],
  [
    "items",
    [{ name: "a", value: "1" }, { name: "a" }],
    '{"k:{\\"name\\":\\"a\\"}":{}}',
    '{".":{},"k:{\\"name\\":\\"a\\"}":{}}',
  ],
];

for (const [field, value, applied, created] of table) {
  test(`who applies ${field} ${JSON.stringify(value)} owns ${applied}, who creates it ${created}`, () => {
    assertEquals(JSON.stringify(ownedFields(value, specField(field))), applied);
    assertEquals(JSON.stringify(addedFields(value, specField(field))), created);
  });
}

test("an empty list that is applied is nobody's, a null is", () => {
  const fields = ownedFields(thing({ tags: [], items: null, template: { tags: [] } }), thingType);
  assertEquals(JSON.stringify(fields["f:spec"]), '{"f:items":{}}');
});

test("an item without its keys cannot be owned", () => {
  assertThrows(() => addedFields([{ value: "1" }], specField("items")));
  assertThrows(() => addedFields([null], specField("tags")));
  assertEquals(
    JSON.stringify(ownedFields([{ value: "1" }, { name: "a" }], specField("items"))),
    '{"k:{\\"name\\":\\"a\\"}":{".":{},"f:name":{}}}',
  );
});
