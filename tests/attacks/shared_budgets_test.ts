/**
 * Attacks by silence on a server: clients that begin a body and do not end it, that never read their response, or that send
 * bytes which no client sends. A generator chooses their number, sizes and framings.
 *
 * The rules: whatever the others do, a good client that comes last gets its response; a response is never shorter than what
 * the handler returned; a malformed head is the client's mistake, status 400, and no error of the server.
 */
import { seededRandom, VirtualClock } from "../../src/async/mod.ts";
import { nextTurn, serve, type ServeHandler, type ServeLimits, type ServeTls } from "../../src/runtime/mod.ts";
import { issueCertificates } from "../../src/webhook/mod.ts";
import { rawPeer } from "../../src/runtime/testing/raw_peer.ts";
import { assert, assertEquals, assertStringIncludes, test } from "../testing.ts";
import { until } from "../until.ts";

const random = seededRandom(14);
const below = (count: number) => Math.floor(random.next() * count);

async function serving(limits: Partial<ServeLimits>, handler: ServeHandler, tls?: ServeTls) {
  const errors: unknown[] = [];
  const server = await serve({
    limits,
    handler,
    tls,
    clock: new VirtualClock(),
    onError: (error) => errors.push(error),
  });
  return { server, errors, [Symbol.asyncDispose]: () => server.close() };
}

const echo: ServeHandler = async (request) => {
  const text = await request.text();
  return new Response(`got ${text.length}`);
};

/** Lets the event loop turn. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await nextTurn();
}

const post = "POST /v HTTP/1.1\r\nHost: a\r\n";
const close = "Connection: close\r\n";

/** A body of `sizeBytes` of which the last byte is missing. */
function unfinishedBody(sizeBytes: number): string {
  const sent = "x".repeat(sizeBytes - 1);
  if (below(2) === 0) return `${post}Content-Length: ${sizeBytes}\r\n\r\n${sent}`;
  return `${post}Transfer-Encoding: chunked\r\n\r\n${sizeBytes.toString(16)}\r\n${sent}`;
}

async function responseTo(port: number, text: string): Promise<string> {
  using peer = await rawPeer(port);
  peer.send(text);
  await until(() => peer.isClosed, "the response");
  return peer.received;
}

test("[security 13] unfinished bodies up to the limit of the server do not lock out a good request", async () => {
  const [maxBufferedBytes, maxBodyBytes] = [1024 * 1024, 128 * 1024];
  for (let round = 0; round < 10; round++) {
    await using served = await serving({ maxBufferedBytes, maxBodyBytes }, echo);
    const { port } = served.server;
    using peers = new DisposableStack();
    for (let left = maxBufferedBytes; left > 1024;) {
      const sizeBytes = Math.min(maxBodyBytes, left - below(200));
      peers.use(await rawPeer(port)).send(unfinishedBody(sizeBytes));
      left -= sizeBytes;
    }
    const sizeBytes = 1 + below(maxBodyBytes);
    const good = `${post}${close}Content-Length: ${sizeBytes}\r\n\r\n${"y".repeat(sizeBytes)}`;
    assertStringIncludes(await responseTo(port, good), `got ${sizeBytes}`);
    assertEquals(served.errors, []);
  }
});

test("[security 13] clients that never read their responses do not keep the connections of a server", async () => {
  const maxConnections = 8;
  for (let round = 0; round < 4; round++) {
    const large = "z".repeat(200_000 + below(1_000_000));
    let requests = 0;
    await using served = await serving({ maxConnections }, (request) => {
      requests++;
      return new URL(request.url).pathname === "/good" ? new Response("good") : new Response(large);
    });
    using peers = new DisposableStack();
    for (let count = 0; count < maxConnections; count++) {
      const peer = peers.use(await rawPeer(served.server.port));
      peer.setReading(false);
      peer.send("GET /v HTTP/1.1\r\nHost: a\r\n\r\n".repeat(60));
    }
    // A response that no socket buffers blocks its connection: no further request is handled.
    for (let before = -1; before !== requests;) {
      before = requests;
      await turns(200);
    }
    assert(requests < 60 * maxConnections, "the clients are not blocked");
    assertStringIncludes(
      await responseTo(served.server.port, `GET /good HTTP/1.1\r\nHost: a\r\n${close}\r\n`),
      "good",
    );
    assertEquals(served.errors, []);
  }
});

