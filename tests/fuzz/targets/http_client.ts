/**
 * Bytes of a server to the client connection of the binary (src/runtime/http/client_exchange.ts).
 *
 * Promises: the response and its body settle when the connection has ended; errors are those of the parser; the bytes may
 * arrive in any pieces; a connection is used again only if the response ended exactly at its last byte.
 */
import fc from "fast-check";
import { BunSocket } from "../../../src/runtime/http/bun_socket.ts";
import { ClientExchange } from "../../../src/runtime/http/client_exchange.ts";
import { releaseBytes } from "../../../src/runtime/http/bytes.ts";
import { type FuzzTarget, promise } from "../target.ts";

interface Received {
  /** The status and the body, or the message of the error. */
  readonly result: string;
  readonly isReusable: boolean;
}

async function exchange(pieces: readonly Uint8Array[], method: string): Promise<Received> {
  const socket = new BunSocket();
  let isReusable = false, isDone = false;
  const exchange = new ClientExchange(socket, {
    method,
    signal: new AbortController().signal,
    longLived: false,
    onDone: (reusable) => {
      promise(!isDone, "An exchange ends twice");
      isDone = true;
      isReusable = reusable;
    },
  });
  exchange.start();
  const result = exchange.response.then(bodyOf).catch(messageOf);
  for (const piece of pieces) exchange.receive(Uint8Array.from(piece));
  exchange.connectionEnded(new Error("closed"));
  const text = await result;
  promise(isDone, "An exchange does not end");
  return { result: text, isReusable };
}

async function bodyOf(response: Response): Promise<string> {
  let text = `${response.status} `;
  const decoder = new TextDecoder("latin1");
  const reader = response.body?.getReader();
  try {
    for (let read = await reader?.read(); read?.done === false; read = await reader?.read()) {
      text += decoder.decode(read.value);
      releaseBytes(read.value);
    }
  } catch (error) {
    // In one piece, the same error comes before the response.
    return messageOf(error);
  }
  return text;
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) throw error;
  const isExpected = error.message === "closed" || error.message.startsWith("Cannot read response:");
  if (!isExpected) throw error;
  return error.message;
}

const status = fc.constantFrom(
  "200 OK",
  "204 No Content",
  "304 x",
  "205 Reset",
  "100 Continue",
  "101 Switch",
  "404",
  "599 x",
  "200",
);
const field = fc.constantFrom(
  ...["Content-Length: 3", "Transfer-Encoding: chunked", "Content-Length: 0", "Connection: close", "A: b", "A: \xff"],
  ...["Transfer-Encoding: gzip, chunked", "Content-Length: 99999999999999", "Content-Type: application/json"],
);
const body = fc.constantFrom(
  "",
  "abc",
  "abcd",
  "3\r\nabc\r\n0\r\n\r\n",
  "0\r\n\r\n",
  "ffffffffffffffff\r\n",
  "3 \r\nabc\r\n0\r\nT: v\r\n\r\nX",
);

/** The target. */
export const target: FuzzTarget = {
  seeds: [
    "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
    "HTTP/1.0 200 OK\r\n\r\nabc",
    "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n",
    "HTTP/1.1 205 Reset Content\r\nContent-Length: 3\r\n\r\nabc",
  ],
  arbitrary: fc.tuple(status, fc.array(field, { maxLength: 3 }), body, fc.boolean()).map((
    [status, fields, body, early],
  ) =>
    `${early ? "HTTP/1.1 100 Continue\r\n\r\n" : ""}HTTP/1.1 ${status}\r\n${
      fields.map((one) => `${one}\r\n`).join("")
    }\r\n${body}`
  ),
  words: [
    ...[
      "\r\n",
      "\r\n\r\n",
      "\n",
      ": ",
      "HTTP/1.1 200 OK\r\n",
      "HTTP/1.0 ",
      "Content-Length: ",
      "Transfer-Encoding: chunked\r\n",
    ],
    ...["0\r\n\r\n", "Connection: close\r\n", "chunked", "205", "101", "7fffffff"],
  ],
  async check(input) {
    const method = input.length % 7 === 0 ? "HEAD" : "GET";
    const whole = await exchange([input], method);
    const pieces = Array.from(input, (byte) => Uint8Array.of(byte));
    const split = await exchange(pieces, method);
    promise(split.result === whole.result, "The pieces of the bytes change the response");
    promise(
      !whole.isReusable || split.isReusable,
      "The pieces of the bytes change whether the connection is used again",
    );
  },
};
