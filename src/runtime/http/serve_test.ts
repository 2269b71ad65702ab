import { assert, assertEquals, assertRejects, assertStringIncludes, test } from "../../../tests/testing.ts";
import { CertificateAuthority } from "../../../tests/controlplane/certificate_authority.ts";
import { until } from "../../../tests/until.ts";
import { VirtualClock } from "../../async/mod.ts";
import { rawPeer } from "../testing/raw_peer.ts";
import { httpClient } from "./http_client.ts";
import { PortInUseError } from "./listener.ts";
import { serve, type Server } from "./serve.ts";
import type { ServeHandler, ServeLimits } from "./serve_options.ts";

interface Served {
  readonly server: Server;
  readonly seen: string[];
  readonly errors: unknown[];
  readonly clock: VirtualClock;
  [Symbol.asyncDispose](): Promise<void>;
}

const signal = new AbortController().signal;

async function serving(limits: Partial<ServeLimits> = {}, handler?: ServeHandler): Promise<Served> {
  const seen: string[] = [];
  const errors: unknown[] = [];
  const clock = new VirtualClock();
  const server = await serve({
    limits,
    clock,
    onError: (error) => errors.push(error),
    handler: handler ?? (async (request) => {
      const text = await request.text();
      seen.push(`${request.method} ${new URL(request.url).pathname} ${text.length}`);
      return new Response(`got ${text}`);
    }),
  });
  return { server, seen, errors, clock, [Symbol.asyncDispose]: () => server.close() };
}

/** Sends `text` on a new connection. @returns the status of the first response, when the server has closed */
async function statusAfterClose(served: Served, text: string): Promise<string> {
  using peer = await rawPeer(served.server.port);
  peer.send(text);
  await until(() => peer.received.includes("\r\n\r\n"), `a response to ${JSON.stringify(text.slice(0, 60))}`);
  await served.clock.advance(1_000); // the time in which a refused client may still send
  await until(() => peer.isClosed, `closing after ${JSON.stringify(text.slice(0, 60))}`);
  return peer.received.slice("HTTP/1.1 ".length, "HTTP/1.1 ".length + 3);
}

async function responseTo(server: Server, text: string): Promise<string> {
  using peer = await rawPeer(server.port);
  peer.send(text);
  await until(() => peer.isClosed, "the response");
  return peer.received;
}

const post = "POST /v HTTP/1.1\r\nHost: a\r\n";
const close = "Connection: close\r\n";
const smuggled = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n";
const chunked = `${post}Transfer-Encoding: chunked\r\n`;

