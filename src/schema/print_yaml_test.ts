import { assertEquals, assertStringIncludes, test } from "../../tests/testing.ts";
import { parse } from "yaml";
import { defineResource, printCrd, printYaml, z } from "./mod.ts";

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
  assertEquals(parse(text, { version: "1.1", merge: false }), object);
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

test("printCrd() reads back as the CRD it printed", () => {
  const spec = z.object({ y: z.string().regex(/^[a-z]: #/), n: z.enum(["on", "off"]).default("on") });
  const { crd } = defineResource({ group: "example.dev", version: "v1", kind: "Odd", scope: "Cluster", spec });
  assertEquals(parse(printCrd(crd), { version: "1.1" }), JSON.parse(JSON.stringify(crd)));
});
