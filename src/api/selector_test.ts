import { assertEquals, test } from "../../tests/testing.ts";
import { formatFieldSelector, formatLabelSelector, type LabelSelector, matchesLabels } from "./selector.ts";

interface Case {
  readonly selector: LabelSelector;
  readonly text: string;
  readonly matching: readonly Readonly<Record<string, string>>[];
  readonly other: readonly Readonly<Record<string, string>>[];
}

const cases: readonly Case[] = [
  { selector: {}, text: "", matching: [{}, { a: "b" }], other: [] },
  { selector: { matchLabels: { a: "b" } }, text: "a=b", matching: [{ a: "b", c: "d" }], other: [{}, { a: "c" }] },
  {
    selector: { matchExpressions: [{ key: "a", operator: "In", values: ["b", "c"] }] },
    text: "a in (b,c)",
    matching: [{ a: "b" }, { a: "c" }],
    other: [{}, { a: "d" }],
  },
  {
    selector: { matchExpressions: [{ key: "a", operator: "NotIn", values: ["b"] }] },
    text: "a!=b",
    matching: [{}, { a: "c" }],
    other: [{ a: "b" }],
  },
  {
    selector: { matchExpressions: [{ key: "a", operator: "Exists" }, { key: "z", operator: "DoesNotExist" }] },
    text: "a,!z",
    matching: [{ a: "" }],
    other: [{}, { a: "", z: "" }],
  },
  {
    selector: { matchExpressions: [{ key: "constructor", operator: "Exists" }] },
    text: "constructor",
    matching: [{ constructor: "x" }],
    other: [{}],
  },
];

for (const { selector, text, matching, other } of cases) {
  test(`the selector "${text}" has the text and the result of the server`, () => {
    assertEquals(formatLabelSelector(selector), text);
    for (const labels of matching) assertEquals(matchesLabels(selector, labels), true);
    for (const labels of other) assertEquals(matchesLabels(selector, labels), false);
  });
}

test("formatFieldSelector() escapes characters that would end a value", () => {
  assertEquals(formatFieldSelector({ "metadata.name": "a,b=c\\d" }), "metadata.name=a\\,b\\=c\\\\d");
});
