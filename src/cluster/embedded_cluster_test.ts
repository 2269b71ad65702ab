/** Tests of the start, and of the transport that lets sockets be served between requests. */
import * as tls from "node:tls";
import { VirtualClock } from "../async/mod.ts";
import { assertEquals, assertRejects, test } from "../../tests/testing.ts";
import { until } from "../../tests/until.ts";
import { builtin } from "../api/mod.ts";
import { Client } from "../client/mod.ts";
import { controller, done } from "../controller/mod.ts";
import { http2Peer, requestFrame, type RequestParts } from "../runtime/testing/http2_peer.ts";
import { EmbeddedCluster, yieldingTransport } from "./embedded_cluster.ts";

function setUp() {
  const clock = new VirtualClock();
  const received: string[] = [];
  const transport = yieldingTransport((request) => {
    received.push(new URL(request.url).pathname);
    return Promise.resolve(new Response());
  }, clock);
  return { clock, received, send: (path: string) => transport(new Request(`http://in.memory${path}`)) };
}

/** Runs everything that needs microtasks only. */
async function microtasks(): Promise<void> {
  for (let count = 0; count < 20; count++) await Promise.resolve();
}

test("yieldingTransport() sends a request at once when the event loop has turned recently", async () => {
  const { clock, received, send } = setUp();
  await clock.advance(3);
  const response = send("/a");
  await microtasks();
  assertEquals(received, ["/a"]);
  await response;
});

test("yieldingTransport() lets the event loop turn after 4 ms, and then sends the requests in their order", async () => {
  const { clock, received, send } = setUp();
  await clock.advance(4);
  const responses = [send("/a"), send("/b")];
  await microtasks();
  assertEquals(received, []);
  await Promise.all(responses);
  assertEquals(received, ["/a", "/b"]);
  const next = send("/c");
  await microtasks();
  assertEquals(received, ["/a", "/b", "/c"], "the event loop has turned");
  await next;
});

test("start() resolves when all nodes exist and are ready for Pods", async () => {
  await using cluster = await EmbeddedCluster.start({ nodes: 40, onError: fail });
  const nodes = await cluster.client.list(builtin.Node);
  assertEquals(nodes.items.length, 40);
  for (const { spec, status } of nodes.items) {
    assertEquals([spec?.taints, status?.conditions?.find(({ type }) => type === "Ready")?.status], [undefined, "True"]);
  }
});

test("start() creates no nodes without workloads", async () => {
  await using cluster = await EmbeddedCluster.start({ nodes: 40, workloads: false, onError: fail });
  assertEquals((await cluster.client.list(builtin.Node)).items.length, 0);
});

test("a client without the token gets 401 before it has sent its body", async () => {
  await using cluster = await EmbeddedCluster.start({ nodes: 0, onError: fail });
  const { port } = new URL(cluster.url);
  const socket = tls.connect({ host: "127.0.0.1", port: Number(port), rejectUnauthorized: false });
  const received = new Promise<string>((resolve, reject) => {
    socket.once("data", (bytes: Uint8Array) => resolve(new TextDecoder().decode(bytes)));
    socket.once("error", reject);
  });
  socket.write("POST /api/v1/namespaces HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3000000\r\n\r\n{");
  assertEquals((await received).split(" ")[1], "401");
  await new Promise((resolve) => socket.once("close", resolve).end());
});

test("[security 15] the authority of a request over HTTP/2 is checked as the Host of HTTP/1.1 is", async () => {
  await using cluster = await EmbeddedCluster.start({ nodes: 0, onError: fail });
  using peer = await http2Peer(Number(new URL(cluster.url).port));
  const own = new URL(cluster.url).host;
  const cases: readonly (readonly [status: string, parts: RequestParts])[] = [
    ["401", { path: "/api", authority: own }],
    ["403", { path: "/api", authority: "rebound.example.com" }],
    ["403", { path: "/api", authority: own, fields: [["origin", "https://page.example.com"]] }],
  ];
  for (const [index, [status, parts]] of cases.entries()) {
    const streamId = 2 * index + 1;
    peer.send(requestFrame(streamId, parts));
    await until(() => peer.hasEnded(streamId), "the response");
    assertEquals(peer.statusOf(streamId), status);
  }
});

function fail(error: unknown): never {
  throw error;
}

test("[security 7] a Manager of the cluster, and each of its controllers, may do what is declared, in its namespaces", async () => {
  const { ConfigMap, Secret } = builtin;
  const keeper = controller("keeper").for(ConfigMap).reconcile(() => Promise.resolve(done));
  const options = { controllers: [keeper], namespaces: ["shop"], workloads: false, onError: console.error };
  await using cluster = await EmbeddedCluster.start(options);
  const { client, transportFor = (_, transport) => transport } = cluster.managerOptions;
  const own: Client = client.withTransport((transport) => transportFor("keeper", transport));
  assertEquals((await own.list(ConfigMap, { namespace: "shop" })).items, []);
  await assertRejects(
    () => own.list(ConfigMap),
    /controller "keeper" may list configmaps in the namespace "shop" only/,
  );
  await assertRejects(() => own.list(Secret, { namespace: "shop" }), /Declare \.uses\(Secret, \["list"\]\)/);
  await assertRejects(() => client.list(Secret), /no controller of "pintle-dev" declared list on secrets/);
  assertEquals((await cluster.client.list(Secret)).items, []);
});
