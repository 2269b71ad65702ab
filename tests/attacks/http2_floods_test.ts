/**
 * Attacks on the server's HTTP/2: floods of frames that cost the client nothing, heads without an end, compressed heads that
 * are large when decoded, requests that are reset at once, windows that never open, and frames that break the protocol.
 *
 * The rules: a flood ends with a GOAWAY after a bounded number of bytes; what is malformed reaches no handler; whatever one
 * client does, a good client that comes last gets its response; nothing is an error of the server.
 */
import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import { seededRandom, VirtualClock } from "../../src/async/mod.ts";
import {
  clientPreface,
  encodedFields,
  errorCodes,
  type Field,
  frameBytes,
  frameFlags,
  frameTypes,
  settingIds,
  settingsFrame,
  windowUpdateFrame,
} from "../../src/runtime/http/h2/mod.ts";
import { Http2Connection } from "../../src/runtime/http/http2_connection.ts";
import { defaultServeLimits } from "../../src/runtime/http/serve_options.ts";
import { SharedBudget } from "../../src/runtime/http/shared_budget.ts";
import { nextTurn, serve, type ServeHandler, type ServeLimits } from "../../src/runtime/mod.ts";
import {
  concatenated,
  dataFrame,
  fieldsFrame,
  type Http2Peer,
  http2Peer,
  requestFrame,
} from "../../src/runtime/testing/http2_peer.ts";
import { issueCertificates } from "../../src/webhook/mod.ts";
import { assert, assertEquals, test } from "../testing.ts";
import { until } from "../until.ts";

const mebibyte = 1024 * 1024;
const { cert, key } = await issueCertificates({ hosts: ["localhost"], now: 0, lifetimeMs: 1e12 });

const echo: ServeHandler = async (request) => new Response(`got ${(await request.text()).length}`);

async function serving(limits: Partial<ServeLimits> = {}, handler: ServeHandler = echo) {
  const errors: unknown[] = [];
  const requests: string[] = [];
  const clock = new VirtualClock();
  const server = await serve({
    limits,
    clock,
    tls: { cert, key, offersHttp2: true },
    handler: (request, connection) => {
      requests.push(`${request.method} ${request.url}`);
      return handler(request, connection);
    },
    onError: (error) => errors.push(error),
  });
  return { server, errors, requests, clock, [Symbol.asyncDispose]: () => server.close() };
}

type Served = Awaited<ReturnType<typeof serving>>;

/** A good client gets its response. */
async function assertServes({ server }: Served): Promise<void> {
  using peer = await http2Peer(server.port);
  peer.send(requestFrame(1, { method: "POST", path: "/good", isLast: false }), dataFrame(1, "good"));
  await until(() => peer.textOf(1) === "got 4", "the response of a good client");
}

/** Waits until the server has closed; the time in which a refused client may still read passes. */
async function closing(peer: Http2Peer, { clock }: Served): Promise<void> {
  await until(() => peer.goaway !== undefined, "the GOAWAY");
  await clock.advance(1_000);
  await until(() => peer.isClosed, "closing");
}

function frame(type: keyof typeof frameTypes, streamId: number, payload: Uint8Array, flags = 0): Uint8Array {
  return frameBytes({ type: frameTypes[type], flags, streamId, payload });
}

const openStream = () => requestFrame(1, { method: "POST", isLast: false });
const openHead = () => frame("headers", 1, Uint8Array.of(0x82));
const nothing = new Uint8Array(0);
const many = (one: Uint8Array) => concatenated(Array.from({ length: 500 }, () => one));

/** What a client sends first, and what it then repeats. */
const floods: Readonly<Record<string, readonly [start: Uint8Array, flood: () => Uint8Array]>> = {
  "PING frames": [nothing, () => many(frame("ping", 0, new Uint8Array(8)))],
  "answers to no PING": [nothing, () => many(frame("ping", 0, new Uint8Array(8), frameFlags.ack))],
  "SETTINGS frames": [nothing, () => many(settingsFrame([[settingIds.maxConcurrentStreams, 1]]))],
  "SETTINGS frames with many settings": [
    nothing,
    () => settingsFrame(Array.from({ length: 2_000 }, (_, index) => [settingIds.initialWindowSize, index])),
  ],
  "PRIORITY frames": [nothing, () => many(frame("priority", 1, new Uint8Array(5)))],
  "frames of unknown types": [nothing, () => many(frameBytes({ type: 99, payload: new Uint8Array(1) }))],
  "empty CONTINUATION frames": [openHead(), () => many(frame("continuation", 1, nothing))],
  "CONTINUATION frames": [openHead(), () => frame("continuation", 1, new Uint8Array(16_000).fill(0x82))],
  "empty DATA frames": [openStream(), () => many(frame("data", 1, nothing))],
  "DATA frames of one byte": [openStream(), () => many(frame("data", 1, Uint8Array.of(1)))],
  "padding": [
    openStream(),
    () => many(frame("data", 1, Uint8Array.of(255, ...new Uint8Array(255)), frameFlags.padded)),
  ],
  "window updates": [openStream(), () => many(windowUpdateFrame(1, 1))],
  "window updates of the connection": [nothing, () => many(windowUpdateFrame(0, 1))],
};

