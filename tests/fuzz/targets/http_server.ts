/**
 * Bytes of a client to a connection of the server in src/runtime/http.
 *
 * Promises: the connection always ends, without an internal error; the client gets one complete response for each request
 * that reached the handler, and at most one more, the last, with an error; the handler sees only requests that a second
 * parser sees at the same places (security 14); the bytes may arrive in any pieces.
 */
import fc from "fast-check";
import { Buffer } from "node:buffer";
import type { Socket } from "node:net";
import { defaultServeLimits } from "../../../src/runtime/http/serve_options.ts";
import { ServerConnection } from "../../../src/runtime/http/server_connection.ts";
import { SharedBudget } from "../../../src/runtime/http/shared_budget.ts";
import { VirtualClock } from "../../../src/async/mod.ts";
import { MemorySocket } from "../memory_socket.ts";
import { type FuzzTarget, promise } from "../target.ts";

interface Served {
  /** `METHOD target bodyLength` of each request. */
  readonly requests: readonly string[];
  readonly output: string;
}

const limits = { ...defaultServeLimits, maxBodyBytes: 2048, maxBufferedBytes: 4096, maxHeaderBytes: 2048 };

async function serve(pieces: readonly Uint8Array[]): Promise<Served> {
  const clock = new VirtualClock();
  const socket = new MemorySocket(pieces);
  const requests: string[] = [];
  const errors: unknown[] = [];
  const slots = new SharedBudget(10);
  const slot = slots.claim("client", () => {});
  slot.take(1);
  const connection = new ServerConnection(socket as unknown as Socket, {
    info: { remoteAddress: "client", isTls: false },
    slot,
  }, {
    handler: async (request) => {
      const { pathname, search } = new URL(request.url);
      const body = new Uint8Array(await request.arrayBuffer());
      requests.push(`${request.method} ${pathname}${search} ${body.length}`);
      return new Response("ok", { headers: { "content-length": "2" } });
    },
    readsBody: (request) => !request.url.endsWith("/unread"),
    limits,
    timers: clock,
    onError: (error) => errors.push(error),
    isDraining: false,
    switched: new Set(),
    slots,
    bodies: new SharedBudget(limits.maxBufferedBytes),
  });
  let hasEnded = false;
  const ending = connection.run().finally(() => hasEnded = true);
  // The limits of a silent client are at most 90 s.
  for (let seconds = 0; !hasEnded && seconds < 400; seconds += 1) await clock.advance(1000);
  promise(hasEnded, "The connection does not end");
  await ending;
  if (errors.length > 0) throw errors[0];
  return { requests, output: Buffer.concat(socket.written).toString("latin1") };
}

/** The statuses of the responses. @throws Finding when they are not complete responses, one after the other */
function statusesIn({ output, requests }: Served): readonly number[] {
  const statuses: number[] = [];
  for (let rest = output; rest !== "";) {
    const end = rest.indexOf("\r\n\r\n");
    promise(end > 0, "A response has no end of its head");
    const [first = "", ...fields] = rest.slice(0, end).split("\r\n");
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1] ?? NaN);
    promise(!Number.isNaN(status), "A response has no status line");
    const length = fields.map((field) => /^content-length: (\d+)$/.exec(field)?.[1]).find((found) =>
      found !== undefined
    );
    promise(length !== undefined || status === 100, "A response has no length");
    const isHead = requests[statuses.length]?.startsWith("HEAD ") ?? false;
    rest = rest.slice(end + 4 + (isHead ? 0 : Number(length ?? 0)));
    if (status !== 100) statuses.push(status);
  }
  return statuses;
}

/** What a second, simple parser sees: the requests from the start to the first that it does not understand. */
function requestsIn(input: string): readonly string[] {
  const requests: string[] = [];
  for (let at = 0;;) {
    const end = input.indexOf("\r\n\r\n", at);
    if (end < 0) return requests;
    const [line = "", ...fields] = input.slice(at, end).split("\r\n");
    const [method = "", target = ""] = line.split(" ");
    const valueOf = (name: string) =>
      fields.filter((field) => field.toLowerCase().startsWith(`${name}:`)).map((field) =>
        field.slice(name.length + 1).trim()
      );
    const [lengths, codings] = [valueOf("content-length"), valueOf("transfer-encoding")];
    if (lengths.length + codings.length > 1 || !/^\d*$/.test(lengths[0] ?? "")) return requests;
    const body = codings.length > 0 ? chunkedBody(input, end + 4) : { length: Number(lengths[0] ?? 0), end: 0 };
    if (body === undefined) return requests;
    at = codings.length > 0 ? body.end : end + 4 + body.length;
    if (!(at <= input.length)) return requests;
    requests.push(`${method} ${target} ${body.length}`);
  }
}

