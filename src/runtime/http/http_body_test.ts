/** Tests of the bodies of HTTP/1.1 responses: chunks, lengths, and bytes behind the end. */
import { assert, assertEquals, assertThrows, test } from "../../../tests/testing.ts";
import { bodyDecoder, responseRules } from "./http_body.ts";
import type { ResponseFraming } from "./http_head.ts";

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

/** Decodes the text in pieces of `size` bytes. */
function readInPieces(framing: ResponseFraming, text: string, size: number) {
  const decoder = bodyDecoder(framing, responseRules);
  let body = "";
  let hasExcess = false;
  for (let at = 0; at < text.length; at += size) {
    body += new TextDecoder().decode(decoder.take(bytesOf(text.slice(at, at + size))));
    hasExcess ||= decoder.excessBytes > 0;
  }
  return { body, isComplete: decoder.isComplete, hasExcess };
}

test("a chunked body is decoded for any size of the pieces", () => {
  const text = "5\r\nhello\r\n1;name=value\r\n,\r\n0B \r\n wide\r\nworl\r\n1\r\nd\r\n0\r\nTrailer: x\r\n\r\n";
  for (let size = 1; size <= text.length; size++) {
    const read = readInPieces({ kind: "chunked" }, text, size);
    assertEquals(read, { body: "hello, wide\r\nworld", isComplete: true, hasExcess: false }, `pieces of ${size}`);
  }
});

test("bytes behind the end are not part of the body, and are counted", () => {
  const chunked = readInPieces({ kind: "chunked" }, "1\r\na\r\n0\r\n\r\nHTTP/1.1 200 OK", 100);
  assertEquals(chunked, { body: "a", isComplete: true, hasExcess: true });
  const counted = readInPieces({ kind: "length", bytes: 3 }, "abcd", 2);
  assertEquals(counted, { body: "abc", isComplete: true, hasExcess: true });
  const none = readInPieces({ kind: "none" }, "a", 1);
  assertEquals(none, { body: "", isComplete: true, hasExcess: true });
  const rest = readInPieces({ kind: "untilClose" }, "abcd", 2);
  assertEquals(rest, { body: "abcd", isComplete: false, hasExcess: false });
});

test("a body that is cut short is not complete", () => {
  const text = "5\r\nhello\r\n0\r\n\r\n";
  for (let end = 0; end < text.length; end++) {
    assert(!readInPieces({ kind: "chunked" }, text.slice(0, end), 4).isComplete, `after ${end} bytes`);
  }
  assert(!readInPieces({ kind: "length", bytes: 3 }, "ab", 1).isComplete);
});

test("[81] chunks that are malformed, too large, or have endless extensions are refused", () => {
  const refused = [
    "\r\n",
    "g\r\n",
    "1\n",
    "1\r\nab",
    "1\r\na\n",
    "-1\r\n",
    "fffffffff\r\n",
    "00000000000000001\r\na",
    `1;${"x".repeat(5000)}`,
    `0\r\n${"x: y\r\n".repeat(1000)}`,
  ];
  for (const text of refused) {
    assertThrows(() => readInPieces({ kind: "chunked" }, text, text.length), /^Cannot read response: /);
  }
});
