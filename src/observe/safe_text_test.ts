import { assertEquals, test } from "../../tests/testing.ts";
import { shortened } from "./safe_text.ts";

test("shortened keeps a text that fits, and never cuts a character in two", () => {
  assertEquals(shortened("abcd", 4), "abcd");
  assertEquals(shortened("abcde", 4), "abcd…");
  assertEquals(shortened("abc\u{1F600}d", 4), "abc…");
  assertEquals(shortened("ab\u{1F600}d", 4), "ab\u{1F600}…");
});
