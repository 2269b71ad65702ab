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

test("a tag whose values JSON does not have is an error, and bytes are text as in Go", () => {
  for (const tagged of ["!!set {a, b}", "!!omap [a: 1]", "!!timestamp 2001-01-01", "!!binary /w=="]) {
    const read = () => parseYaml(`a: ${tagged}\n`).value();
    assertThrows(read, /^Cannot read YAML: /);
  }
  assertEquals(parseYaml("!!binary aGk=\n", { dialect: "go" }).value(), "hi");
});

test("a key << is quoted in both styles, so it is not read as a merge", () => {
  for (const style of ["plain", "go"] as const) {
    const text = printYaml({ "<<": { a: 1 } }, { style });
    assertEquals(parseYaml(text, { dialect: "go" }).value(), { "<<": { a: 1 } });
  }
});

test("the dialect go reads a number only where there is a digit, as a short commit id may be e5", () => {
  const texts = [".", "+.", "e5", "-e3", ".e5", "E10", "._1"];
  for (const text of texts) assertEquals(parseYaml(text, { dialect: "go" }).value(), text);
  for (const text of texts) assertEquals(parseYaml(printYaml(text), { dialect: "go" }).value(), text);
  assertEquals(parseYaml("[1., .5, 1_0.5, 1e3, 1.5E+2, -.5e1, 0x1F]", { dialect: "go" }).value(), [
    ...[1, 0.5, 10.5, 1000, 150, -5, 31],
  ]);
});

test("a carriage return alone ends a line, and a text that begins with a byte order mark is quoted", () => {
  assertEquals(parseYaml("a: 1\rb: 2\r").value(), { a: 1, b: 2 });
  for (const style of ["plain", "go"] as const) {
    const text = printYaml("\ufeff", { style });
    assertEquals(parseYaml(text).value(), "\ufeff", JSON.stringify(text));
  }
});

test("texts that only Go reads as a number, and halves of surrogate pairs, are printed so that Go reads them", () => {
  for (const style of ["plain", "go"] as const) {
    const text = printYaml({ octal: "0o7", half: "\ud800" }, { style });
    assertEquals(parseYaml(text, { dialect: "go" }).value(), { octal: "0o7", half: "\ufffd" }, text);
  }
});
