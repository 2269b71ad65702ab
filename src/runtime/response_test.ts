/** Heads and bodies of HTTP/1.1 answers: where an answer ends is never guessed. */
import { assert, assertEquals, assertThrows, test } from "../../tests/testing.ts";
import { responseBodyReader } from "./_response_body.ts";
import { parseResponseHead, type ResponseFraming } from "./_response_head.ts";

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

/** Gives a reader the text in pieces of `size` bytes, and returns what it made of them. */
function readInPieces(framing: ResponseFraming, text: string, size: number) {
  const reader = responseBodyReader(framing);
  let body = "";
  for (let at = 0; at < text.length; at += size) {
    body += new TextDecoder().decode(reader.take(bytesOf(text.slice(at, at + size))));
  }
  return { body, isComplete: reader.isComplete, hasExcess: reader.hasExcess };
}

test("a head says its status, its fields, and how the body follows", () => {
  const table:
    readonly (readonly [text: string, method: string, status: number, framing: string, keepsAlive: boolean])[] = [
      ["HTTP/1.1 200 OK\r\nContent-Length: 12", "GET", 200, "length", true],
      ["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked", "GET", 200, "chunked", true],
      ["HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\nconnection: Close", "GET", 200, "chunked", false],
      ["HTTP/1.1 200\r\n", "GET", 200, "rest", false],
      ["HTTP/1.0 200 OK\r\ncontent-length: 1", "GET", 200, "length", false],
      ["HTTP/1.1 200 OK\r\ncontent-length: 12", "HEAD", 200, "none", true],
      ["HTTP/1.1 204 No Content", "GET", 204, "none", true],
      ["HTTP/1.1 304 Not Modified\r\ncontent-length: 7", "GET", 304, "none", true],
      ["HTTP/1.1 100 Continue", "POST", 100, "none", true],
    ];
  for (const [text, method, status, framing, keepsAlive] of table) {
    const head = parseResponseHead(text.replace(/\r\n$/, ""), method);
    assertEquals([head.status, head.framing.kind, head.keepsAlive], [status, framing, keepsAlive], text);
  }
  const { headers } = parseResponseHead('HTTP/1.1 200 OK\r\nWarning: 299 - "a"\r\nwarning:299 - "b"', "GET");
  assertEquals(headers.get("warning"), '299 - "a", 299 - "b"');
});

test("a head whose end two readers could see in different places is refused", () => {
  const refused = [
    "HTTP/2 200 OK",
    "HTTP/1.1 99 No",
    "HTTP/1.1 2000 No",
    "ICY 200 OK",
    "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked",
    "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2",
    "HTTP/1.1 200 OK\r\ncontent-length: -1",
    "HTTP/1.1 200 OK\r\ncontent-length: 0x10",
    "HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked",
    "HTTP/1.1 200 OK\r\nno colon",
    "HTTP/1.1 200 OK\r\n: no name",
    "HTTP/1.1 200 OK\r\na: b\r\n folded",
    "HTTP/1.1 200 OK\r\na : b",
    "HTTP/1.1 200 OK\r\na: b\nc: d",
  ];
  for (const text of refused) assertThrows(() => parseResponseHead(text, "GET"), /^Cannot read the answer: /);
});

test("a chunked body comes out whole, wherever the pieces end", () => {
  const text = "5\r\nhello\r\n1;name=value\r\n,\r\n0B \r\n wide\r\nworl\r\n1\r\nd\r\n0\r\nTrailer: x\r\n\r\n";
  for (let size = 1; size <= text.length; size++) {
    const read = readInPieces({ kind: "chunked" }, text, size);
    assertEquals(read, { body: "hello, wide\r\nworld", isComplete: true, hasExcess: false }, `pieces of ${size}`);
  }
});

test("what comes behind the end is not part of the body, and is noticed", () => {
  const chunked = readInPieces({ kind: "chunked" }, "1\r\na\r\n0\r\n\r\nHTTP/1.1 200 OK", 100);
  assertEquals(chunked, { body: "a", isComplete: true, hasExcess: true });
  const counted = readInPieces({ kind: "length", bytes: 3 }, "abcd", 2);
  assertEquals(counted, { body: "abc", isComplete: true, hasExcess: true });
  const none = readInPieces({ kind: "none" }, "a", 1);
  assertEquals(none, { body: "", isComplete: true, hasExcess: true });
  const rest = readInPieces({ kind: "rest" }, "abcd", 2);
  assertEquals(rest, { body: "abcd", isComplete: false, hasExcess: false });
});

test("a body that is cut short is not complete", () => {
  const text = "5\r\nhello\r\n0\r\n\r\n";
  for (let end = 0; end < text.length; end++) {
    assert(!readInPieces({ kind: "chunked" }, text.slice(0, end), 4).isComplete, `after ${end} bytes`);
  }
  assert(!readInPieces({ kind: "length", bytes: 3 }, "ab", 1).isComplete);
});

test("[81] chunks that are malformed, too large, or come with endless extensions are refused", () => {
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
    assertThrows(() => readInPieces({ kind: "chunked" }, text, text.length), /^Cannot read the answer: /);
  }
});