function chunkedBody(input: string, start: number): { readonly length: number; readonly end: number } | undefined {
  let length = 0;
  for (let at = start;;) {
    const size = /^([0-9a-f]+)(?:;[^\r\n]*)?\r\n/i.exec(input.slice(at, at + 600));
    if (size === null) return undefined;
    at += size[0].length;
    const bytes = parseInt(size[1] ?? "", 16);
    if (bytes === 0) {
      const trailers = /^(?:[^\r\n]+\r\n)*\r\n/.exec(input.slice(at));
      return trailers === null ? undefined : { length, end: at + trailers[0].length };
    }
    if (input.slice(at + bytes, at + bytes + 2) !== "\r\n") return undefined;
    length += bytes;
    at += bytes + 2;
  }
}

/** The input in pieces whose sizes depend on its bytes. */
function inPieces(input: Uint8Array): readonly Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < input.length;) {
    const size = 1 + (input[at] ?? 0) % 13;
    pieces.push(input.subarray(at, at + size));
    at += size;
  }
  return pieces;
}

const method = fc.constantFrom("GET", "POST", "HEAD", "PUT", "OPTIONS", "get", "TRACE");
const path = fc.constantFrom("/", "/a?b=c", "/unread", "*", "//x", "/%00", "http://a/b", "/a#b", "/a\\b", "/../x");
const field = fc.constantFrom(
  ...[
    "Connection: close",
    "Expect: 100-continue",
    "A: b",
    "Connection: keep-alive",
    "X: \t y ",
    "Host: b",
    "Authorization: Bearer x",
  ],
  ...[
    "Content-Length: 3",
    "Transfer-Encoding: chunked",
    "Content-Length: 0",
    "Transfer-Encoding: identity",
    "Content-Length: 3, 3",
  ],
);
const body = fc.constantFrom(
  ...[
    "",
    "abc",
    "3\r\nabc\r\n0\r\n\r\n",
    "0\r\n\r\n",
    "3;x=y\r\nabc\r\n0\r\nT: v\r\n\r\n",
    "FFFFFFFF\r\n",
    "3\nabc\n0\n\n",
  ],
);
const request = fc.tuple(method, path, fc.array(field, { maxLength: 3 }), body).map(([method, path, fields, body]) =>
  `${method} ${path} HTTP/1.1\r\n${["Host: a", ...fields].map((one) => `${one}\r\n`).join("")}\r\n${body}`
);

/** The target. */
export const target: FuzzTarget = {
  seeds: [
    "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
    "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabcGET /y HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
    "POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3;e=1\r\nabc\r\n0\r\nT: v\r\n\r\n",
    "POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /z HTTP/1.1\r\nHost: a\r\n\r\n",
  ],
  arbitrary: fc.array(request, { minLength: 1, maxLength: 3 }).map((requests) => requests.join("")),
  words: [
    ...[
      "\r\n",
      "\r\n\r\n",
      "\n",
      "\r",
      ": ",
      "HTTP/1.1",
      "HTTP/1.0",
      "Content-Length: ",
      "Transfer-Encoding: chunked\r\n",
    ],
    ...["0\r\n\r\n", "Host: a\r\n", "Expect: 100-continue\r\n", "chunked", "close", "ffffffff", "+3", "0x3", "GET / "],
  ],
  async check(input) {
    const whole = await serve([input]);
    const statuses = statusesIn(whole);
    const answered = statuses.length - whole.requests.length;
    promise(answered === 0 || answered === 1, "A request has no response, or several");
    promise(answered === 0 || (statuses.at(-1) ?? 0) >= 400, "A response without a request is no error");
    const text = Buffer.from(input).toString("latin1");
    const expected = requestsIn(text);
    for (const [index, request] of whole.requests.entries()) {
      const other = expected[index] ?? "";
      const isUnread = /\/unread$/.test(request.split(" ")[1] ?? "");
      const [method, , length] = request.split(" ");
      const [otherMethod, , otherLength] = other.split(" ");
      promise(isUnread || (method === otherMethod?.toUpperCase() && length === otherLength), "A request is smuggled");
    }
    const pieces = await serve(inPieces(input));
    promise(pieces.requests.join("\n") === whole.requests.join("\n"), "The pieces of the bytes change the requests");
    promise(statusesIn(pieces).join() === statuses.join(), "The pieces of the bytes change the responses");
  },
};
