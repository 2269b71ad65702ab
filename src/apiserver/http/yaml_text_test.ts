import { parse } from "yaml";
import { assertEquals, test } from "../../../tests/testing.ts";
import type { JsonObject } from "../model/mod.ts";
import { yamlText } from "./yaml_text.ts";

/** Values, and how they stand after their key. */
const values: readonly (readonly [JsonObject[string], string])[] = [
  ["text", " text"],
  ["", ' ""'],
  ["yes", ' "yes"'],
  ["null", ' "null"'],
  ["12", ' "12"'],
  ["1e3", ' "1e3"'],
  ["0x1F", ' "0x1F"'],
  ["2026-01-01T00:00:00Z", ' "2026-01-01T00:00:00Z"'],
  ["a: b", " 'a: b'"],
  ["- a", " '- a'"],
  ["it's", " it's"],
  ["#a", " '#a'"],
  [12, " 12"],
  [true, " true"],
  [null, " null"],
  [[], " []"],
  [{}, " {}"],
  [["a", { b: 1 }], "\n- a\n- b: 1"],
  ["two\nlines\n", " |\n  two\n  lines"],
];

for (const [value, text] of values) {
  test(`${JSON.stringify(value)} is written as${text}`, async () => {
    const written = await yamlText({ key: value });
    assertEquals(written, `key:${text}\n`);
    assertEquals(parse(written, { version: "1.1" }), { key: value });
  });
}

test("keys are in order, and quoted as values are", async () => {
  assertEquals(await yamlText({ b: 1, a: 2, on: 3 }), 'a: 2\nb: 1\n"on": 3\n');
});
