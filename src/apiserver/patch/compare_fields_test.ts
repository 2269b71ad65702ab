import { assert, assertEquals, assertThrows, test } from "../../../tests/testing.ts";
import { draftOf, type Json } from "../model/mod.ts";
import { compareFields } from "./compare_fields.ts";
import { specField, thing, thingType } from "./thing_testing.ts";

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

test("a part that both sides share is not looked at", () => {
  const shared = {
    get a(): string {
      throw new Error("looked at");
    },
  };
  assert(compareFields({ spec: { free: shared } }, { spec: { free: shared } }, thingType) === undefined);
});

test("a copy of an object is the same object", () => {
  const object = thing({ items: [{ name: "a", tags: ["x"] }], free: JSON.parse('{"__proto__":{"a":1}}'), args: [] });
  assert(compareFields(object, draftOf(object), thingType) === undefined);
});

test("items that cannot be told apart cannot be compared", () => {
  assertThrows(() => compareFields(thing({ items: [{}] }), thing({ items: [] }), thingType));
});
