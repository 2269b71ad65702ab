/** Tests of HTTP/2: requests, responses, watches on one connection, backpressure, limits of time, and the end of a server. */
import { execFile, spawnSync } from "node:child_process";
import * as http2 from "node:http2";
import { promisify } from "node:util";
import { assert, assertEquals, test } from "../../../tests/testing.ts";
import { CertificateAuthority } from "../../../tests/controlplane/certificate_authority.ts";
import { until } from "../../../tests/until.ts";
import { VirtualClock } from "../../async/mod.ts";
import { concatenated, dataFrame, http2Peer, requestFrame } from "../testing/http2_peer.ts";
import { errorCodes, frameBytes, frameFlags, frameTypes, settingIds, windowUpdateFrame } from "./h2/mod.ts";
import { serve, type Server } from "./serve.ts";
import type { ConnectionInfo, ServeHandler, ServeLimits } from "./serve_options.ts";

interface Served {
  readonly server: Server;
  readonly seen: string[];
  readonly errors: unknown[];
  readonly clock: VirtualClock;
  [Symbol.asyncDispose](): Promise<void>;
}

const signal = new AbortController().signal;
const ca = await CertificateAuthority.create("ca");
const { certificate: cert, key } = await ca.issue({ commonName: "own", usage: "server", hosts: ["127.0.0.1"] });

async function serving(limits: Partial<ServeLimits> = {}, handler?: ServeHandler): Promise<Served> {
  const seen: string[] = [];
  const errors: unknown[] = [];
  const clock = new VirtualClock();
  const server = await serve({
    limits,
    clock,
    tls: { cert, key, clientCa: ca.certificate, requireClientCertificate: false, offersHttp2: true },
    onError: (error) => errors.push(error),
    handler: handler ?? (async (request) => {
      const text = await request.text();
      const { pathname, search } = new URL(request.url);
      seen.push(`${request.method} ${pathname}${search} ${request.headers.get("host")} ${text.length}`);
      return new Response(`got ${text}`, { headers: { "content-length": String(4 + text.length) } });
    }),
  });
  return { server, seen, errors, clock, [Symbol.asyncDispose]: () => server.close() };
}

/** A handler whose responses are written by the test. */
function pushed() {
  const streams = new Map<string, ReadableStreamDefaultController<Uint8Array>>();
  const cancelled: string[] = [];
  const aborted: string[] = [];
  const handler: ServeHandler = (request) => {
    const path = new URL(request.url).pathname;
    request.signal.addEventListener("abort", () => aborted.push(path));
    return new Response(
      new ReadableStream<Uint8Array>({
        start: (controller) => void streams.set(path, controller),
        cancel: () => void cancelled.push(path),
      }),
    );
  };
  const push = (path: string, text: string) => streams.get(path)?.enqueue(new TextEncoder().encode(text));
  return { handler, push, streams, cancelled, aborted };
}

test("a request over HTTP/2 reaches the handler as one over HTTP/1.1 does", async () => {
  await using served = await serving();
  using peer = await http2Peer(served.server.port);
  peer.send(
    requestFrame(1, { path: "/a%2Fb?c=%41", authority: "localhost:1" }),
    requestFrame(3, { method: "POST", path: "/v", isLast: false }),
    dataFrame(3, "hel", false),
    dataFrame(3, "lo"),
    requestFrame(5, { method: "DELETE", path: "/d", fields: [["content-length", "2"]], isLast: false }),
    dataFrame(5, "{}"),
  );
  await until(() => [1, 3, 5].every((id) => peer.hasEnded(id)), "the responses");
  assertEquals(served.seen.toSorted(), [
    "DELETE /d localhost 2",
    "GET /a%2Fb?c=%41 localhost:1 0",
    "POST /v localhost 5",
  ]);
  assertEquals(peer.textOf(3), "got hello");
  const fields = new Map(peer.fieldsOf(3)[0]);
  assertEquals([fields.get(":status"), fields.get("content-length")], ["200", "9"]);
  assert(fields.has("date"));
  assertEquals(served.errors, []);
});

