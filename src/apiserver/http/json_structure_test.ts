import { assertEquals, test } from "../../../tests/testing.ts";
import { duplicateKeys, membersOf, structureOf } from "./json_structure.ts";

const texts: readonly (readonly [string, number, readonly string[]])[] = [
  ["{}", 1, []],
  ['{"a":1,"b":{"a":2}}', 2, []],
  ['{"a":1,"a":2}', 1, ["a"]],
  ['{"a":1,"\\u0061":2}', 1, ["a"]],
  ['{"a":{"b":1,"b":2},"c":[{"d":1},{"d":1,"d":2}]}', 3, ["a.b", "c[1].d"]],
  ['{"a":"x\\"y\\\\","a":3}', 1, ["a"]],
  ['{"a:b":"c:d{[","e":1}', 1, []],
  ["[[[[]]]]", 4, []],
  ['{"a":[[1,2],[{"x":1,"x":1}]]}', 4, ["a[1][0].x"]],
  ['{"__proto__":1,"__proto__":2}', 1, ["__proto__"]],
];

for (const [text, depth, duplicates] of texts) {
  test(`${text} has depth ${depth} and duplicate keys ${duplicates.length === 0 ? "none" : duplicates.join(", ")}`, () => {
    const structure = structureOf(text);
    assertEquals(structure.depth, depth);
    assertEquals(structure.members !== membersOf(JSON.parse(text)), duplicates.length > 0);
    assertEquals(duplicateKeys(text), duplicates);
  });
}

test("[95] structureOf() counts a hundred thousand brackets without recursion", () => {
  assertEquals(structureOf("[".repeat(100_000)).depth, 100_000);
});
