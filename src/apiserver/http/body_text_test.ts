/** Tests of the text of bodies: the rules of Go for bytes that are not UTF-8. */
import { assertEquals, test } from "../../../tests/testing.ts";
import { goText, withoutLoneSurrogates } from "./body_text.ts";

const texts: readonly (readonly [name: string, bytes: readonly number[], text: string])[] = [
  ["ASCII", [0x61, 0x62], "ab"],
  ["a byte-order mark", [0xef, 0xbb, 0xbf, 0x61], "\ufeffa"],
  ["four bytes", [0xf0, 0x9f, 0x98, 0x80], "\u{1f600}"],
  ["a byte of no character", [0x61, 0xff, 0x62], "a\ufffdb"],
  ["a cut-off character at the end", [0x61, 0xe2, 0x82], "a\ufffd\ufffd"],
  ["a cut-off character", [0xe2, 0x82, 0x61], "\ufffd\ufffda"],
  ["an overlong character", [0xc0, 0xaf], "\ufffd\ufffd"],
  ["an encoded surrogate", [0xed, 0xa0, 0x80], "\ufffd\ufffd\ufffd"],
  ["a character beyond the last one", [0xf4, 0x90, 0x80, 0x80], "\ufffd\ufffd\ufffd\ufffd"],
  ["a valid character behind an invalid one", [0xff, 0xc3, 0xa9], "\ufffd\u00e9"],
];

for (const [name, bytes, text] of texts) {
  test(`goText() replaces each byte that is not UTF-8: ${name}`, () => {
    assertEquals(goText(Uint8Array.from(bytes)), text);
  });
}

test("withoutLoneSurrogates() replaces half pairs, and keeps pairs and escaped backslashes", () => {
  assertEquals(withoutLoneSurrogates('"\\ud800"'), '"\\ufffd"');
  assertEquals(withoutLoneSurrogates('"\\ude00\\ud83d"'), '"\\ufffd\\ufffd"');
  assertEquals(withoutLoneSurrogates('"\\ud83d\\ude00"'), '"\\ud83d\\ude00"');
  assertEquals(withoutLoneSurrogates('"\\ud83d\\ud83d\\ude00"'), '"\\ufffd\\ud83d\\ude00"');
  assertEquals(withoutLoneSurrogates('"\\\\ud800"'), '"\\\\ud800"');
  assertEquals(withoutLoneSurrogates('"\\u0041"'), '"\\u0041"');
});
