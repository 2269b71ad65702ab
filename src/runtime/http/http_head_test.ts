/** Tests of the heads of HTTP/1.1 messages: where a message ends is never guessed. */
import { assertEquals, assertThrows, test } from "../../../tests/testing.ts";
import { findHeadEnd, parseRequestHead, parseResponseHead, responseError } from "./http_head.ts";

/** One byte for each character. */
function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

test("the head of a response has a status, fields, and a framing of the body", () => {
  const table:
    readonly (readonly [text: string, method: string, status: number, framing: string, keepsAlive: boolean])[] = [
      ["HTTP/1.1 200 OK\r\nContent-Length: 12", "GET", 200, "length", true],
      ["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked", "GET", 200, "chunked", true],
      ["HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\nconnection: Close", "GET", 200, "chunked", false],
      ["HTTP/1.1 200\r\n", "GET", 200, "untilClose", false],
      ["HTTP/1.0 200 OK\r\ncontent-length: 1", "GET", 200, "length", false],
      ["HTTP/1.1 200 OK\r\ncontent-length: 12", "HEAD", 200, "none", true],
      ["HTTP/1.1 204 No Content", "GET", 204, "none", true],
      ["HTTP/1.1 304 Not Modified\r\ncontent-length: 7", "GET", 304, "none", true],
      ["HTTP/1.1 205 Reset Content\r\ncontent-length: 0", "GET", 205, "none", true],
      ["HTTP/1.1 205 Reset Content\r\ncontent-length: 3", "GET", 205, "none", false],
      ["HTTP/1.1 205 Reset Content\r\ntransfer-encoding: chunked", "GET", 205, "none", false],
      ["HTTP/1.1 100 Continue", "POST", 100, "none", true],
    ];
  for (const [text, method, status, framing, keepsAlive] of table) {
    const head = parseResponseHead(bytesOf(`${text.replace(/\r\n$/, "")}\r\n\r\n`), method);
    assertEquals([head.status, head.framing.kind, head.keepsAlive], [status, framing, keepsAlive], text);
  }
  const { headers } = parseResponseHead(
    bytesOf('HTTP/1.1 200 OK\r\nWarning: 299 - "a"\r\nwarning:299 - "b"\r\n\r\n'),
    "GET",
  );
  assertEquals(headers.get("warning"), '299 - "a", 299 - "b"');
});

test("the head of a response is refused if two programs could see the end of the response in different places", () => {
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
  for (const text of refused) {
    assertThrows(() => parseResponseHead(bytesOf(`${text}\r\n\r\n`), "GET"), /^Cannot read response: /);
  }
});

test("a field value of a response may contain bytes above ASCII, as UTF-8 in a Warning header does; one of a request may not", () => {
  const value = String.fromCharCode(...new TextEncoder().encode('299 - "größer – …"'));
  const response = parseResponseHead(bytesOf(`HTTP/1.1 200 OK\r\nwarning: ${value}\r\n\r\n`), "GET");
  assertEquals(response.headers.get("warning"), value);
  const limits = { maxHeaderFields: 10, maxUrlBytes: 100 };
  const request = bytesOf(`GET / HTTP/1.1\r\nhost: a\r\nx: ${value}\r\n\r\n`);
  assertThrows(() => parseRequestHead(request, limits), /a field of its head is malformed$/);
});

test("a line feed without a carriage return in the head of a response is refused", () => {
  for (const text of ["HTTP/1.1 200 OK\nb\n", "HTTP/1.1 200 OK\r\na: b\nc\n", "HTTP/1.1 200 OK\r\na: b\r\n\n"]) {
    assertThrows(() => findHeadEnd(bytesOf(text), 0, responseError), /ends without a carriage return$/);
  }
  assertEquals(findHeadEnd(bytesOf("HTTP/1.1 200 OK\r\n\r\nbody\n"), 0, responseError), 19);
});
