import { assertEquals, test } from "../../../../tests/testing.ts";
import type { Json } from "../../model/mod.ts";
import { selectorStruct, selectorText } from "./cells.ts";

const selectors: readonly (readonly [Json | undefined, string | undefined])[] = [
  [undefined, ""],
  [{}, ""],
  [{ matchLabels: { b: "2", a: "1" } }, "a=1,b=2"],
  [{ matchExpressions: [{ key: "a", operator: "In", values: ["y", "x"] }] }, "a in (x,y)"],
  [{ matchExpressions: [{ key: "a", operator: "NotIn", values: ["x"] }] }, "a notin (x)"],
  [{ matchExpressions: [{ key: "a", operator: "Exists" }, { key: "b", operator: "DoesNotExist" }] }, "a,!b"],
  [
    { matchLabels: { m: "1" }, matchExpressions: [{ key: "z", operator: "Exists" }, { key: "a", operator: "Exists" }] },
    "a,m=1,z",
  ],
  [{ matchLabels: { __proto__x: "1", constructor: "2" } }, "__proto__x=1,constructor=2"],
  [{ matchExpressions: [{ key: "a", operator: "Near" }] }, undefined],
];

for (const [selector, text] of selectors) {
  test(`the selector ${JSON.stringify(selector)} is shown as ${text === undefined ? "nothing" : `"${text}"`}`, () => {
    assertEquals(selectorText(selector), text);
  });
}

test("a selector struct is shown as Go's generated code prints it", () => {
  const matchExpressions = [{ key: "k", operator: "In", values: ["x", "y"] }];
  assertEquals(
    selectorStruct({ matchLabels: { a: "1" }, matchExpressions }),
    "&LabelSelector{MatchLabels:map[string]string{a: 1,}," +
      "MatchExpressions:[]LabelSelectorRequirement{LabelSelectorRequirement{Key:k,Operator:In,Values:[x y],},},}",
  );
});