for (const [name, [start, flood]] of Object.entries(floods)) {
  test(`[security 13] a flood of ${name} ends the connection`, async () => {
    await using served = await serving();
    using peer = await http2Peer(served.server.port);
    if (start.length > 0) peer.send(start);
    // Most of it is in the buffers of the system.
    const sentBytes = await Promise.race([peer.flood(flood, 256 * mebibyte), closing(peer, served)]);
    assert(sentBytes === undefined || sentBytes < 128 * mebibyte, `${sentBytes} bytes`);
    await assertServes(served);
    assertEquals(served.requests.filter((request) => !request.includes("/good")), []);
    assertEquals(served.errors, []);
  });
}

test("[security 13] a client that reads none of the answers to its frames is cut off", async () => {
  for (const answered of [frame("ping", 0, new Uint8Array(8)), settingsFrame([])]) {
    await using served = await serving();
    using peer = await http2Peer(served.server.port);
    peer.setReading(false);
    let isOver = false;
    const flooding = peer.flood(() => many(answered), 256 * mebibyte).finally(() => isOver = true);
    await until(
      () => isOver || served.server.connections === 0 || served.clock.advance(1_000) === undefined,
      "the end",
    );
    peer[Symbol.dispose]();
    await flooding;
    await assertServes(served);
  }
});

/** A connection in memory whose client reads nothing. */
class UnreadSocket extends Duplex {
  writtenBytes = 0;

  override _read(): void {}

  override _write(chunk: Uint8Array): void {
    this.writtenBytes += chunk.length;
  }
}

test("[security 13] a client that reads no responses is cut off after a bounded number of requests, also without bodies", async () => {
  const socket = new UnreadSocket();
  const clock = new VirtualClock();
  const slots = new SharedBudget(1_000);
  let requests = 0;
  const connection = new Http2Connection(socket as unknown as Socket, {
    info: { remoteAddress: "client", isTls: true },
    slot: slots.claim("client", () => {}),
  }, {
    handler: () => {
      requests++;
      return new Response(null, { headers: { large: "h".repeat(8_000) } });
    },
    readsBody: undefined,
    limits: defaultServeLimits,
    timers: clock,
    onError: (error) => {
      throw error;
    },
    isDraining: false,
    switched: new Set(),
    slots,
    bodies: new SharedBudget(mebibyte),
  });
  let hasEnded = false;
  const ending = connection.run().finally(() => hasEnded = true);
  socket.push(concatenated([clientPreface, settingsFrame([])]));
  for (let streamId = 1; streamId < 10_000; streamId += 2) {
    socket.push(requestFrame(streamId, { method: "HEAD" }));
    // Fewer than its streams at a time.
    if (streamId % 50 === 1) await clock.advance(0);
  }
  // Those that were written before it was blocked, those that wait, and what its streams allow while they end.
  assert(requests <= 300, `${requests} requests`);
  assert(socket.writableLength < mebibyte, `${socket.writableLength} bytes wait`);
  await until(() => hasEnded || clock.advance(1_000) === undefined, "the end");
  await ending;
});

test("[security 13] requests that are reset at once end the connection, and run no more handlers than streams", async () => {
  let running = 0, most = 0;
  await using served = await serving({}, async (request) => {
    if (request.url.endsWith("/good")) return await echo(request, { remoteAddress: "", isTls: true });
    most = Math.max(most, ++running);
    // Work that does not notice the abort.
    for (let turn = 0; turn < 20; turn++) await nextTurn();
    running--;
    return new Response("late");
  });
  using peer = await http2Peer(served.server.port);
  let streamId = -1;
  const flooding = peer.flood(() => {
    streamId += 2;
    return concatenated([requestFrame(streamId), frame("rstStream", streamId, Uint8Array.of(0, 0, 0, 8))]);
  }, 64 * mebibyte);
  await closing(peer, served);
  await flooding;
  assertEquals(peer.goaway?.code, errorCodes.enhanceYourCalm);
  assert(served.requests.length <= 1_001, `${served.requests.length} requests`);
  assert(most <= 200, `${most} at the same time`);
  await assertServes(served);
  assertEquals(served.errors, []);
});