test("a HEAD, a 204 and a response without a body end with their heads", async () => {
  await using served = await serving({}, (request) => {
    const { pathname } = new URL(request.url);
    if (pathname === "/none") return new Response(null, { status: 204 });
    if (pathname === "/null") return new Response(null, { status: 201, headers: { connection: "close", "x-a": "b" } });
    return new Response("body", { headers: { "content-length": "4" } });
  });
  using peer = await http2Peer(served.server.port);
  peer.send(
    requestFrame(1, { method: "HEAD" }),
    requestFrame(3, { path: "/none" }),
    requestFrame(5, { path: "/null" }),
  );
  await until(() => [1, 3, 5].every((id) => peer.hasEnded(id)), "the responses");
  assertEquals(peer.frames.filter(({ type }) => type === frameTypes.data).length, 0);
  assertEquals([1, 3, 5].map((id) => peer.statusOf(id)), ["200", "204", "201"]);
  assertEquals(new Map(peer.fieldsOf(1)[0]).get("content-length"), "4");
  const fields = new Map(peer.fieldsOf(5)[0]);
  assertEquals([fields.get("connection"), fields.get("x-a"), fields.get("content-length")], [undefined, "b", "0"]);
});

test("a client that expects 100-continue gets it first; trailers have no effect", async () => {
  await using served = await serving();
  using peer = await http2Peer(served.server.port);
  peer.send(requestFrame(1, { method: "POST", fields: [["expect", "100-continue"]], isLast: false }));
  await until(() => peer.fieldsOf(1).length === 1, "100");
  assertEquals(peer.fieldsOf(1)[0], [[":status", "100"]]);
  const trailers = frameBytes({
    type: frameTypes.headers,
    flags: frameFlags.endHeaders | frameFlags.endStream,
    streamId: 1,
    payload: Uint8Array.from([0, 1, 0x78, 1, 0x79]),
  });
  peer.send(dataFrame(1, "ok", false), trailers);
  await until(() => peer.hasEnded(1), "the response");
  assertEquals(peer.textOf(1), "got ok");
});

test("HTTP/2 is offered only where the server asks for it, and HTTP/1.1 stays", async () => {
  const handler: ServeHandler = () => new Response("ok", { headers: { "content-length": "2" } });
  await using plain = await serve({ handler, tls: { cert, key }, onError: () => {} });
  await using both = await serve({ handler, tls: { cert, key, offersHttp2: true }, onError: () => {} });
  assertEquals(await protocolOf(plain, ["h2", "http/1.1"]), "http/1.1");
  assertEquals(await protocolOf(both, ["h2", "http/1.1"]), "h2");
  assertEquals(await protocolOf(both, ["http/1.1"]), "http/1.1");
});

async function protocolOf(server: Server, offered: readonly string[]): Promise<unknown> {
  const tls = await import("node:tls");
  const options = { port: server.port, host: "127.0.0.1", rejectUnauthorized: false, ALPNProtocols: [...offered] };
  const socket = tls.connect(options);
  await new Promise((resolve) => socket.once("secureConnect", resolve));
  const { alpnProtocol } = socket;
  socket.destroy();
  return alpnProtocol;
}

test("the names in a client certificate reach the handler over HTTP/2", async () => {
  const seen: ConnectionInfo[] = [];
  await using served = await serving({}, (_request, connection) => {
    seen.push(connection);
    return new Response(null);
  });
  const client = await ca.issue({ commonName: "jane", organizations: ["readers"], usage: "client" });
  for (const pair of [{ cert: client.certificate, key: client.key }, undefined]) {
    using peer = await http2Peer(served.server.port, { pair });
    peer.send(requestFrame(1));
    await until(() => peer.hasEnded(1), "the response");
  }
  assertEquals(seen.map(({ clientName, clientOrganizations }) => [clientName, clientOrganizations]), [
    ["jane", ["readers"]],
    [undefined, undefined],
  ]);
});

