import { assertEquals, assertThrows, test } from "../../../tests/testing.ts";
import { fromBase64, toBase64, toHex } from "./bytes_as_text.ts";

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

test("bytes and texts are written in both alphabets, and read again", () => {
  for (const content of ["", "a", "ab", "abc", "ä🐧?>~", "x".repeat(1000)]) {
    const bytes = new TextEncoder().encode(content);
    assertEquals(toBase64(bytes), toBase64(content));
    assertEquals(text(fromBase64(toBase64(content))), content);
    assertEquals(text(fromBase64(toBase64(bytes, "base64url"), "base64url")), content);
  }
  const bytes = new Uint8Array([1, 0xfb, 0xff, 0xfe, 2]).subarray(1, 4);
  assertEquals([toBase64(bytes), toBase64(bytes, "base64url"), toHex(bytes)], ["+//+", "-__-", "fbfffe"]);
  assertEquals([toBase64("a"), toBase64("a", "base64url")], ["YQ==", "YQ"]);
});

test("white space and a missing padding are allowed, anything else is refused", () => {
  assertEquals(text(fromBase64(" YW\nJj\r\nYQ ")), "abca");
  for (const wrong of ["Y", "YQ=", "YQ===", "=", "====", "Y*==", "YQ==YQ==", "+/-_", "YW.j"]) {
    assertThrows(() => fromBase64(wrong), /^Cannot read base64: the text is malformed$/);
  }
  for (const wrong of ["+/+/", "a.b"]) assertThrows(() => fromBase64(wrong, "base64url"), /base64url/);
});