test("[security 13] responses that no client reads count as memory, and the longest unread one ends for others", async () => {
  const maxBufferedBytes = 16 * 1024 * 1024, responseBytes = 4 * 1024 * 1024;
  let requests = 0;
  await using served = await serving({ maxBufferedBytes }, (request) => {
    requests++;
    if (new URL(request.url).pathname === "/good") return new Response("good");
    return new Response("z".repeat(responseBytes), { headers: { "content-length": String(responseBytes) } });
  });
  using peers = new DisposableStack();
  for (let count = 1; count <= 12; count++) {
    const peer = peers.use(await rawPeer(served.server.port));
    peer.setReading(false);
    // The system buffers about as much as one response; the rest stays with the server.
    peer.send("GET /v HTTP/1.1\r\nHost: a\r\n\r\n".repeat(8));
    for (let before = -1; before !== requests;) {
      before = requests;
      await turns(200);
    }
  }
  assert(served.server.connections <= maxBufferedBytes / responseBytes, `${served.server.connections} are open`);
  assertStringIncludes(await responseTo(served.server.port, `GET /good HTTP/1.1\r\nHost: a\r\n${close}\r\n`), "good");
  assertEquals(served.errors, []);
});

/** A stream of parts with seeded sizes. */
function streamOf(sizeBytes: number): ReadableStream<Uint8Array> {
  let left = sizeBytes;
  return new ReadableStream({
    pull(controller) {
      if (left === 0) return controller.close();
      const part = new Uint8Array(Math.min(left, 1 + below(300_000))).fill(122);
      left -= part.length;
      controller.enqueue(part);
    },
  });
}

for (const scheme of ["http", "https"]) {
  test(`a response with connection: close arrives completely over ${scheme}, also when the client reads late`, async () => {
    const isTls = scheme === "https";
    const certificates = isTls
      ? await issueCertificates({ hosts: ["localhost"], now: 0, lifetimeMs: 1e12 })
      : undefined;
    for (let round = 0; round < 24; round++) {
      const sizeBytes = round === 0 ? 0 : below(4_000_000);
      const handler = round % 3 !== 0
        ? () => new Response(streamOf(sizeBytes))
        : () => new Response("z".repeat(sizeBytes), { headers: { "content-length": `${sizeBytes}` } });
      await using served = await serving({}, handler, certificates);
      using peer = await rawPeer(served.server.port, { isTls });
      peer.setReading(round % 2 === 0);
      // Bytes behind the request are not read: they must not reset the connection.
      peer.send(`GET /list HTTP/1.1\r\nHost: a\r\n${close}\r\n${"?".repeat(below(3) * 100)}`);
      await turns(50);
      peer.setReading(true);
      await until(() => peer.isClosed, `the end of ${sizeBytes} bytes`);
      const body = peer.received.slice(peer.received.indexOf("\r\n\r\n") + 4);
      assertEquals(body.replaceAll(/[^z]/g, "").length, sizeBytes, `round ${round}`);
      if (peer.received.includes("transfer-encoding: chunked")) assert(body.endsWith("0\r\n\r\n"), `round ${round}`);
    }
  });
}

test("[security 14] a head with a byte above 127 at any place gets status 400 and is no error of the server", async () => {
  await using served = await serving({}, echo);
  const head = `GET /a?b=c HTTP/1.1\r\nHost: a\r\nUser-Agent: kubectl\r\nImpersonate-User: jane\r\n${close}\r\n`;
  for (let round = 0; round < 200; round++) {
    const at = below(head.length - 4);
    const text = head.slice(0, at) + String.fromCharCode(128 + below(128)) + head.slice(at);
    const response = await statusOf(served.server.port, text);
    assertEquals(response, "400", JSON.stringify(text));
  }
  assertEquals(served.errors, []);
});

async function statusOf(port: number, text: string): Promise<string> {
  using peer = await rawPeer(port);
  peer.send(text);
  await until(() => peer.received.includes("\r\n\r\n"), `a response to ${JSON.stringify(text)}`);
  return peer.received.slice("HTTP/1.1 ".length, "HTTP/1.1 ".length + 3);
}

test("[security 13] the body of a client that the server does not know is not read", async () => {
  let handled = 0;
  const server = await serve({
    clock: new VirtualClock(),
    onError: () => {},
    readsBody: (request) => request.headers.get("authorization") === "Bearer right",
    handler: async (request) => {
      handled++;
      const text = await request.text();
      return new Response(`got ${text.length}`, { status: text === "" ? 401 : 200 });
    },
  });
  await using _closing = server;
  for (let round = 0; round < 50; round++) {
    using peer = await rawPeer(server.port);
    peer.send(unfinishedBody(1 + below(1_000_000)));
    await until(() => peer.received.startsWith("HTTP/1.1 401"), "the response");
    await until(() => peer.isClosed, "the end of the connection");
  }
  assertEquals(handled, 50);
  assertStringIncludes(
    await responseTo(server.port, `${post}${close}Authorization: Bearer right\r\nContent-Length: 2\r\n\r\nok`),
    "got 2",
  );
});