test("the client of node:http2 gets 90 watches and its writes on one connection", async () => {
  const { handler, push } = pushed();
  const body = "é".repeat(400_000);
  await using served = await serving({}, async (request, connection) => {
    if (request.method === "GET") return await handler(request, connection);
    const text = await request.text();
    return new Response(text, { headers: { "content-length": String(new TextEncoder().encode(text).length) } });
  });
  const session = http2.connect(`https://127.0.0.1:${served.server.port}`, { rejectUnauthorized: false });
  session.on("error", () => {});
  const received: string[] = Array(90).fill("");
  const watches = received.map((_, index) => {
    const stream = session.request({ ":path": `/${index}` });
    stream.setEncoding("utf8");
    stream.on("data", (text: string) => received[index] += text);
    stream.on("error", () => {});
    return stream;
  });
  const answered = new Set<number>();
  for (const [index, stream] of watches.entries()) stream.on("response", () => answered.add(index));
  await until(() => answered.size === 90, "the heads");
  for (const text of ["a", "b"]) {
    for (const index of received.keys()) push(`/${index}`, `${text}${index} `);
    await until(() => received.every((all, index) => all.endsWith(`${text}${index} `)), "the events");
  }
  assertEquals(received.map((all) => all.length), received.map((_, index) => 2 * (2 + String(index).length)));
  const write = session.request({ ":method": "POST", ":path": "/" });
  let echoed = "", hasEnded = false;
  write.setEncoding("utf8");
  write.on("data", (text: string) => echoed += text);
  write.on("end", () => hasEnded = true);
  write.end(body);
  await until(() => hasEnded, "the response");
  assertEquals(echoed, body);
  assertEquals(served.server.connections, 1);
  session.destroy();
  await until(() => served.server.connections === 0, "the end of the connection");
  assertEquals(served.errors, []);
});

test("a reset stream aborts its request and cancels its response; the others continue", async () => {
  const { handler, push, streams, cancelled, aborted } = pushed();
  await using served = await serving({}, handler);
  const peer = await http2Peer(served.server.port);
  peer.send(requestFrame(1, { path: "/1" }), requestFrame(3, { path: "/3" }));
  await until(() => streams.size === 2, "the requests");
  peer.send(resetOf(1));
  await until(() => cancelled.length === 1, "the cancellation");
  assertEquals([cancelled, aborted], [["/1"], ["/1"]]);
  push("/3", "still");
  await until(() => peer.textOf(3) === "still", "the event");
  peer[Symbol.dispose]();
  await until(() => cancelled.length === 2, "the end of the connection");
  assertEquals([cancelled, aborted], [["/1", "/3"], ["/1", "/3"]]);
  assertEquals(served.errors, []);
});

function resetOf(streamId: number, code = errorCodes.cancel as number): Uint8Array {
  return frameBytes({ type: frameTypes.rstStream, streamId, payload: Uint8Array.from([0, 0, 0, code]) });
}

test("a response waits for the windows of its stream and of the connection, and only as much of it is read", async () => {
  let pulled = 0;
  await using served = await serving({}, () =>
    new Response(
      new ReadableStream<Uint8Array>({
        pull(controller) {
          pulled++;
          controller.enqueue(new Uint8Array(10_000).fill(97));
        },
      }, { highWaterMark: 0 }),
    ));
  using peer = await http2Peer(served.server.port, { settings: [[settingIds.initialWindowSize, 25_000]] });
  peer.send(requestFrame(1), requestFrame(3), requestFrame(5));
  const lengths = () => [1, 3, 5].map((id) => peer.textOf(id).length);
  await until(() => lengths().reduce((sum, length) => sum + length) === 65_535, "the window of the connection");
  assert(lengths().every((length) => length <= 25_000), lengths().join());
  assert(pulled <= 9, `${pulled} pieces were read`);
  peer.send(windowUpdateFrame(0, 100_000), windowUpdateFrame(1, 1_000));
  await until(() => lengths().join() === "26000,25000,25000", "more of each");
  assert(pulled <= 9, `${pulled} pieces were read`);
  // The windows of streams shrink, and may be negative.
  peer.send(settingsOf(settingIds.initialWindowSize, 5_000), windowUpdateFrame(1, 20_001));
  await until(() => peer.textOf(1).length === 26_001, "one byte");
});

function settingsOf(id: number, value: number): Uint8Array {
  const payload = Uint8Array.from([0, id, value >>> 24, value >>> 16, value >>> 8, value]);
  return frameBytes({ type: frameTypes.settings, payload });
}