test("[security 13] a client has as many requests in flight as announced, and all clients as many as connections", async () => {
  await using served = await serving(
    { maxConcurrentStreams: 10, maxConnections: 30 },
    (request) => request.url.endsWith("/good") ? new Response("got 4") : new Promise<Response>(() => {}),
  );
  using peers = new DisposableStack();
  for (let count = 0; count < 3; count++) {
    const peer = peers.use(await http2Peer(served.server.port));
    const ids = Array.from({ length: 12 }, (_, index) => 2 * index + 1);
    peer.send(...ids.map((id) => requestFrame(id)));
    await until(() => peer.resetOf(23) !== undefined, "the refusal");
    const refused = ids.filter((id) => peer.resetOf(id) === errorCodes.refusedStream);
    // Three connections and 27 requests are 30.
    assertEquals(refused.length, count < 2 ? 2 : 5);
  }
  assertEquals(served.requests.length, 27);
});

test("[security 13] a head that is large only when decoded gets 431, and keeps nothing", async () => {
  await using served = await serving();
  using peer = await http2Peer(served.server.port);
  const entry = frame(
    "headers",
    1,
    Uint8Array.from([
      ...encodedFields([[":method", "GET"], [":scheme", "https"], [":path", "/"]], { tellsTableSize: false }),
      ...[0x40, 1, 0x78, 127, 0x81, 30, ...new Uint8Array(3_968).fill(97)],
    ]),
    frameFlags.endHeaders | frameFlags.endStream,
  );
  // Each byte is the entry of 3968 bytes: 64 MB.
  const bomb = (id: number) =>
    frame("headers", id, new Uint8Array(16_000).fill(0xbe), frameFlags.endHeaders | frameFlags.endStream);
  peer.send(entry);
  await until(() => peer.hasEnded(1), "the first response");
  for (let id = 3; id < 103; id += 2) peer.send(bomb(id));
  await until(() => peer.hasEnded(101), "the last response");
  assertEquals(peer.statusOf(101), "431");
  assertEquals(served.requests, ["GET https://localhost/"].slice(0, served.requests.length));
  await assertServes(served);
});

test("[security 13] requests above a limit get the status that they get in HTTP/1.1", async () => {
  await using served = await serving();
  const fields = (count: number): Field[] => Array.from({ length: count }, (_, index) => [`x-${index}`, "a"]);
  const cases: readonly (readonly [string, Uint8Array, Uint8Array?])[] = [
    ["431", requestFrame(1, { fields: fields(101) })],
    ["431", requestFrame(1, { fields: [["x", "a".repeat(16_000)], ["y", "a".repeat(400)]] })],
    ["414", requestFrame(1, { path: `/${"a".repeat(8 * 1024)}` })],
    ["413", requestFrame(1, { method: "POST", fields: [["content-length", String(7 * mebibyte + 1)]], isLast: false })],
    ["400", requestFrame(1, { isLast: false }), dataFrame(1, "a body on GET")],
    ["501", requestFrame(1, { method: "PROPFIND" })],
    ["405", requestFrame(1, { method: "TRACE" })],
    ["405", fieldsFrame(1, [[":method", "CONNECT"], [":authority", "a"]])],
    ["417", requestFrame(1, { method: "POST", fields: [["expect", "miracles"]], isLast: false })],
    ["400", requestFrame(1, { path: "*" })],
    ["400", requestFrame(1, { path: "http://b/" })],
    ["400", requestFrame(1, { path: "/a b" })],
    ["400", requestFrame(1, { path: "/a#b" })],
    ["400", requestFrame(1, { path: "/\\b" })],
    ["400", requestFrame(1, { authority: "a@b" })],
    ["400", requestFrame(1, { authority: "" })],
    ["400", requestFrame(1, { fields: [["x", "\xff"]] })],
  ];
  for (const [status, ...frames] of cases) {
    using peer = await http2Peer(served.server.port);
    peer.send(...frames.filter((one) => one !== undefined));
    await until(() => peer.hasEnded(1), `a response with ${status}`);
    assertEquals(peer.statusOf(1), status);
  }
  assertEquals(served.requests, []);
  assertEquals(served.errors, []);
});

