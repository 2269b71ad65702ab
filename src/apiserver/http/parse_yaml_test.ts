import { assertEquals, assertMatch, test } from "../../../tests/testing.ts";
import { badRequest } from "../model/mod.ts";
import { parseYaml } from "./parse_yaml.ts";

const read = async (text: string) => (await parseYaml(text, badRequest)).value;

/** What Go programs make of YAML. */
const values: readonly (readonly [text: string, value: unknown])[] = [
  ["a: yes\nb: off\nc: 'yes'", { a: true, b: false, c: "yes" }],
  ["y: 1", { true: 1 }],
  ["a: 010\nb: 0x10\nc: 1_000\nd: 1.5", { a: 8, b: 16, c: 1000, d: 1.5 }],
  ["a: 2001-01-01\nb: 12:30:45", { a: "2001-01-01", b: "12:30:45" }],
  ["a: &x {k: v}\nb: {<<: *x, l: w}", { a: { k: "v" }, b: { k: "v", l: "w" } }],
  ["a: ~\nb:", { a: null, b: null }],
];

for (const [text, value] of values) {
  test(`YAML is read as Go reads it: ${JSON.stringify(text)}`, async () => {
    assertEquals(JSON.stringify(await read(text)), JSON.stringify(value));
  });
}

test("keys that are there twice are named with their lines; the last one counts", async () => {
  const { value, duplicates } = await parseYaml("a: 1\nb: 2\na: 3", badRequest);
  assertEquals(value, { a: 3, b: 2 });
  assertEquals(duplicates, ['line 3: key "a" already set in map']);
});

test("what is no YAML is refused in the words of go-yaml", async () => {
  const complaint = (text: string) => read(text).then(() => "read", (error) => `${error.message}`);
  assertEquals(await complaint("a: b\n  c: ["), "yaml: line 2: mapping values are not allowed in this context");
  assertMatch(await complaint("a: ["), /^yaml: line 1: did not find expected node content$/);
});