test("the server grants windows for a large body, and announces the limits of kube-apiserver", async () => {
  await using served = await serving();
  using peer = await http2Peer(served.server.port);
  const payload = new Uint8Array(16_384).fill(97);
  const data = (isLast: boolean) =>
    frameBytes({ type: frameTypes.data, flags: isLast ? frameFlags.endStream : 0, streamId: 1, payload });
  peer.send(requestFrame(1, { method: "POST", isLast: false }), ...Array.from({ length: 8 }, () => data(false)));
  const granted = () => peer.frames.filter(({ type, streamId }) => type === frameTypes.windowUpdate && streamId === 1);
  await until(() => granted().length === 1, "a larger window");
  peer.send(...Array.from({ length: 8 }, (_, index) => data(index === 7)));
  await until(() => peer.statusOf(1) === "200", "the response");
  assertEquals(served.seen, [`POST / localhost ${16 * 16_384}`]);
  const settings = peer.frames[0]?.payload ?? new Uint8Array(0);
  assertEquals([...settings], [0, 3, 0, 0, 0, 100, 0, 4, 0, 4, 0, 0, 0, 6, 0, 0, 64, 0]);
});

test("a PING is answered with its content, and SETTINGS are acknowledged", async () => {
  await using served = await serving();
  using peer = await http2Peer(served.server.port);
  const payload = Uint8Array.from([1, 2, 3, 4, 5, 6, 7, 8]);
  peer.send(frameBytes({ type: frameTypes.ping, payload }));
  await until(() => peer.frames.some(({ type }) => type === frameTypes.ping), "the answer");
  const [answer] = peer.frames.filter(({ type }) => type === frameTypes.ping);
  assertEquals([answer?.flags, [...answer?.payload ?? []]], [frameFlags.ack, [...payload]]);
  assert(peer.frames.some(({ type, flags }) => type === frameTypes.settings && flags === frameFlags.ack));
});

test("a head in several frames, with padding and priority, is one head", async () => {
  await using served = await serving();
  using peer = await http2Peer(served.server.port);
  const block = requestFrame(1, { path: "/parts" }).slice(9);
  const padded = concatenated([Uint8Array.from([3, 0, 0, 0, 0, 9]), block.slice(0, 5), new Uint8Array(3)]);
  const flags = frameFlags.padded | frameFlags.priority | frameFlags.endStream;
  peer.send(frameBytes({ type: frameTypes.headers, flags, streamId: 1, payload: padded }));
  for (const byte of block.slice(5)) {
    peer.send(frameBytes({ type: frameTypes.continuation, streamId: 1, payload: Uint8Array.from([byte]) }));
  }
  peer.send(frameBytes({ type: frameTypes.continuation, flags: frameFlags.endHeaders, streamId: 1 }));
  await until(() => peer.hasEnded(1), "the response");
  assertEquals(served.seen, ["GET /parts localhost 0"]);
});

test("clients that are rejected without their bodies do not send them, and their connection stays", async () => {
  const methods: string[] = [];
  await using server = await serve({
    tls: { cert, key, offersHttp2: true },
    readsBody: () => false,
    handler: (request) => {
      methods.push(`${request.method} ${request.body}`);
      return new Response("no", { status: 401 });
    },
    onError: (error) => methods.push(String(error)),
  });
  using peer = await http2Peer(server.port);
  peer.send(requestFrame(1, { method: "POST", isLast: false }), dataFrame(1, "a".repeat(1_000), false));
  await until(() => peer.resetOf(1) !== undefined, "the refusal");
  assertEquals([peer.statusOf(1), peer.resetOf(1)], ["401", errorCodes.noError]);
  peer.send(dataFrame(1, "late"), requestFrame(3));
  await until(() => peer.hasEnded(3), "the second response");
  assertEquals(methods, ["POST null", "GET null"]);
});

test("an error of the handler is status 500; one of its stream resets the stream", async () => {
  await using served = await serving({}, (request) => {
    if (new URL(request.url).pathname === "/early") throw new Error("early");
    return new Response(new ReadableStream({ pull: (controller) => controller.error(new Error("late")) }));
  });
  using peer = await http2Peer(served.server.port);
  peer.send(requestFrame(1, { path: "/early" }), requestFrame(3));
  await until(() => peer.hasEnded(1) && peer.resetOf(3) !== undefined, "both ends");
  assertEquals([peer.statusOf(1), peer.resetOf(3)], ["500", errorCodes.internalError]);
  assertEquals(served.errors.map(String).toSorted(), ["Error: early", "Error: late"]);
});

