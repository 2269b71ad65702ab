/** Tests of what go-yaml reads in a text: its characters, and its first document. The conformance cases hold the messages. */
import { assertEquals, test } from "../../../tests/testing.ts";
import { firstDocument, readYaml } from "./go_yaml.ts";

const documents: readonly (readonly [text: string, first: string])[] = [
  ["a: b\n", "a: b\n"],
  ["a: b\n---\nc: d\n", "a: b\n"],
  ["---\na: b\n---\n", "---\na: b\n"],
  ["---\n---\na: b\n", "---\n"],
  ["# one\n\n---\na: b\n...\nmore", "# one\n\n---\na: b\n"],
  ['{"a":"}"} more', '{"a":"}"}'],
  ['{"a":"\\""}\n---\n', '{"a":"\\""}'],
  ["[a, 'b]'] # c\n", "[a, 'b]']"],
  ["{a: b}: c\n", "{a: b}: c\n"],
  ["a: |\n  ---\nb: c", "a: |\n  ---\nb: c"],
  ["a: ---b", "a: ---b"],
  ["", ""],
];

for (const [text, first] of documents) {
  test(`firstDocument() cuts off what follows: ${JSON.stringify(text)}`, () => {
    assertEquals(firstDocument(text), { kind: "document", text: first });
  });
}

test("firstDocument() refuses another version of YAML, and a token that cannot start behind the document", () => {
  assertEquals(firstDocument("%YAML 1.2\n---\na: b"), { kind: "malformed", why: "found incompatible YAML document" });
  const why = "line 2: found character that cannot start any token";
  assertEquals(firstDocument("{}\n\t\n"), { kind: "malformed", why });
});

test("readYaml() reads UTF-16 by its mark, and refuses control characters", () => {
  const wide = Uint8Array.from([0xff, 0xfe, 0x61, 0, 0x3a, 0, 0x20, 0, 0x31, 0]);
  assertEquals(readYaml(wide), { kind: "text", text: "a: 1" });
  const why = "control characters are not allowed";
  assertEquals(readYaml(Uint8Array.from([0x61, 1])), { kind: "unreadable", why });
});
