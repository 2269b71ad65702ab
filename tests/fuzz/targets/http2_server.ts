/**
 * Bytes of a client to a connection of the server in src/runtime/http that has agreed to HTTP/2.
 *
 * Promises: the connection always ends, without an internal error; what the server writes is whole frames that a client of
 * the protocol accepts: a response has one head with a status, nothing follows the end of its stream, and no window is
 * exceeded; each request that reached the handler has a stream of its own, and the bytes may arrive in any pieces.
 */
import fc from "fast-check";
import { Buffer } from "node:buffer";
import type { Socket } from "node:net";
import { VirtualClock } from "../../../src/async/mod.ts";
import {
  clientPreface,
  dataOf,
  encodedFields,
  type Field,
  frameBytes,
  frameFlags,
  frameIn,
  frameTypes,
  hasFlag,
  headerBlockOf,
  HpackDecoder,
  settingIds,
  settingsFrame,
  windowUpdateFrame,
} from "../../../src/runtime/http/h2/mod.ts";
import { Http2Connection } from "../../../src/runtime/http/http2_connection.ts";
import { defaultServeLimits } from "../../../src/runtime/http/serve_options.ts";
import { SharedBudget } from "../../../src/runtime/http/shared_budget.ts";
import { MemorySocket } from "../memory_socket.ts";
import { type FuzzTarget, promise } from "../target.ts";

interface Served {
  /** `METHOD bodyLength` of each request. */
  readonly requests: readonly string[];
  readonly output: Uint8Array;
}

const limits = {
  ...defaultServeLimits,
  maxBodyBytes: 2048,
  maxBufferedBytes: 4096,
  maxHeaderBytes: 2048,
  maxConcurrentStreams: 5,
};

async function serve(pieces: readonly Uint8Array[]): Promise<Served> {
  const clock = new VirtualClock();
  const socket = new MemorySocket(pieces, { givesTurns: true });
  const requests: string[] = [];
  const errors: unknown[] = [];
  const slots = new SharedBudget(10);
  const slot = slots.claim("client", () => {});
  slot.take(1);
  const bodies = new SharedBudget(limits.maxBufferedBytes);
  const connection = new Http2Connection(socket as unknown as Socket, {
    info: { remoteAddress: "client", isTls: true },
    slot,
  }, {
    handler: async (request) => {
      const { pathname } = new URL(request.url);
      const body = new Uint8Array(await request.arrayBuffer());
      requests.push(`${request.method} ${body.length}`);
      if (pathname === "/stream") return new Response(new Blob([body, "streamed"]).stream());
      return new Response("ok", { headers: { "content-length": "2" } });
    },
    readsBody: (request) => !request.url.endsWith("/unread"),
    limits,
    timers: clock,
    onError: (error) => errors.push(error),
    isDraining: false,
    switched: new Set(),
    slots,
    bodies,
  });
  let hasEnded = false;
  const ending = connection.run().finally(() => hasEnded = true);
  // The limits of a silent client are at most 90 s.
  for (let seconds = 0; !hasEnded && seconds < 400; seconds += 1) await clock.advance(1000);
  promise(hasEnded, "The connection does not end");
  await ending;
  for (let turn = 0; turn < 100 && bodies.held > 0; turn++) await clock.advance(1);
  promise(bodies.held === 0, "The memory of bodies is not given back");
  if (errors.length > 0) throw errors[0];
  return { requests, output: new Uint8Array(Buffer.concat(socket.written)) };
}