test("drain() tells the client during the delay, lets requests finish and refuses later ones", async () => {
  const { handler, streams, push } = pushed();
  await using served = await serving({}, handler);
  const { server, clock } = served;
  using peer = await http2Peer(server.port);
  using idle = await http2Peer(server.port);
  idle.send(requestFrame(1, { path: "/idle" }));
  peer.send(requestFrame(1, { path: "/1" }), requestFrame(3, { path: "/3" }));
  await until(() => streams.size === 3, "the requests");
  streams.get("/idle")?.close();
  await until(() => idle.hasEnded(1), "the first response");
  let isDrained = false;
  const drained = server.drain({ delayMs: 5_000, graceMs: 10_000 }, signal).then(() => isDrained = true);
  streams.get("/1")?.close();
  await until(() => peer.goaway !== undefined, "the notice");
  assertEquals(peer.goaway, { lastStreamId: 2 ** 31 - 1, code: errorCodes.noError });
  await clock.advance(5_000);
  await until(() => peer.goaway?.lastStreamId === 3 && idle.goaway?.lastStreamId === 1, "the last notices");
  peer.send(requestFrame(5, { path: "/5" }));
  push("/3", "last");
  await until(() => peer.textOf(3) === "last", "the response in flight");
  assertEquals([isDrained, streams.has("/5")], [false, false]);
  streams.get("/3")?.close();
  await until(() => peer.hasEnded(3), "its end");
  peer[Symbol.dispose]();
  idle[Symbol.dispose]();
  await drained;
  assertEquals(clock.pendingTimers, 0);
});

test("close() tells the client which request was the last, and ends it", async () => {
  const { handler, streams, cancelled } = pushed();
  await using served = await serving({}, handler);
  using peer = await http2Peer(served.server.port);
  peer.send(requestFrame(1, { path: "/1" }));
  await until(() => streams.size === 1 && peer.statusOf(1) !== undefined, "the response");
  await served.server.close();
  await until(() => peer.isClosed, "closing");
  assertEquals([peer.goaway, cancelled], [{ lastStreamId: 1, code: errorCodes.noError }, ["/1"]]);
  assertEquals(served.clock.pendingTimers, 0);
});

const curl = curlWithHttp2();
const curlTitle = "curl writes and reads a body over HTTP/2";
if (!curl) test.skip(curlTitle, "there is no curl with HTTP/2");
else {
  test(curlTitle, async () => {
    await using served = await serving();
    const url = `https://127.0.0.1:${served.server.port}/a%2Fb?c`;
    const args = [
      "-sk",
      "--http2",
      "-w",
      " %{http_version} %{http_code}",
      "-H",
      "expect: 100-continue",
      "-d",
      "body",
      url,
    ];
    const { stdout } = await promisify(execFile)("curl", args);
    assertEquals(stdout, "got body 2 200");
    assertEquals(served.seen, [`POST /a%2Fb?c 127.0.0.1:${served.server.port} 4`]);
  });
}

function curlWithHttp2(): boolean {
  const { stdout } = spawnSync("curl", ["--version"], { encoding: "utf8" });
  return /^Features:.*\bHTTP2\b/m.test(stdout ?? "");
}

test("[security 13] unfinished frames, slow bodies and idle connections end at their time limits", async () => {
  await using served = await serving();
  const { server, clock } = served;
  const half = requestFrame(1).slice(0, 12);
  const openHead = frameBytes({ type: frameTypes.headers, streamId: 1, payload: Uint8Array.of(0x82) });
  for (const [sent, limitMs] of [[half, 10_000], [openHead, 10_000], [undefined, 90_000]] as const) {
    using peer = await http2Peer(server.port);
    if (sent !== undefined) peer.send(sent);
    await until(() => peer.frames.some(({ flags }) => flags === frameFlags.ack), "the settings");
    await until(() => clock.pendingTimers === (limitMs === 90_000 ? 2 : 3), "the limit");
    await clock.advance(limitMs - 1);
    assertEquals(peer.goaway, undefined);
    await clock.advance(1);
    await until(() => peer.goaway !== undefined, "the end");
    peer[Symbol.dispose]();
    await until(() => server.connections === 0, "closing");
  }
  using peer = await http2Peer(server.port);
  peer.send(requestFrame(1, { method: "POST", isLast: false }), dataFrame(1, "slow", false));
  await until(() => clock.nextTimerInMs === 10_000 && clock.pendingTimers === 2, "the body");
  await clock.advance(10_000);
  await until(() => peer.resetOf(1) !== undefined, "the response");
  assertEquals([peer.statusOf(1), peer.resetOf(1), peer.goaway], ["408", errorCodes.noError, undefined]);
});
