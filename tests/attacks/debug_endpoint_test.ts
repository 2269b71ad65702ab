/**
 * Attacks on the debug endpoint, over sockets: a generator mixes methods, paths, hosts, credentials and queries; clients that
 * follow the recording and do not read; profiles at once; and listeners that other machines could reach.
 *
 * The rules: only a GET with the token, of the right host and of no web page, gets anything but a refusal; no request is an error
 * of the server or holds memory that grows with what the process does; when all clients have gone, nothing of them is left.
 */
import { drain, seededRandom, VirtualClock } from "../../src/async/mod.ts";
import { UsageError } from "../../src/cli/flags/mod.ts";
import { Session } from "../../src/cli/command/mod.ts";
import { debugListener } from "../../src/cli/run/debug_listener.ts";
import type { ServingFlags } from "../../src/cli/run/run_flags.ts";
import { TestProcess } from "../../src/cli/testing/test_process.ts";
import { debugEndpoints, debugStateOf, serveEndpoints } from "../../src/manager/mod.ts";
import { createTestManager, greeter, namespace } from "../../src/manager/testing/test_manager.ts";
import { MetricsRegistry, type NewEntry, Recording } from "../../src/observe/mod.ts";
import { serve, type ServeLimits } from "../../src/runtime/mod.ts";
import { type RawPeer, rawPeer } from "../../src/runtime/testing/raw_peer.ts";
import { assert, assertEquals, assertMatch, assertRejects, assertThrows, test } from "../testing.ts";
import { until } from "../until.ts";

const token = "t0ken-of-the-attacks-0123456789";
/** The name of an object that only a permitted answer may contain. */
const secretName = "hidden-shop";
const note = (text: string): NewEntry => ({ kind: "note", actor: "test", what: text, causes: [] });

/** A debug endpoint on a socket, of a Manager that has reconciled one object. */
async function attacked(options: { readonly maxBytes?: number; readonly limits?: Partial<ServeLimits> } = {}) {
  const { maxBytes = 1024 * 1024, limits = {} } = options;
  const recording = new Recording({ now: () => 0, maxBytes });
  const manager = createTestManager([greeter()], { recorder: recording });
  manager.cluster.put(`/api/v1/namespaces/${secretName}`, namespace(secretName));
  void manager.start();
  await manager.until(() => manager.cluster.writes.length > 0 && manager.manager.isIdle());
  const clock = new VirtualClock();
  const errors: unknown[] = [];
  let followers = 0;
  let entriesRead = 0;
  // What the endpoint takes of the recording is counted.
  const counted = {
    get lastId() {
      return recording.lastId;
    },
    get dropped() {
      return recording.dropped;
    },
    get bytes() {
      return recording.bytes;
    },
    find: (id: number) => recording.find(id),
    entries(after?: number, limit?: number) {
      const entries = recording.entries(after, limit);
      entriesRead += entries.length;
      return entries;
    },
    subscribe(listener: Parameters<Recording["subscribe"]>[0]) {
      followers++;
      const subscription = recording.subscribe(listener);
      return { [Symbol.dispose]: () => (followers--, subscription[Symbol.dispose]()) };
    },
  };
  const handler = debugEndpoints({
    ...{ state: debugStateOf(manager.manager), recording: counted, token, isLoopback: true, clock },
  });
  const server = await serve({
    handler,
    readsBody: () => false,
    clock,
    limits,
    onError: (error) => errors.push(error),
  });
  return {
    ...{ recording, clock, errors, server, port: server.port },
    get followers() {
      return followers;
    },
    get entriesRead() {
      return entriesRead;
    },
    async [Symbol.asyncDispose]() {
      await server.close();
      await manager[Symbol.asyncDispose]();
    },
  };
}

type Attacked = Awaited<ReturnType<typeof attacked>>;

