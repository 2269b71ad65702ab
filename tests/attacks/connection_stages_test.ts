/**
 * Attacks by connections: a generator opens connections that stop at each stage (before TLS, in the head, in the body, after
 * many requests at once, before the response is read, after their half is closed, by a reset).
 *
 * The rules: at every stage a connection has a time limit and can be replaced, so a good client that comes last gets its
 * response; one connection with many requests does not delay the others; when all have gone, no connection and no timer
 * stays.
 */
import { seededRandom, VirtualClock } from "../../src/async/mod.ts";
import { nextTurn, serve, type ServeHandler, type ServeLimits } from "../../src/runtime/mod.ts";
import { issueCertificates } from "../../src/webhook/mod.ts";
import { type RawPeer, rawPeer } from "../../src/runtime/testing/raw_peer.ts";
import { assert, assertEquals, assertStringIncludes, test } from "../testing.ts";
import { until } from "../until.ts";

const random = seededRandom(14);
const below = (count: number) => Math.floor(random.next() * count);

async function serving(
  handler: ServeHandler,
  { isTls = false, ...limits }: Partial<ServeLimits> & { isTls?: boolean },
) {
  const errors: unknown[] = [];
  const clock = new VirtualClock();
  const tls = isTls ? await issueCertificates({ hosts: ["localhost"], now: 0, lifetimeMs: 1e12 }) : undefined;
  const server = await serve({ limits, handler, tls, clock, onError: (error) => errors.push(error) });
  return { server, errors, clock, [Symbol.asyncDispose]: () => server.close() };
}

const get = "GET /v HTTP/1.1\r\nHost: a\r\n";
const post = "POST /v HTTP/1.1\r\nHost: a\r\n";
const close = "Connection: close\r\n";

const echo: ServeHandler = async (request) => {
  const text = await request.text();
  return new Response(new URL(request.url).pathname === "/large" ? "z".repeat(3_000_000) : `got ${text.length}`);
};

/** What a connection sends before it goes silent, by stage. */
const stages: Readonly<Record<string, () => string>> = {
  "before its first byte": () => "",
  "in the head": () => get.slice(0, 1 + below(get.length - 1)),
  "in the body": () => `${post}Content-Length: 1000\r\n\r\n${"x".repeat(below(1000))}`,
  "in a chunk": () => `${post}Transfer-Encoding: chunked\r\n\r\n${"5\r\nhello\r\n".repeat(below(5))}5\r\nhel`,
  "before its next request": () => `${get}\r\n`,
  "before it reads its response": () => "GET /large HTTP/1.1\r\nHost: a\r\n\r\n".repeat(5),
};

async function goodResponse(port: number, isTls: boolean): Promise<string> {
  using peer = await rawPeer(port, { isTls });
  peer.send(`${post}${close}Content-Length: 2\r\n\r\nok`);
  await until(() => peer.isClosed, "the good response");
  return peer.received;
}