const smugglingCorpus: Readonly<Record<string, string>> = {
  "Content-Length, then Transfer-Encoding":
    `${post}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`,
  "Transfer-Encoding, then Content-Length":
    `${post}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n${smuggled}`,
  "two different lengths": `${post}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!`,
  "the same length twice": `${post}Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello`,
  "a list of lengths": `${post}Content-Length: 5, 5\r\n\r\nhello`,
  "a signed length": `${post}Content-Length: +5\r\n\r\nhello`,
  "a negative length": `${post}Content-Length: -5\r\n\r\nhello`,
  "a hexadecimal length": `${post}Content-Length: 0x5\r\n\r\nhello`,
  "a length with a space in it": `${post}Content-Length: 5 5\r\n\r\nhello`,
  "an empty length": `${post}Content-Length: \r\n\r\n`,
  "a length beyond numbers": `${post}Content-Length: 99999999999999999999\r\n\r\nhello`,
  "identity before chunked": `${post}Transfer-Encoding: identity, chunked\r\n\r\n0\r\n\r\n`,
  "gzip before chunked": `${post}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
  "identity after chunked": `${post}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`,
  "chunked twice": `${post}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  "two transfer encodings": `${post}Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n`,
  "an unknown coding": `${post}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`,
  "a space before the colon": `${post}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n`,
  "a vertical tab before chunked": `${post}Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n`,
  "a quoted coding": `${post}Transfer-Encoding: "chunked"\r\n\r\n0\r\n\r\n`,
  "lines that end in LF": "POST /v HTTP/1.1\nHost: a\nContent-Length: 0\n\n",
  "one line that ends in LF": "POST /v HTTP/1.1\r\nHost: a\nContent-Length: 0\r\n\r\n",
  "a blank line of LF": "POST /v HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\n",
  "a CR inside a value": `${post}X: a\rContent-Length: 5\r\n\r\n`,
  "a NUL inside a value": `${post}X: a\0b\r\n\r\n`,
  "a folded field": `${post}X: a\r\n b\r\n\r\n`,
  "a folded Transfer-Encoding": `${post}Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n`,
  "a space before the first field": "POST /v HTTP/1.1\r\n Host: a\r\n\r\n",
  "a field without a colon": `${post}Nonsense\r\n\r\n`,
  "a field without a name": `${post}: a\r\n\r\n`,
  "a space inside a name": `${post}X Y: a\r\n\r\n`,
  "two hosts": `${post}Host: b\r\n\r\n`,
  "no host": "POST /v HTTP/1.1\r\nContent-Length: 0\r\n\r\n",
  "a host with a path": "POST /v HTTP/1.1\r\nHost: a/b\r\n\r\n",
  "a host with a user": "POST /v HTTP/1.1\r\nHost: a@b\r\n\r\n",
  "a line before the request line": `\r\n${post}\r\n`,
  "two spaces in the request line": "POST  /v HTTP/1.1\r\nHost: a\r\n\r\n",
  "tabs in the request line": "POST\t/v\tHTTP/1.1\r\nHost: a\r\n\r\n",
  "a method that is no word": "PO(ST /v HTTP/1.1\r\nHost: a\r\n\r\n",
  "no version": "GET /v\r\n\r\n",
  "a whole URL as target": "GET http://b/v HTTP/1.1\r\nHost: a\r\n\r\n",
  "a fragment in the target": "GET /v#b HTTP/1.1\r\nHost: a\r\n\r\n",
  "a backslash in the target": "GET /\\b HTTP/1.1\r\nHost: a\r\n\r\n",
  "a control character in the target": "GET /\x01 HTTP/1.1\r\nHost: a\r\n\r\n",
  "a body on GET": "GET /v HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello",
  "a flood of chunk extension": `${chunked}\r\n1;${"a".repeat(20_000)}\r\nx\r\n0\r\n\r\n`,
  "many chunk extensions": `${chunked}\r\n${`1;${"a".repeat(200)}\r\nx\r\n`.repeat(30)}0\r\n\r\n`,
  "a chunk size that ends in LF": `${chunked}\r\n1\nx\r\n0\r\n\r\n`,
  "a chunk extension that ends in LF": `${chunked}\r\n1;a\nx\r\n0\r\n\r\n`,
  "a negative chunk size": `${chunked}\r\n-1\r\nx\r\n0\r\n\r\n`,
  "a chunk size with 0x": `${chunked}\r\n0x1\r\nx\r\n0\r\n\r\n`,
  "a chunk size with a space": `${chunked}\r\n1 \r\nx\r\n0\r\n\r\n`,
  "a chunk size beyond numbers": `${chunked}\r\nfffffffffffffffff1\r\nx\r\n0\r\n\r\n`,
  "a chunk longer than its size": `${chunked}\r\n1\r\nxy\r\n0\r\n\r\n`,
  "a flood of trailers": `${chunked}\r\n0\r\n${"X: a\r\n".repeat(5_000)}\r\n`,
  "a trailer that ends in LF": `${chunked}\r\n0\r\nX: a\n\r\n`,
};

test("[security 14] a request that two servers could read differently gets status 400, and the connection closes", async () => {
  await using served = await serving();
  const wrong: string[] = [];
  for (const [name, text] of Object.entries(smugglingCorpus)) {
    const status = await statusAfterClose(served, text);
    if (status !== "400") wrong.push(`${name}: ${status}`);
  }
  assertEquals(wrong, []);
  assertEquals(served.seen, []);
  assertEquals(served.errors, []);
  assertEquals(served.server.connections, 0);
});