test("[security 14] a malformed request is reset and reaches no handler, and the connection stays", async () => {
  await using served = await serving();
  const start: readonly Field[] = [[":method", "GET"], [":scheme", "https"]];
  const full: readonly Field[] = [...start, [":path", "/"], [":authority", "a"]];
  const malformed: readonly (readonly Field[])[] = [
    start,
    [[":method", "GET"], [":path", "/"]],
    [[":scheme", "https"], [":path", "/"]],
    [...full, [":path", "/b"]],
    [...full, ["a", "b"], [":authority", "b"]],
    [...full, [":status", "200"]],
    [...full, ["X", "a"]],
    [...full, ["a b", "c"]],
    [...full, ["", "c"]],
    [...full, ["x", "a\r\nb: c"]],
    [...full, ["x", "a\0"]],
    [...full, ["x", " a"]],
    [...full, ["connection", "close"]],
    [...full, ["transfer-encoding", "chunked"]],
    [...full, ["upgrade", "websocket"]],
    [...full, ["te", "gzip"]],
    [...full, ["host", "b"]],
    [...start, [":path", "/"], ["host", "a"], ["host", "a"]],
    [...full, ["content-length", "1"]],
    [...full, ["content-length", "0"], ["content-length", "0"]],
    [...full, ["content-length", "-1"]],
  ];
  using peer = await http2Peer(served.server.port);
  for (const [index, fields] of malformed.entries()) {
    peer.send(fieldsFrame(2 * index + 1, fields));
    await until(() => peer.resetOf(2 * index + 1) !== undefined, `a reset for ${JSON.stringify(fields)}`);
    assertEquals(peer.resetOf(2 * index + 1), errorCodes.protocolError, JSON.stringify(fields));
  }
  const next = 2 * malformed.length + 1;
  const lengths = [["content-length", "3"]] as const;
  peer.send(requestFrame(next, { method: "POST", fields: lengths, isLast: false }), dataFrame(next, "abcd"));
  peer.send(requestFrame(next + 2, { method: "POST", fields: lengths, isLast: false }), dataFrame(next + 2, "ab"));
  await until(() => peer.resetOf(next) !== undefined && peer.resetOf(next + 2) !== undefined, "resets for the lengths");
  assertEquals(served.requests, []);
  peer.send(requestFrame(next + 4));
  await until(() => peer.hasEnded(next + 4), "a response on the same connection");
  assertEquals(served.errors, []);
});

test("frames that break the protocol end the connection with their code", async () => {
  await using served = await serving();
  const { protocolError, frameSizeError, flowControlError, compressionError, streamClosed } = errorCodes;
  const cases: readonly (readonly [number, ...Uint8Array[]])[] = [
    [protocolError, requestFrame(2)],
    [protocolError, requestFrame(0)],
    [protocolError, dataFrame(1, "idle")],
    [protocolError, dataFrame(0, "x")],
    [protocolError, frame("continuation", 1, nothing)],
    [protocolError, openHead(), frame("ping", 0, new Uint8Array(8))],
    [protocolError, openHead(), frame("continuation", 3, nothing)],
    [protocolError, frame("pushPromise", 1, new Uint8Array(4))],
    [protocolError, frame("rstStream", 1, new Uint8Array(4))],
    [protocolError, frame("windowUpdate", 0, new Uint8Array(4))],
    [protocolError, frame("settings", 1, nothing)],
    [protocolError, frame("ping", 1, new Uint8Array(8))],
    [protocolError, settingsFrame([[settingIds.enablePush, 2]])],
    [protocolError, settingsFrame([[settingIds.maxFrameSize, 16_383]])],
    [protocolError, openStream(), frame("data", 1, Uint8Array.of(9), frameFlags.padded)],
    [flowControlError, settingsFrame([[settingIds.initialWindowSize, 2 ** 31]])],
    [flowControlError, windowUpdateFrame(0, 2 ** 31 - 1)],
    [frameSizeError, frame("settings", 0, new Uint8Array(5))],
    [frameSizeError, frame("settings", 0, new Uint8Array(6), frameFlags.ack)],
    [frameSizeError, frame("ping", 0, new Uint8Array(7))],
    [frameSizeError, frame("priority", 1, new Uint8Array(4))],
    [frameSizeError, frame("windowUpdate", 0, new Uint8Array(3))],
    [frameSizeError, frame("data", 1, new Uint8Array(16_385))],
    [compressionError, frame("headers", 1, Uint8Array.of(0x80), frameFlags.endHeaders)],
    [streamClosed, requestFrame(3), requestFrame(1, { method: "POST", isLast: false })],
  ];
  for (const [code, ...frames] of cases) {
    using peer = await http2Peer(served.server.port);
    peer.send(...frames);
    await closing(peer, served);
    assertEquals(peer.goaway?.code, code, String(frames[0]?.slice(0, 20)));
  }
  for (const start of ["GET / HTTP/1.1\r\nHost: a\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\rx"]) {
    using peer = await http2Peer(served.server.port, { start: new TextEncoder().encode(start) });
    await closing(peer, served);
    assertEquals(peer.goaway?.code, protocolError);
  }
  assertEquals(served.errors, []);
});

