import { assert, assertEquals, assertMatch, test } from "../../../tests/testing.ts";
import { badRequest, type JsonObject } from "../model/mod.ts";
import { foldLines, parseYaml, yamlText } from "./yaml.ts";

const read = async (text: string) => (await parseYaml(new TextEncoder().encode(text), badRequest)).value;

/** YAML and its value in a Go program. */
const values: readonly (readonly [text: string, value: unknown])[] = [
  ["a: yes\nb: off\nc: 'yes'", { a: true, b: false, c: "yes" }],
  ["y: 1", { true: 1 }],
  ["a: 010\nb: 0x10\nc: 1_000\nd: 1.5", { a: 8, b: 16, c: 1000, d: 1.5 }],
  ["a: 2001-01-01\nb: 12:30:45", { a: "2001-01-01", b: "12:30:45" }],
  ["a: &x {k: v}\nb: {<<: *x, l: w}", { a: { k: "v" }, b: { k: "v", l: "w" } }],
  ["a: ~\nb:", { a: null, b: null }],
];

for (const [text, value] of values) {
  test(`parseYaml() reads YAML as Go does: ${JSON.stringify(text)}`, async () => {
    assertEquals(JSON.stringify(await read(text)), JSON.stringify(value));
  });
}

test("parseYaml() reads digits in a string as JSON does: the keys keep their order", async () => {
  const text = '{"uid":"1234567890123456789012-e123","name":"x1e400"}';
  assertEquals(JSON.stringify(await read(text)), text);
  // An integer beyond int64 is one of YAML, whose keys are sorted.
  assertEquals(
    JSON.stringify(await read('{"uid":"a","name":18446744073709551616}')),
    '{"name":18446744073709552000,"uid":"a"}',
  );
});

test("parseYaml() reports duplicate keys with their lines, and uses the last value", async () => {
  const { value, duplicates } = await parseYaml(new TextEncoder().encode("a: 1\nb: 2\na: 3"), badRequest);
  assertEquals(value, { a: 3, b: 2 });
  assertEquals(duplicates, ['line 3: key "a" already set in map']);
});

test("parseYaml() rejects malformed YAML with the message of go-yaml", async () => {
  const messageOf = (text: string) => read(text).then(() => "read", (error) => `${error.message}`);
  assertEquals(await messageOf("a: b\n  c: ["), "yaml: line 2: mapping values are not allowed in this context");
  assertMatch(await messageOf("a: ["), /^yaml: line 1: did not find expected node content$/);
});

/** Values, and their YAML after the key. */
const written: readonly (readonly [JsonObject[string], string])[] = [
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

for (const [value, text] of written) {
  test(`yamlText() writes ${JSON.stringify(value)} as${text}`, async () => {
    const written = await yamlText({ key: value });
    assertEquals(written, `key:${text}\n`);
    assertEquals(await read(written), { key: value });
  });
}

test("keys are in order, and quoted as written are", async () => {
  assertEquals(await yamlText({ b: 1, a: 2, on: 3 }), 'a: 2\nb: 1\n"on": 3\n');
});

const words = Array.from({ length: 40 }, (_, index) => `word${index}`).join(" ");

test("foldLines() breaks a long text at the first space after column 80, like go-yaml", () => {
  const accepted = "only the following media types are accepted: application/json;stream=watch,";
  const more = "application/vnd.kubernetes.protobuf;stream=watch'";
  assertEquals(
    foldLines(`message: '${accepted} ${more}\nreason: x\n`),
    `message: '${accepted}\n  ${more}\nreason: x\n`,
  );
});

test("foldLines() does not break keys, and texts without a space after column 80", () => {
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
  test(`${Object.keys(object).join(", ").slice(0, 60)}: folded YAML has the same value`, async () => {
    const text = await yamlText(object);
    assertEquals(await read(text), object);
    assert(text.split("\n").length > Object.keys(object).length, text);
  });
}