/** The head of a request. */
function head(path: string, fields: Readonly<Record<string, string>> = {}, method = "GET"): string {
  const all: Record<string, string> = { host: "127.0.0.1", authorization: `Bearer ${token}`, ...fields };
  return `${method} ${path} HTTP/1.1\r\n${
    Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`).join("")
  }\r\n`;
}

const closing = { connection: "close" };
const live = { accept: "text/event-stream" };

/** Sends one request on a connection of its own. @returns all that came back */
async function answerTo(port: number, request: string): Promise<string> {
  using peer = await rawPeer(port);
  peer.send(request);
  await until(() => peer.isClosed, `the answer to ${request.slice(0, 200)}`);
  return peer.received;
}

function statusOf(answer: string): number {
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1]);
}

/** Waits for what happens at the latest when a time limit of the server is over. */
async function eventually(target: Attacked, condition: () => boolean, what: string): Promise<void> {
  // A client that closes its half still gets its answer for 2 s.
  await until(() => condition() || (target.clock.advance(2_500) !== undefined && condition()), what);
}

/** Everything has gone: connections, followers, timers. */
async function assertNothingLeft(target: Attacked): Promise<void> {
  await eventually(
    target,
    () => target.server.connections === 0 && target.followers === 0,
    "the end of all connections",
  );
  assertEquals([target.clock.pendingTimers, target.errors], [0, []]);
}

const random = seededRandom(130);
const pick = <T>(list: readonly T[]): T => list[Math.floor(random.next() * list.length)] as T;

const paths = [
  "/debug/controllers",
  "/debug/queues",
  "/debug/caches",
  "/debug/keys",
  "/debug/keys?state=waiting&limit=1",
  "/debug/recording",
  "/debug/why?kind=ns&key=hidden-shop",
] as const;

/** Paths that are none of the endpoint's, but look like them. */
const oddPaths = [
  "/debug",
  "/debug/",
  "/debug/queues/",
  "/debug//queues",
  "//debug/queues",
  "/DEBUG/QUEUES",
  "/debug/%71ueues",
  "/debug/queues%00",
  "/debug/%2e%2e/metrics",
  "/__proto__",
  "/constructor",
  "/toString",
  "/debug/heap/..;/queues",
  "/metrics",
  "/favicon.ico",
] as const;

const wrongTokens = [
  "",
  "Bearer",
  "Bearer ",
  `Bearer  ${token} x`,
  `Bearer ${token.slice(0, -1)}`,
  `Bearer ${token}x`,
  `Bearer ${token.toUpperCase()}`,
  `Bearer "${token}"`,
  `Bearer ${token},Bearer ${token}`,
  `Bearer\t${token}`,
  `Basic ${btoa(`admin:${token}`)}`,
  `Token ${token}`,
  token,
  `Bearer ${token}${"x".repeat(8_000)}`,
  `Bearer ${"x".repeat(4_096)}`,
  `Bearer ${encodeURIComponent(token)}%00`,
] as const;

const rightTokens = [`Bearer ${token}`, `bearer ${token}`, `BEARER   ${token}`] as const;
const rightHosts = ["127.0.0.1", "localhost", "LOCALHOST:8082", "[::1]:8082", "127.8.9.10:1"] as const;
const wrongHosts = [
  "evil.example",
  "127.0.0.1.evil.example",
  "localhost.evil.example:8082",
  "evil.example:127.0.0.1",
  "10.0.0.1:8082",
  "0.0.0.0:8082",
  "[::]:8082",
  "127.0.0.1:80:81",
  "169.254.169.254",
  "localhost@evil.example",
] as const;
const otherPages = [
  { origin: "https://evil.example" },
  { origin: "null" },
  { origin: "http://127.0.0.1:8082" },
  { "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image" },
  { "sec-fetch-site": "same-site", "sec-fetch-mode": "cors", "sec-fetch-dest": "empty" },
  { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe" },
] as const;

test("[security 29] of random requests, only those with all rights get an answer, whatever is wrong with the others", async () => {
  await using target = await attacked();
  const counts = { granted: 0, refused: 0 };
  for (let round = 0; round < 600; round++) {
    const flaws = new Set<string>();
    const flawed = <T>(name: string, right: T, wrong: () => T): T => {
      if (random.next() > 0.15) return right;
      flaws.add(name);
      return wrong();
    };
    const path = flawed("path", pick<string>(paths), () => pick(oddPaths));
    const method = flawed(
      "method",
      "GET",
      () => pick(["HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "get"]),
    );
    const fields = {
      ...closing,
      host: flawed("host", pick<string>(rightHosts), () => pick(wrongHosts)),
      authorization: flawed("token", pick<string>(rightTokens), () => pick(wrongTokens)),
      ...flawed<Readonly<Record<string, string>>>("origin", {}, () => pick(otherPages)),
    };
    const answer = await answerTo(target.port, head(path, fields, method));
    const what = JSON.stringify({ method, path, ...fields });
    if (flaws.size === 0) {
      assertEquals(statusOf(answer), 200, what);
      counts.granted++;
    } else {
      assert([400, 401, 403, 404, 405, 501].includes(statusOf(answer)), `${statusOf(answer)} ${what}`);
      if (flaws.has("token") || flaws.has("host") || flaws.has("origin")) assert(!answer.includes(secretName), what);
      counts.refused++;
    }
    assert(!answer.includes(token), what);
    // What the server itself refuses as no request of HTTP/1.1 says nothing of the process.
    assertMatch(answer, /\r\ncache-control: no-store\r\n|\r\n\r\nCannot serve request: [^\r\n]*\n$/i);
  }
  assert(counts.granted > 100 && counts.refused > 100, JSON.stringify(counts));
  await assertNothingLeft(target);
});

test("[security 29] a token is compared as a digest of one length, whatever was sent, and only after the cheap checks", async () => {
  await using target = await attacked();
  const digested: number[] = [];
  const { subtle } = crypto;
  const digest = subtle.digest.bind(subtle);
  subtle.digest = (algorithm, data) => (digested.push(data.byteLength), digest(algorithm, data));
  try {
    for (const authorization of wrongTokens) {
      await answerTo(target.port, head("/debug/queues", { ...closing, authorization }));
    }
    assertEquals(digested.length, wrongTokens.length, "each is compared, also an empty one");
    await answerTo(target.port, head("/debug/queues", { ...closing, host: "evil.example" }));
    await answerTo(target.port, head("/debug/queues", closing, "POST"));
    assertEquals(digested.length, wrongTokens.length);
    assert(Math.max(...digested) <= 4_096 + 64, `${Math.max(...digested)}`);
  } finally {
    subtle.digest = digest;
  }
});

test("[security 29] questions of any size and shape are answered in bounds, and never by an error of the server", async () => {
  await using target = await attacked();
  const words = [
    "",
    "\u0000",
    "../..",
    "__proto__",
    "constructor",
    "*",
    "(",
    "[a-",
    "é",
    "🙂",
    "a/b/c/d",
    "\u202e",
    "x".repeat(500),
  ];
  for (let round = 0; round < 300; round++) {
    const word = () => encodeURIComponent(pick(words));
    const path = pick([
      () => `/debug/why?kind=${word()}&key=${word()}`,
      () => `/debug/why?kind=ns&key=${word()}&namespace=${word()}&not`,
      () => `/debug/why?kind=ns&key=${secretName}&limit=${word()}`,
      () => `/debug/keys?state=${word()}&limit=${word()}&continue=${word()}`,
      () => `/debug/keys?continue=${btoa(JSON.stringify([pick(["a", 1, null]), {}])).replaceAll("=", "")}`,
      () => `/debug/recording?after=${pick(["-1", "1e9", "1e400", "NaN", "0x10", " ", word()])}`,
      () => `/debug/cpu?seconds=${pick(["0", "-1", "61", "Infinity", "NaN", "1e400", "x"])}`,
    ])();
    const answer = await answerTo(target.port, head(path, closing));
    assert([200, 400, 404].includes(statusOf(answer)), `${statusOf(answer)} ${path}`);
  }
  const many = `/debug/keys?${"state=failing&".repeat(500)}limit=1`;
  assertEquals(statusOf(await answerTo(target.port, head(many, closing))), 200);
  assertEquals(statusOf(await answerTo(target.port, head(`/debug/keys?a=${"x".repeat(9_000)}`, closing))), 414);
  const body = head("/debug/queues", { ...closing, "content-length": "100000" });
  // A body is not read, and ends its connection.
  const bodied = await answerTo(target.port, `${body}${head("/debug/queues")}`);
  assertEquals(bodied.split("HTTP/1.1 200").length - 1, 1, bodied);
  await assertNothingLeft(target);
});

test("[security 29] of 200 clients that follow the recording few get it, others get an answer at once, and all can leave", async () => {
  await using target = await attacked();
  const peers: RawPeer[] = [];
  for (let count = 0; count < 200; count++) {
    const peer = await rawPeer(target.port);
    peer.send(head("/debug/recording", live));
    peers.push(peer);
    await until(() => peer.isClosed || peer.received.includes("\r\n\r\n"), "an answer");
  }
  const statuses = peers.map(({ received }) => statusOf(received));
  assertEquals(statuses.filter((status) => status === 200).length, 16);
  assertEquals(statuses.filter((status) => status !== 200 && status !== 503), []);
  assert(
    target.followers <= 16 && target.server.connections <= 100,
    `${target.followers} ${target.server.connections}`,
  );
  assertEquals(statusOf(await answerTo(target.port, head("/debug/queues", closing))), 200);
  for (const peer of peers) peer[Symbol.dispose]();
  await assertNothingLeft(target);
  using again = await rawPeer(target.port);
  again.send(head("/debug/recording", live));
  await until(() => again.received.includes("text/event-stream"), "a place that has become free");
});

test("[security 29] a follower that does not read costs a bounded part of the recording, and is ended", async () => {
  await using target = await attacked({ maxBytes: 16 * 1024 * 1024 });
  using peer = await rawPeer(target.port);
  peer.setReading(false);
  peer.send(head("/debug/recording", live));
  await until(() => target.followers === 1, "the follower");
  const text = "x".repeat(2_000);
  for (let count = 0; count < 50_000; count++) {
    target.recording.record(note(text));
    if (count % 500 === 0) await drain();
  }
  for (let turn = 0; turn < 200; turn++) await until(() => true, "a turn");
  // What the system buffers on its own for a connection is a few MiB of these 100.
  assert(target.entriesRead * text.length < 16 * 1024 * 1024, `${target.entriesRead} entries`);
  await until(
    () => target.followers === 0 || (target.clock.advance(5_000) !== undefined && target.followers === 0),
    "its end",
  );
  peer[Symbol.dispose]();
  await until(() => target.server.connections === 0, "the end of its connection");
  assertEquals(target.errors, []);
});

test("[security 29] a follower that leaves at any time leaves nothing", async () => {
  await using target = await attacked();
  for (let round = 0; round < 60; round++) {
    using peer = await rawPeer(target.port);
    peer.send(
      head("/debug/recording", pick<Readonly<Record<string, string>>>([live, { ...live, "last-event-id": "5" }])),
    );
    const enough = Math.floor(random.next() * 3_000);
    for (let count = 0; count < 40; count++) target.recording.record(note("x".repeat(100)));
    await until(() => peer.received.length >= enough || peer.received.includes("behind"), "some events");
    if (random.next() < 0.5) peer.reset();
  }
  await assertNothingLeft(target);
});

test("[security 29] profiles are made one at a time, and one whose client has left makes room", async () => {
  await using target = await attacked();
  const peers = await Promise.all(Array.from({ length: 12 }, async (_, index) => {
    const peer = await rawPeer(target.port);
    peer.send(head(index % 3 === 2 ? "/debug/heap" : "/debug/cpu?seconds=5", closing));
    return peer;
  }));
  await until(() => peers.filter(({ isClosed }) => isClosed).length === 11, "eleven refusals");
  for (const { received } of peers.filter(({ isClosed }) => isClosed)) {
    const isHeap = received.includes("heapsnapshot");
    assertEquals(statusOf(received), isHeap ? 200 : 429);
    if (!isHeap) assertMatch(received, /retry-after: 10/i);
  }
  for (const peer of peers) peer[Symbol.dispose]();
  await eventually(target, () => target.server.connections === 0, "the end of the connections");
  using next = await rawPeer(target.port);
  next.send(head("/debug/cpu?seconds=5", closing));
  await until(() => target.clock.pendingTimers > 0, "the next profile");
  await eventually(target, () => next.isClosed, "its end");
  assertEquals(statusOf(next.received), 200);
});

test("[security 29] a heap snapshot that is not read is the only profile until its client has gone", async () => {
  await using target = await attacked();
  using slow = await rawPeer(target.port);
  slow.setReading(false);
  slow.send(head("/debug/heap", closing));
  let refused = "";
  await until(() => {
    void answerTo(target.port, head("/debug/cpu?seconds=1", closing)).then((answer) => refused ||= answer, () => {});
    return refused !== "";
  }, "an answer");
  assertEquals(statusOf(refused), 429);
  slow.reset();
});

test("[security 29] the port of the metrics has nothing of the debug endpoint, with and without its token", async () => {
  const clock = new VirtualClock();
  await using server = await serveEndpoints({ metrics: new MetricsRegistry(), clock });
  for (const path of [...paths, "/debug/heap", "/debug/cpu"]) {
    for (const fields of [closing, { ...closing, authorization: "" }]) {
      assertEquals(statusOf(await answerTo(server.port, head(path, fields))), 404, path);
    }
  }
});

test("[security 29] an address that other machines reach needs a certificate, and no two readers share a port", async () => {
  const process = new TestProcess([], {}, { isTerminal: true });
  using session = new Session({ name: "op", controllers: [] }, process);
  await using manager = createTestManager([greeter()]);
  const parts = { state: debugStateOf(manager.manager), recording: new Recording({ now: () => 0 }), session };
  const flags = { metricsBindAddress: { hostname: "127.0.0.1", port: 8080 }, healthProbeBindAddress: undefined };
  const open = (hostname: string, port: number, changes: object = {}) =>
    debugListener({ hostname, port }, { ...flags, ...changes } as unknown as ServingFlags, parts);
  for (const hostname of ["0.0.0.0", "::", "10.0.0.1", "operator.example", "127.0.0.1.evil.example"]) {
    const error = await assertRejects(open(hostname, 0), /other machines can reach it and there is no certificate/);
    assert(error instanceof UsageError);
  }
  assertThrows(() => open("127.0.0.1", 8080), /the metrics have that port/);
  assertThrows(() => open("0.0.0.0", 8080), /the metrics have that port/);
  const piped = new TestProcess([], {});
  using toLog = new Session({ name: "op", controllers: [] }, piped);
  const silent = debugListener({ hostname: "127.0.0.1", port: 0 }, flags as unknown as ServingFlags, {
    ...parts,
    session: toLog,
  });
  await assertRejects(silent, /it has no token, and a new one would be shown where it is stored/);
  assertEquals(piped.out + piped.err, "");
});
