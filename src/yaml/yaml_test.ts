import { assert, assertEquals, assertStringIncludes, assertThrows, test } from "../../tests/testing.ts";
import { parseYaml, printYaml } from "./mod.ts";

test("texts with a special meaning in YAML 1.1 are quoted, so kubectl reads the same object", () => {
  const object = {
    y: 1,
    on: "off",
    kind: "N",
    "<<": "=",
    day: "2026-01-01",
    octal: "0777",
    base60: "1:30",
    tilde: "~",
  };
  const text = printYaml(object);
  for (const part of ['"y": 1', '"on": "off"', 'kind: "N"', '"<<": "="', 'day: "2026-01-01"', 'base60: "1:30"']) {
    assertStringIncludes(text, part);
  }
  for (const dialect of ["core", "go"] as const) {
    const { "<<": _merge, ...others } = object;
    assertEquals(parseYaml(printYaml(others), { dialect }).value(), others);
  }
});

test("keys are printed in alphabetical order", () => {
  assertEquals(printYaml({ b: 1, a: { d: 2, c: 3 } }), "a:\n  c: 3\n  d: 2\nb: 1\n");
});

test("long lines are not folded and repeated objects are not aliased", () => {
  const shared = { text: "word ".repeat(60).trim() };
  const text = printYaml({ a: shared, b: shared });
  assertEquals(text.split("\n").length, 5);
  assertEquals(text.includes("&"), false);
});

test("style go writes unindented lists and single quotes; without sortKeys the order stays", () => {
  assertEquals(printYaml({ b: ["x: y"], a: "on" }, { style: "go" }), "a: \"on\"\nb:\n- 'x: y'\n");
  assertEquals(printYaml({ b: ["x: y"], a: 1 }, { sortKeys: false }), 'b:\n  - "x: y"\na: 1\n');
});

test("the dialect core reads YAML 1.2, the dialect go reads YAML 1.1 as Go programs do", () => {
  const text = "a: yes\nb: 010\nc: 12:30\nd: 2026-01-01";
  assertEquals(parseYaml(text).value(), { a: "yes", b: 10, c: "12:30", d: "2026-01-01" });
  assertEquals(parseYaml(text, { dialect: "go" }).value(), { a: true, b: 8, c: "12:30", d: "2026-01-01" });
});

test("problems have a code and a place, and are not thrown", () => {
  const { problems: [problem] } = parseYaml("a: 1\nb: [1,\nc: }");
  assertEquals([problem?.line, problem?.message.includes("\n")], [3, false]);
  assert(/^[A-Z_]+$/.test(problem?.code ?? ""));
});

test("duplicate keys are found in every map, in the order of the text, and the last value counts", () => {
  const document = parseYaml("a: 1\nb:\n  c: 1\n  'c': 2\na: 2\n");
  assertEquals(document.duplicateKeys(), [{ offset: 17, line: 4 }, { offset: 24, line: 5 }]);
  assertEquals([document.problems, document.value()], [[], { a: 2, b: { c: 2 } }]);
});

test("[94] a key __proto__ and more than a hundred aliases", () => {
  assertEquals(JSON.stringify(parseYaml('{"__proto__": {"a": 1}}').value()), '{"__proto__":{"a":1}}');
  const laughs = [
    "a: &a [1,1]",
    ...[..."bcdefghi"].map((name, at) => `${name}: &${name} [${`*${"abcdefgh"[at]},`.repeat(9)}]`),
  ];
  assertThrows(() => parseYaml(laughs.join("\n")).value(), /alias/i);
});