for (const isTls of [false, true]) {
  const scheme = isTls ? "https" : "http";
  for (const [stage, textOf] of Object.entries(stages)) {
    test(`[security 13] connections over ${scheme} that stop ${stage} do not lock out a good one, and end`, async () => {
      const maxConnections = 6;
      await using served = await serving(echo, { maxConnections, isTls });
      const { server, clock } = served;
      const peers: RawPeer[] = [];
      for (let count = 0; count < 2 * maxConnections; count++) {
        // Half of those that send nothing do not even begin the handshake.
        const peer = await rawPeer(server.port, {
          isTls: isTls && (stage !== "before its first byte" || count % 2 === 0),
        });
        if (stage === "before it reads its response") peer.setReading(false);
        peer.send(textOf());
        peers.push(peer);
      }
      for (let turn = 0; turn < 100; turn++) await nextTurn();
      assert(server.connections <= maxConnections, `${server.connections} connections`);
      assertStringIncludes(await goodResponse(server.port, isTls), "got 2");
      const isOver = () => server.connections === 0 && clock.pendingTimers === 0;
      await until(() => isOver() || (clock.advance(95_000) !== undefined && isOver()), "the end of the connections");
      for (const peer of peers) peer[Symbol.dispose]();
      assertEquals(served.errors, []);
    });
  }

  test(`a client that closes its half after the request gets its response over ${scheme}`, async () => {
    for (let round = 0; round < 12; round++) {
      const turns = below(20), sizeBytes = below(2_000_000);
      await using served = await serving(async () => {
        for (let turn = 0; turn < turns; turn++) await nextTurn();
        return new Response("z".repeat(sizeBytes));
      }, { isTls });
      using peer = await rawPeer(served.server.port, { isTls });
      const count = 1 + below(3);
      peer.end(`${get}\r\n`.repeat(count));
      await until(() => peer.isClosed, "the end");
      assertEquals(peer.received.split("HTTP/1.1 200").length - 1, count, `round ${round}`);
      assertEquals(peer.received.replaceAll(/[^z]/g, "").length, count * sizeBytes, `round ${round}`);
      await until(() => served.server.connections === 0, "the connection to end");
      assertEquals(served.clock.pendingTimers, 0);
    }
  });

  test(`a reset while the response is sent leaves nothing over ${scheme}`, async () => {
    let cancelled = 0, aborted = 0, started = 0;
    await using served = await serving((request) => {
      started++;
      request.signal.addEventListener("abort", () => aborted++);
      const part = new Uint8Array(1 + below(100_000));
      return new Response(
        new ReadableStream({ pull: (stream) => stream.enqueue(part.slice()), cancel: () => void cancelled++ }),
      );
    }, { isTls });
    for (let round = 1; round <= 20; round++) {
      using peer = await rawPeer(served.server.port, { isTls });
      peer.send(`${get}\r\n`);
      await until(() => peer.received.length > below(300_000), "some bytes");
      peer.reset();
      await until(() => served.server.connections === 0, "the connection to end");
    }
    await until(() => cancelled === 20 && aborted === 20, "the cancellations");
    assertEquals(started, 20);
    assertEquals(served.clock.pendingTimers, 0);
    assertEquals(served.errors, []);
  });
}

test("[security 13] a connection with thousands of requests at once takes turns with the others", async () => {
  let handled = 0;
  await using served = await serving(() => {
    handled++;
    return new Response("ok", { headers: { "content-length": "2" } });
  }, {});
  using greedy = await rawPeer(served.server.port);
  using other = await rawPeer(served.server.port);
  greedy.send(`${get}\r\n`.repeat(2_000));
  await until(() => handled > 0, "the first request");
  other.send(`${get}\r\n`);
  await until(() => other.received.includes("ok"), "the response to the other");
  assert(handled < 1_000, `${handled} requests were handled before`);
  await until(() => greedy.received.split("HTTP/1.1 200").length - 1 === 2_000, "all responses");
});

test("a request with an empty chunked body leaves the next connections as they are", async () => {
  await using served = await serving(echo, {});
  const empty = `${post}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`;
  for (let round = 0; round < 3; round++) {
    using peer = await rawPeer(served.server.port);
    peer.send(empty + `${post}Content-Length: 0\r\n\r\n` + empty + `${post}${close}Content-Length: 2\r\n\r\nok`);
    await until(() => peer.isClosed, "the responses");
    assertEquals([...peer.received.matchAll(/got (\d)/g)].map(([, length]) => length), ["0", "0", "0", "2"]);
  }
  assertEquals(served.errors, []);
});

test("a body that comes in chunks reaches the handler with its length", async () => {
  const lengths: (string | null)[] = [];
  await using served = await serving(async (request) => {
    lengths.push(request.headers.get("content-length"), request.headers.get("transfer-encoding"), await request.text());
    return new Response("ok");
  }, {});
  using peer = await rawPeer(served.server.port);
  peer.send(`${post}${close}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n`);
  await until(() => peer.isClosed, "the response");
  assertEquals(lengths, ["5", null, "abcde"]);
});

test("[security 14] HTTP/1.0 is refused with a complete response", async () => {
  await using served = await serving(echo, {});
  using peer = await rawPeer(served.server.port);
  peer.send("GET /large HTTP/1.0\r\n\r\n");
  await until(() => served.clock.advance(1_000) !== undefined && peer.isClosed, "the end");
  assertStringIncludes(peer.received, "HTTP/1.1 505");
  assert(peer.received.endsWith("the version is not HTTP/1.1\n"), peer.received);
});