test("[security 13] windows that never open, or open by single bytes, cost the stream or the connection", async () => {
  const large = "z".repeat(300_000);
  await using served = await serving(
    {},
    (request) =>
      request.url.endsWith("/good")
        ? new Response("got 4")
        : new Response(large, { headers: { "content-length": "300000" } }),
  );
  const { server, clock } = served;
  using stalled = await http2Peer(server.port, { settings: [[settingIds.initialWindowSize, 0]] });
  stalled.send(requestFrame(1), requestFrame(3));
  await until(() => stalled.fieldsOf(3).length === 1, "the heads");
  stalled.send(windowUpdateFrame(1, 1));
  await until(() => stalled.textOf(1).length === 1, "one byte");
  await clock.advance(9_999);
  stalled.send(windowUpdateFrame(1, 1));
  await until(() => stalled.textOf(1).length === 2, "another byte");
  await clock.advance(1);
  await until(() => stalled.resetOf(1) !== undefined && stalled.resetOf(3) !== undefined, "the resets");
  assertEquals([stalled.resetOf(1), stalled.goaway], [errorCodes.cancel, undefined]);
  using blocked = await http2Peer(server.port, { settings: [[settingIds.initialWindowSize, 2 ** 31 - 1]] });
  blocked.send(requestFrame(1));
  await until(() => blocked.textOf(1).length === 65_535, "the window of the connection");
  await clock.advance(10_000);
  await until(() => blocked.isClosed, "the end of the connection");
  await assertServes(served);
  assertEquals(served.errors, []);
});

test("[security 13] responses that no client grants windows for count as memory, and the oldest ends for others", async () => {
  const maxBufferedBytes = 4 * mebibyte;
  await using served = await serving({ maxBufferedBytes }, (request) => {
    if (request.url.endsWith("/good")) return new Response("got 4");
    return new Response("z".repeat(mebibyte), { headers: { "content-length": String(mebibyte) } });
  });
  using peer = await http2Peer(served.server.port, { settings: [[settingIds.initialWindowSize, 0]] });
  const ids = Array.from({ length: 20 }, (_, index) => 2 * index + 1);
  for (const id of ids) {
    peer.send(requestFrame(id));
    await until(() => peer.fieldsOf(id).length === 1 || peer.resetOf(id) !== undefined, "the head");
  }
  await until(() => ids.filter((id) => peer.resetOf(id) === undefined).length <= 4, "the ends of the others");
  assertEquals(ids.slice(-3).map((id) => peer.resetOf(id)), [undefined, undefined, undefined]);
  await assertServes(served);
});

test("[security 13] unfinished bodies on many streams do not lock out a good request", async () => {
  await using served = await serving({ maxBufferedBytes: 256 * 1024, maxBodyBytes: 128 * 1024 });
  const random = seededRandom(17);
  using peer = await http2Peer(served.server.port);
  const ids = Array.from({ length: 60 }, (_, index) => 2 * index + 1);
  for (const id of ids) {
    const text = "x".repeat(1 + Math.floor(random.next() * 16_000));
    peer.send(requestFrame(id, { method: "POST", isLast: false }), dataFrame(id, text, false));
  }
  await until(() => ids.some((id) => peer.statusOf(id) === "503"), "the first refusals");
  await assertServes(served);
  assertEquals(served.requests.length, 1);
  assertEquals(served.errors, []);
});