/** The responses, as a client reads them. @throws Finding when a client would not accept them */
function responsesIn(output: Uint8Array): ReadonlyMap<number, readonly string[]> {
  const decoder = new HpackDecoder();
  const responses = new Map<number, string[]>();
  const ended = new Set<number>();
  let rest = output, isFirst = true;
  for (let frame = frameIn(rest); frame !== undefined; frame = frameIn(rest)) {
    const { type, streamId, flags, payload } = frame;
    promise(!isFirst || type === frameTypes.settings, "The first frame is not SETTINGS");
    isFirst = false;
    if (type === frameTypes.headers || type === frameTypes.data) {
      promise(!ended.has(streamId), "A frame follows the end of its stream");
      if ((flags & frameFlags.endStream) !== 0) ended.add(streamId);
    }
    if (type === frameTypes.headers) {
      const fields = new Map<string, string>();
      decoder.decode(payload, ([name, value]) => void fields.set(name, value));
      const status = fields.get(":status") ?? "";
      promise(/^[1-5]\d\d$/.test(status), "A response has no status");
      const all = responses.get(streamId) ?? [];
      promise(all.every((one) => one === "100"), "A stream has two responses");
      responses.set(streamId, [...all, status]);
    } else if (type === frameTypes.data) {
      promise(responses.get(streamId)?.some((status) => status !== "100") === true, "Content comes before its head");
    } else if (type === frameTypes.rstStream) ended.add(streamId);
    rest = rest.subarray(frame.sizeBytes);
  }
  promise(rest.length === 0, "The last frame is not complete");
  return responses;
}

/** What a second, simple reader sees: the requests from the start to the first byte that it does not understand. */
function requestsIn(input: Uint8Array): readonly string[] {
  const requests: string[] = [];
  const open = new Map<number, { readonly method: string; length: number }>();
  const decoder = new HpackDecoder();
  let rest = input.subarray(clientPreface.length), block: Uint8Array = new Uint8Array(0), ends = false;
  try {
    for (let frame = frameIn(rest); frame !== undefined; frame = frameIn(rest)) {
      rest = rest.subarray(frame.sizeBytes);
      const { type, streamId } = frame;
      if (type === frameTypes.data) {
        const request = open.get(streamId);
        if (request !== undefined) request.length += dataOf(frame).length;
      } else if (type === frameTypes.headers || type === frameTypes.continuation) {
        block = Buffer.concat([block, type === frameTypes.headers ? headerBlockOf(frame) : frame.payload]);
        ends = type === frameTypes.headers ? hasFlag(frame, frameFlags.endStream) : ends;
        if (!hasFlag(frame, frameFlags.endHeaders)) continue;
        let method = "";
        decoder.decode(block, ([name, value]) => method = name === ":method" && method === "" ? value : method);
        block = new Uint8Array(0);
        // The handler of clients that are rejected gets no body.
        if (!open.has(streamId)) requests.push(`${method} 0`);
        open.set(streamId, open.get(streamId) ?? { method, length: 0 });
      } else continue;
      const request = open.get(streamId);
      const isEnd = type === frameTypes.data ? hasFlag(frame, frameFlags.endStream) : ends;
      if (request !== undefined && isEnd && request.length > 0) requests.push(`${request.method} ${request.length}`);
    }
  } catch {
    return requests;
  }
  return requests;
}

/** The input in pieces whose sizes depend on its bytes. */
function inPieces(input: Uint8Array): readonly Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < input.length;) {
    const size = 1 + (input[at] ?? 0) % 61;
    pieces.push(input.subarray(at, at + size));
    at += size;
  }
  return pieces;
}

function headers(streamId: number, fields: readonly Field[], flags: number): Uint8Array {
  const payload = encodedFields(fields, { tellsTableSize: streamId % 3 === 0 });
  return frameBytes({ type: frameTypes.headers, flags, streamId, payload });
}

