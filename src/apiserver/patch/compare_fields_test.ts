import { assert, assertEquals, assertThrows, test } from "../../../tests/testing.ts";
import { draftOf, type Json } from "../model/mod.ts";
import { addedFields, compareFields, ownedFields } from "./compare_fields.ts";
import { specField, thing, thingType } from "./testing/things.ts";

/** `+` added, `~` modified, `-` removed. */
function textOf(before: Json, after: Json, field: string): string {
  const comparison = compareFields({ [field]: before }, { [field]: after }, {
    kind: "struct",
    fields: new Map([[field, specField(field)]]),
    patch: new Map(),
    isAtomic: false,
    keepsUnknown: false,
  });
  if (comparison === undefined) return "same";
  const { added, modified, removed } = comparison;
  const parts = [["+", added], ["~", modified], ["-", removed]] as const;
  return parts.flatMap(([sign, set]) => JSON.stringify(set) === "{}" ? [] : [sign + JSON.stringify(set[`f:${field}`])])
    .join(" ");
}

const table: readonly (readonly [field: string, before: Json, after: Json, text: string])[] = [
  ["alpha", "a", "a", "same"],
  ["alpha", "a", "b", "~{}"],
  ["alpha", "a", null, "~{}"],
  ["labels", { a: "1", b: "2" }, { b: "3", c: "4" }, '+{"f:c":{}} ~{"f:b":{}} -{"f:a":{}}'],
  ["labels", {}, null, "~{}"],
  ["labels", null, { a: "1" }, '+{"f:a":{}}'],
  ["labels", { a: "1" }, {}, '-{"f:a":{}}'],
  ["args", ["a", "b"], ["b", "a"], "~{}"],
  ["wholeMap", { a: "1" }, { a: "1", b: "2" }, "~{}"],
  ["tags", ["a", "b"], ["b", "a"], "same"],
  ["tags", ["a"], ["b"], '+{"v:\\"b\\"":{}} -{"v:\\"a\\"":{}}'],
  ["tags", [], null, "~{}"],
  [
    "items",
    [{ name: "a", value: "1" }],
    [{ name: "b" }, { name: "a", value: "2" }],
    '+{"k:{\\"name\\":\\"b\\"}":{".":{},"f:name":{}}} ~{"k:{\\"name\\":\\"a\\"}":{"f:value":{}}}',
  ],
  [
    "ports",
    [{ port: 1 }],
    [{ port: 1, protocol: "TCP" }],
    '+{"k:{\\"port\\":1,\\"protocol\\":\\"TCP\\"}":{"f:protocol":{}}}',
  ],
  ["anything", "a", { b: 1 }, '+{"f:b":{}} ~{}'],
  ["anything", { b: 1 }, "a", '~{} -{"f:b":{}}'],
  ["anything", [1], [1, 2], "~{}"],
  ["anything", { a: null }, { a: [] }, '~{"f:a":{}}'],
  ["tags", ["a", "a"], ["a", "a"], "same"],
  ["tags", ["a", "a"], ["a"], '+{"v:\\"a\\"":{}} -{"v:\\"a\\"":{}}'],
  ["tags", ["a"], ["a", "a"], '+{"v:\\"a\\"":{}} -{"v:\\"a\\"":{}}'],
  ["tags", ["a", "a"], ["a", "a", "a"], '~{"v:\\"a\\"":{}}'],
  ["items", [{ name: "a" }, { name: "a" }], [], '-{"k:{\\"name\\":\\"a\\"}":{}}'],
];

for (const [field, before, after, text] of table) {
  test(`${field} from ${JSON.stringify(before)} to ${JSON.stringify(after)} is ${text}`, () => {
    assertEquals(textOf(before, after, field), text);
  });
}

test("a part that both objects share is not visited", () => {
  const shared = {
    get a(): string {
      throw new Error("looked at");
    },
  };
  assert(compareFields({ spec: { free: shared } }, { spec: { free: shared } }, thingType) === undefined);
});

test("an object and its copy have no difference", () => {
  const object = thing({ items: [{ name: "a", tags: ["x"] }], free: JSON.parse('{"__proto__":{"a":1}}'), args: [] });
  assert(compareFields(object, draftOf(object), thingType) === undefined);
});

test("items without a unique key cannot be compared", () => {
  assertThrows(() => compareFields(thing({ items: [{}] }), thing({ items: [] }), thingType));
});

/** The fields that an applier and a creator of a field own. */
const owned: readonly (readonly [field: string, value: Json, applied: string, created: string])[] = [
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

for (const [field, value, applied, created] of owned) {
  test(`an apply of ${field} ${JSON.stringify(value)} owns ${applied}, a create ${created}`, () => {
    assertEquals(JSON.stringify(ownedFields(value, specField(field))), applied);
    assertEquals(JSON.stringify(addedFields(value, specField(field))), created);
  });
}

test("an applied empty list has no owner, an applied null has one", () => {
  const fields = ownedFields(thing({ tags: [], items: null, template: { tags: [] } }), thingType);
  assertEquals(JSON.stringify(fields["f:spec"]), '{"f:items":{}}');
});

test("an item without its keys has no owner", () => {
  assertThrows(() => addedFields([{ value: "1" }], specField("items")));
  assertThrows(() => addedFields([null], specField("tags")));
  assertEquals(
    JSON.stringify(ownedFields([{ value: "1" }, { name: "a" }], specField("items"))),
    '{"k:{\\"name\\":\\"a\\"}":{".":{},"f:name":{}}}',
  );
});