test("[security 13] a request above a limit gets the status for that limit", async () => {
  await using served = await serving();
  const fields = (count: number) => Array.from({ length: count }, (_, index) => `X-${index}: a\r\n`).join("");
  const cases: readonly (readonly [string, string])[] = [
    ["431", `${post}${fields(100)}\r\n`],
    ["431", `${post}X: ${"a".repeat(16 * 1024)}\r\n\r\n`],
    ["414", `GET /${"a".repeat(8 * 1024)} HTTP/1.1\r\nHost: a\r\n\r\n`],
    ["413", `${post}Content-Length: ${7 * 1024 * 1024 + 1}\r\n\r\n`],
    ["413", `${chunked}\r\n${(7 * 1024 * 1024 + 1).toString(16)}\r\n`],
    ["501", "T /a HTTP/1.1\r\nHost: a\r\n\r\n"],
    ["501", "PROPFIND /a HTTP/1.1\r\nHost: a\r\n\r\n"],
    ["405", "CONNECT /a HTTP/1.1\r\nHost: a\r\n\r\n"],
    ["417", `${post}Expect: miracles\r\nContent-Length: 1\r\n\r\nx`],
    ["505", "GET /v HTTP/1.0\r\nHost: a\r\n\r\n"],
    ["505", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
  ];
  for (const [status, text] of cases) assertEquals(await statusAfterClose(served, text), status, text.slice(0, 40));
  assertEquals(served.seen, []);
  assertStringIncludes(await responseTo(served.server, `${post}${fields(98)}${close}\r\n`), "200");
});

test("bodies are read by length, in chunks and one byte at a time, on one connection", async () => {
  await using served = await serving();
  const { server, seen } = served;
  using peer = await rawPeer(server.port);
  peer.send(`${post}Content-Length: 5\r\n\r\nhello${chunked}\r\n3;x=1\r\nhel\r\n2\r\nlo\r\n0\r\nT: 1\r\n\r\n`);
  await until(() => seen.length === 2, "two responses");
  for (const byte of `${chunked}${close}\r\n5\r\nhello\r\n0\r\n\r\n`) {
    peer.send(byte);
    await until(() => true, "");
  }
  await until(() => peer.isClosed, "closing");
  assertEquals(seen, ["POST /v 5", "POST /v 5", "POST /v 5"]);
  assertEquals(peer.received.split("got hello").length, 4);
});

test("a client that expects 100-continue gets it before it sends the body", async () => {
  await using served = await serving();
  using peer = await rawPeer(served.server.port);
  peer.send(`${post}${close}Expect: 100-continue\r\nContent-Length: 2\r\n\r\n`);
  await until(() => peer.received.includes("HTTP/1.1 100 Continue\r\n\r\n"), "100");
  peer.send("ok");
  await until(() => peer.isClosed, "closing");
  assertStringIncludes(peer.received, "got ok");
});

test("[security 13] a slow head, a slow body and an idle connection end at their time limits", async () => {
  await using served = await serving();
  const { server, clock } = served;
  const cases: readonly (readonly [string, number, string])[] = [
    ["POST /v HT", 10_000, "HTTP/1.1 408"],
    [`${post}Content-Length: 5\r\n\r\nhe`, 10_000, "HTTP/1.1 408"],
    ["", 90_000, ""],
  ];
  for (const [text, limitMs, answer] of cases) {
    using peer = await rawPeer(server.port);
    await until(() => clock.pendingTimers === 1, "waiting");
    if (text !== "") {
      peer.send(text);
      await until(() => clock.nextTimerInMs === limitMs, "the limit");
    }
    await clock.advance(limitMs - 1);
    assertEquals(peer.isClosed, false);
    await clock.advance(1);
    await until(() => peer.received.startsWith(answer), "the response");
    await clock.advance(1_000);
    await until(() => peer.isClosed && server.connections === 0, "closing");
  }
  assertEquals(clock.pendingTimers, 0);
});

test("[security 13] 200 slow clients do not lock out a fast one, and no more than the limit stay connected", async () => {
  await using served = await serving({ maxConnections: 100 });
  const { server } = served;
  const slow = await Promise.all(Array.from({ length: 200 }, () => rawPeer(server.port)));
  for (const peer of slow) peer.send("POST /v HTTP/1.1\r\nHo");
  await until(() => slow.filter((peer) => peer.isClosed).length >= 100, "the oldest to be closed");
  assertStringIncludes(await responseTo(server, `${post}${close}Content-Length: 2\r\n\r\nhi`), "got hi");
  assert(server.connections <= 100);
  for (const peer of slow) peer[Symbol.dispose]();
});

test("[security 13] when the bodies are too large together, the one that waits longest for its client is refused", async () => {
  await using served = await serving({ maxBufferedBytes: 10_000 });
  const { server } = served;
  using first = await rawPeer(server.port);
  first.send(`${post}Content-Length: 9000\r\n\r\n${"a".repeat(8_000)}`);
  await until(() => served.clock.nextTimerInMs === 10_000, "the first body");
  using second = await rawPeer(server.port);
  second.send(`${post}Content-Length: 5000\r\n\r\n${"b".repeat(5_000)}`);
  await until(() => second.received.includes("got bbb"), "the second response");
  await until(() => first.received.startsWith("HTTP/1.1 503"), "the refusal of the first body");
  assertStringIncludes(
    await responseTo(server, `${post}${close}Content-Length: 9000\r\n\r\n${"c".repeat(9_000)}`),
    "200",
  );
});

test("a body that arrives with its head has the limits of others, and what follows it is the next request", async () => {
  await using served = await serving({ maxBodyBytes: 8_000, maxBufferedBytes: 6_000 });
  const whole = (bytes: number) =>
    `POST /a HTTP/1.1\r\nhost: a\r\ncontent-length: ${bytes}\r\n\r\n${"x".repeat(bytes)}`;
  using peer = await rawPeer(served.server.port);
  peer.send(`${whole(5_000)}${whole(20)}`);
  await until(() => served.seen.length === 2, "both requests");
  assertEquals(served.seen, ["POST /a 5000", "POST /a 20"]);
  assertStringIncludes(await statusAfterClose(served, whole(7_000)), "503");
  assertStringIncludes(await statusAfterClose(served, whole(9_000)), "413");
  // The bodies that were answered take no memory.
  peer.send(whole(5_500));
  await until(() => served.seen.length === 3, "the third request");
});

test("readsBody gets the method, the URL as the handler does, and the fields, before the body is there", async () => {
  const heads: string[] = [];
  await using server = await serve({
    onError: () => {},
    readsBody: ({ method, url, headers }) => heads.push(`${method} ${url} ${headers.get("a")}`) > 1,
    handler: (request) => new Response(`${request.url} ${request.body === null}`),
  });
  const head = `POST /b/../c?d HTTP/1.1\r\nhost: e\r\na: 1\r\n${close}content-length: 1\r\n\r\n`;
  const answers = [await responseTo(server, head), await responseTo(server, `${head}x`)];
  assertEquals(heads, ["POST http://e/c?d 1", "POST http://e/c?d 1"]);
  assertStringIncludes(answers[0] ?? "", "http://e/c?d true");
  assertStringIncludes(answers[1] ?? "", "http://e/c?d false");
  assertStringIncludes(await responseTo(server, head.replace("host: e", "host: e:99999")), " 400 ");
});

test("an error of the handler is status 500 and is reported, and the server continues", async () => {
  await using served = await serving({}, () => {
    throw new Error("boom");
  });
  const response = await responseTo(served.server, `${post}${close}\r\n`);
  assertStringIncludes(response, "HTTP/1.1 500");
  assert(!response.includes("boom"));
  assertEquals(served.errors.map(String), ["Error: boom"]);
});

test("a response streams as it is made, is not cut while the handler is quiet, and is cancelled when the client leaves", async () => {
  let push: (text: string) => void = () => {};
  let isCancelled = false;
  await using served = await serving({}, () =>
    new Response(
      new ReadableStream({
        start(controller) {
          push = (text) => controller.enqueue(new TextEncoder().encode(text));
        },
        cancel() {
          isCancelled = true;
        },
      }),
    ));
  const peer = await rawPeer(served.server.port);
  peer.send("GET /watch HTTP/1.1\r\nHost: a\r\n\r\n");
  await until(() => peer.received.includes("transfer-encoding: chunked"), "the head");
  push("first");
  await until(() => peer.received.includes("5\r\nfirst\r\n"), "the first event");
  await served.clock.advance(3_600_000);
  push("second");
  await until(() => peer.received.includes("6\r\nsecond\r\n"), "the second event");
  peer[Symbol.dispose]();
  await until(() => served.clock.advance(2_000) !== undefined && served.server.connections === 0, "the end");
  push("third");
  await until(() => isCancelled, "the stream to be cancelled");
});

test("the signal of a request aborts when the client leaves", async () => {
  let aborted: AbortSignal | undefined;
  await using served = await serving({}, (request) => {
    aborted = request.signal;
    return new Promise<Response>((_, reject) => request.signal.addEventListener("abort", () => reject(new Error("x"))));
  });
  const peer = await rawPeer(served.server.port);
  peer.send("GET /v HTTP/1.1\r\nHost: a\r\n\r\n");
  await until(() => aborted !== undefined, "the request");
  peer[Symbol.dispose]();
  // A client that has closed only its half looks the same for a while.
  await until(() => served.clock.advance(2_000) !== undefined && aborted?.aborted === true, "the abort");
  assertEquals(served.errors, []);
});

test("drain() serves during the delay with connection: close, then lets requests in flight finish", async () => {
  const respond: (() => void)[] = [];
  await using served = await serving(
    {},
    () =>
      new Promise((resolve) =>
        respond.push(() => resolve(new Response("late", { headers: { "content-length": "4" } })))
      ),
  );
  const { server, clock } = served;
  using inFlight = await rawPeer(server.port);
  inFlight.send("GET /v HTTP/1.1\r\nHost: a\r\n\r\n");
  await until(() => respond.length === 1, "the request");
  let isDrained = false;
  const drained = server.drain({ delayMs: 5_000, graceMs: 10_000 }, signal).then(() => isDrained = true);
  await clock.advance(4_999);
  using during = await rawPeer(server.port);
  during.send("GET /v HTTP/1.1\r\nHost: a\r\n\r\n");
  await until(() => respond.length === 2, "a request during the delay");
  respond[1]?.();
  await until(() => during.isClosed, "the response");
  assertStringIncludes(during.received, "connection: close");
  await clock.advance(1);
  assertEquals(isDrained, false);
  respond[0]?.();
  await drained;
  await until(() => inFlight.isClosed, "the response");
  assertStringIncludes(inFlight.received, "late");
  assertEquals(clock.pendingTimers, 0);
});

test("drain() cuts off requests that are still in flight after the grace period", async () => {
  let isStarted = false;
  await using served = await serving({}, () => {
    isStarted = true;
    return new Promise<Response>(() => {});
  });
  using peer = await rawPeer(served.server.port);
  peer.send("GET /v HTTP/1.1\r\nHost: a\r\n\r\n");
  await until(() => isStarted, "the request");
  const drained = served.server.drain({ graceMs: 10_000 }, signal);
  await served.clock.advance(10_000);
  await drained;
  await until(() => peer.isClosed, "closing");
  assertEquals(served.server.connections, 0);
});

test("a port in use is a PortInUseError, and close() frees the port", async () => {
  const handler = () => new Response("x");
  const first = await serve({ handler, onError: () => {} });
  const again = () => serve({ handler, onError: () => {}, port: first.port });
  const error = await assertRejects(again, /^Cannot listen on 127\.0\.0\.1:\d+: the port is in use$/);
  assert(error instanceof PortInUseError);
  await first.close();
  await using second = await again();
  assertEquals(second.port, first.port);
});

test("fetch gets the status, the fields and the body of the handler, also for HEAD and 204", async () => {
  await using served = await serving({}, (request) => {
    const { pathname } = new URL(request.url);
    if (pathname === "/none") return new Response(null, { status: 204 });
    return new Response("body", { status: 418, headers: { "x-a": "b", "content-length": "4", "set-cookie": "a=1" } });
  });
  const url = `http://127.0.0.1:${served.server.port}`;
  const full = await fetch(`${url}/`);
  assertEquals([full.status, full.headers.get("x-a"), await full.text()], [418, "b", "body"]);
  const head = await fetch(`${url}/`, { method: "HEAD" });
  assertEquals([head.status, head.headers.get("content-length"), await head.text()], [418, "4", ""]);
  const none = await fetch(`${url}/none`);
  assertEquals([none.status, await none.text()], [204, ""]);
});

test("a server takes certificates and keys out of PEM text, and does not start if clientCa has no certificate", async () => {
  const ca = await CertificateAuthority.create("ca");
  const { certificate, key } = await ca.issue({ commonName: "server", usage: "server", hosts: ["127.0.0.1"] });
  const damaged = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
  const both = `A text\n${key}${certificate}${damaged}`;
  const start = (clientCa: string) =>
    serve({
      handler: () => new Response("answer"),
      onError: () => {},
      tls: { cert: both, key: both, clientCa, requireClientCertificate: false },
    });
  await using server = await start(damaged + ca.certificate);
  const client = httpClient({ ca: ca.certificate });
  try {
    const response = await client.fetch(new Request(`https://127.0.0.1:${server.port}/`));
    assertEquals(await response.text(), "answer");
  } finally {
    client.close();
  }
  const error = await assertRejects(() => start(damaged));
  assert(error instanceof Error);
  assertStringIncludes(error.message, "client authorities");
});
