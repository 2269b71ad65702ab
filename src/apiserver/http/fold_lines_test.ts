import { parse } from "yaml";
import { assert, assertEquals, test } from "../../../tests/testing.ts";
import type { JsonObject } from "../model/mod.ts";
import { foldLines } from "./_fold_lines.ts";
import { yamlText } from "./yaml_text.ts";

const words = Array.from({ length: 40 }, (_, index) => `word${index}`).join(" ");

test("a long text is broken at the first space beyond column 80, as go-yaml breaks it", () => {
  const accepted = "only the following media types are accepted: application/json;stream=watch,";
  const more = "application/vnd.kubernetes.protobuf;stream=watch'";
  assertEquals(
    foldLines(`message: '${accepted} ${more}\nreason: x\n`),
    `message: '${accepted}\n  ${more}\nreason: x\n`,
  );
});

test("a text without a space beyond column 80, and a key, are left as they are", () => {
  for (const line of ["a".repeat(200), `a: ${"b".repeat(200)}`, `${"long key ".repeat(20)}: b`]) {
    assertEquals(foldLines(line), line);
  }
});

const objects: readonly JsonObject[] = [
  { plain: words, quoted: `${words}: x`, double: `${words}\t`, spaces: words.replaceAll(" ", "  ") },
  { list: [words, { key: words, deeper: { key: words, list: [[words], [`- ${words}`]] } }] },
  { literal: `${words}\n  ${words}\n\n${words}\n`, list: [`${words}\n${words}`, words], after: words },
  { [words]: words, [`${words}: a`]: words, 'with "quotes"': `${words} "a" 'b'` },
  { "|": words, ">": `| ${words}`, "a: |": "|", b: `${words} |` },
];

for (const object of objects) {
  test(`${Object.keys(object).join(", ").slice(0, 60)}: what is folded reads as it did`, async () => {
    const text = await yamlText(object);
    assertEquals(parse(text, { version: "1.1" }), object);
    assert(text.split("\n").length > Object.keys(object).length, text);
  });
}