const streamIds = fc.constantFrom(1, 1, 3, 3, 5, 7, 9, 11, 13, 0, 2);
const end = frameFlags.endStream, endHeaders = frameFlags.endHeaders;
const flags = fc.constantFrom(end | endHeaders, end | endHeaders, endHeaders, endHeaders, end, 0, 255);
const fields: fc.Arbitrary<readonly Field[]> = fc.tuple(
  fc.constantFrom("GET", "POST", "HEAD", "PUT", "CONNECT", "get", ""),
  fc.constantFrom("/", "/stream", "/unread", "*", "//x", "/%00", "http://a/b", ""),
  fc.array(
    fc.constantFrom<Field>(
      ["content-length", "3"],
      ["content-length", "0"],
      ["expect", "100-continue"],
      ["host", "a"],
      ["te", "trailers"],
      ["connection", "close"],
      ["cookie", "a=b"],
      [":path", "/late"],
      ["X", "upper"],
      ["x", "y".repeat(900)],
    ),
    { maxLength: 4 },
  ),
).map(([method, path, more]) => [
  [":method", method],
  [":scheme", "https"],
  [":path", path],
  [":authority", "a"],
  ...more,
]);
const payload = fc.uint8Array({ maxLength: 40 });
const frame: fc.Arbitrary<Uint8Array> = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(streamIds, fields, flags).map(([id, all, bits]) => headers(id, all, bits)) },
  {
    weight: 6,
    arbitrary: fc.tuple(streamIds, payload, fc.constantFrom(0, 0, 1, 1, 8, 9)).map(([streamId, bytes, bits]) =>
      frameBytes({ type: frameTypes.data, flags: bits, streamId, payload: bytes })
    ),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(fc.integer({ min: 0, max: 11 }), streamIds, payload, fc.constantFrom(0, 1, 4, 255)).map((
      [type, streamId, bytes, bits],
    ) => frameBytes({ type, flags: bits, streamId, payload: bytes })),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(streamIds, fc.constantFrom(0, 1, 100, 2 ** 31 - 1)).map(([id, bytes]) =>
      windowUpdateFrame(id, bytes)
    ),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(fc.constantFrom(1, 3, 4, 5, 6), fc.constantFrom(0, 1, 3, 65_535, 2 ** 31)).map(([id, value]) =>
      settingsFrame([[id, value]])
    ),
  },
);

const start = Buffer.concat([clientPreface, settingsFrame([])]);
const get: readonly Field[] = [[":method", "GET"], [":scheme", "https"], [":path", "/"], [":authority", "a"]];
const post: readonly Field[] = [[":method", "POST"], [":scheme", "https"], [":path", "/stream"], [":authority", "a"]];
const bytesOf = (frames: readonly Uint8Array[]) => new Uint8Array(Buffer.concat(frames));

/** The target. */
export const target: FuzzTarget = {
  seeds: [
    bytesOf([start, headers(1, get, end | endHeaders)]),
    bytesOf([
      start,
      headers(1, post, endHeaders),
      frameBytes({ type: frameTypes.data, flags: end, streamId: 1, payload: Buffer.from("abc") }),
      headers(5, get, end | endHeaders),
    ]),
    bytesOf([
      clientPreface,
      settingsFrame([[settingIds.initialWindowSize, 3]]),
      headers(1, post, end | endHeaders),
      windowUpdateFrame(1, 100),
      frameBytes({ type: frameTypes.ping, payload: new Uint8Array(8) }),
    ]),
  ],
  arbitrary: fc.array(frame, { minLength: 1, maxLength: 8 }).map((frames) => bytesOf([start, ...frames])),
  words: [
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    bytesOf([headers(1, get, end | endHeaders)]),
    bytesOf([headers(3, post, endHeaders)]),
    bytesOf([frameBytes({ type: frameTypes.data, flags: end, streamId: 3, payload: Buffer.from("x") })]),
    bytesOf([frameBytes({ type: frameTypes.continuation, flags: endHeaders, streamId: 1 })]),
    bytesOf([frameBytes({ type: frameTypes.rstStream, streamId: 1, payload: new Uint8Array(4) })]),
    "\x00\x00\x00",
    Uint8Array.of(0x3f, 0xe1, 0x1f),
    Uint8Array.of(0x82, 0x87, 0x84),
    Uint8Array.of(255, 255, 255, 255, 15),
  ],
  async check(input) {
    const expected = requestsIn(input);
    for (const pieces of [[input], inPieces(input)]) {
      const { requests, output } = await serve(pieces);
      const left = [...expected];
      for (const request of requests) {
        const at = left.indexOf(request);
        promise(at >= 0, "A request is none that the client has sent");
        left.splice(at, 1);
      }
      const responses = responsesIn(output);
      for (const id of responses.keys()) promise(id % 2 === 1, "A response is on a stream that no client opens");
    }
  },
};
