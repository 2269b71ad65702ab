/** Tests of WebSockets of the server, over a socket and on every runtime, with a virtual clock on the side of the server. */
import { assert, assertEquals, test } from "../../../tests/testing.ts";
import { until } from "../../../tests/until.ts";
import { VirtualClock } from "../../async/mod.ts";
import { httpClient, serve, type ServeLimits, WebSocketConnection, type Wire } from "../../runtime/mod.ts";
import { kubernetesApi } from "../mod.ts";

const maps = "/api/v1/namespaces/default/configmaps";
const utf8 = (bytes: Uint8Array | undefined) => new TextDecoder().decode(bytes);
const key = "dGhlIHNhbXBsZSBub25jZQ==";
const handshake = {
  connection: "Upgrade",
  upgrade: "websocket",
  "sec-websocket-version": "13",
  "sec-websocket-key": key,
};

class Site implements AsyncDisposable {
  readonly clock = new VirtualClock();
  readonly errors: unknown[] = [];
  readonly #client = httpClient();
  /** What is open, in the order of its opening. Node 22 has no AsyncDisposableStack. */
  readonly #open: AsyncDisposable[] = [];
  readonly api = kubernetesApi({ clock: this.clock, onError: (error) => this.errors.push(error) }).server;
  url = "";

  static async start(limits: Partial<ServeLimits> = {}): Promise<Site> {
    const site = new Site();
    const handler = (request: Request) => site.api.fetch(request);
    const { clock, errors } = site;
    const server = await serve({ handler, limits, clock, onError: (error) => errors.push(error) });
    site.#open.push(server);
    site.url = `http://127.0.0.1:${server.port}`;
    return site;
  }

  async create(name: string): Promise<void> {
    await this.post(maps, { metadata: { name } });
  }

  async post(path: string, object: object): Promise<void> {
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify(object);
    const response = await this.api.fetch(new Request(`http://in.memory${path}`, { method: "POST", headers, body }));
    assertEquals(response.status, 201, await response.text());
  }

  async open(path: string, headers: Readonly<Record<string, string>> = {}) {
    const accept = { accept: headers["accept"] ?? "application/json" };
    const request = new Request(`${this.url}${path}`, { headers: accept });
    return await this.#client.upgrade(request, { ...handshake, origin: this.url, ...headers });
  }

  async socket(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Opened> {
    const answer = await this.open(path, headers);
    if (answer.kind === "refused") {
      throw new Error(`refused: ${answer.response.status} ${await answer.response.text()}`);
    }
    const { wire } = answer;
    const socket = new WebSocketConnection(wire, {
      side: "client",
      action: "test",
      protocol: "",
      clock: new VirtualClock(),
      lost: (state) => new Error(state),
    });
    return { socket, wire, headers: answer.headers };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#client.close();
    this.api[Symbol.dispose]();
    for (const one of this.#open.toReversed()) await one[Symbol.asyncDispose]();
    assertEquals(this.errors, []);
  }
}

interface Opened {
  readonly socket: WebSocketConnection;
  readonly wire: Wire;
  readonly headers: Headers;
}

test("a watch by WebSocket gets each event as a text message, and proves the handshake", async () => {
  await using site = await Site.start();
  await site.create("a");
  await site.create("b");
  const { socket, headers } = await site.socket(`${maps}?watch=1`);
  // RFC 6455, 1.3
  assertEquals(headers.get("sec-websocket-accept"), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
  const events = [await socket.receive(), await socket.receive()];
  await site.create("c");
  events.push(await socket.receive());
  assertEquals(events.map((event) => JSON.parse(utf8(event)).object.metadata.name), ["a", "b", "c"]);
  assertEquals(site.api.watches, 1);
  socket.close();
  await until(() => site.api.watches === 0, "the end of the watch");
});

test("a watch in protobuf gets each event as a binary message without its length", async () => {
  await using site = await Site.start();
  await site.create("a");
  const accept = "application/vnd.kubernetes.protobuf;stream=watch";
  const { socket } = await site.socket(`${maps}?watch=1`, { accept });
  const event = await socket.receive();
  assertEquals(utf8(event?.subarray(0, 7)), "\n\x05ADDED");
  socket.close();
});

test("a watch by WebSocket is closed in order at its timeout, and with a client that vanishes", async () => {
  await using site = await Site.start();
  const { socket } = await site.socket(`${maps}?watch=1&timeoutSeconds=5`);
  const end = socket.receive();
  await site.clock.advance(5_000);
  assertEquals([await end, socket.closeReason?.code], [undefined, 1000]);
  const vanishing = await site.socket(`${maps}?watch=1`);
  assertEquals(site.api.watches, 1);
  vanishing.wire.end();
  await until(() => site.api.watches === 0, "the end of the watch");
});

test("a watch by WebSocket whose client answers no ping ends after a minute", async () => {
  await using site = await Site.start();
  const { wire } = await site.socket(`${maps}?watch=1`);
  let hasEnded = false;
  wire.onBytes = () => {};
  wire.onEnd = () => hasEnded = true;
  await site.clock.advance(90_000);
  await until(() => hasEnded && site.api.watches === 0, "the end of the silent client");
});

test("requests for a WebSocket are refused as kube-apiserver refuses them, and open no watch", async () => {
  await using site = await Site.start();
  const refusals: Readonly<Record<string, readonly [path: string, headers: Record<string, string>, status: number]>> = {
    "no origin": [`${maps}?watch=1`, { origin: "" }, 403],
    "an old version": [`${maps}?watch=1`, { "sec-websocket-version": "8" }, 400],
    "no key": [`${maps}?watch=1`, { "sec-websocket-key": "" }, 400],
    "two protocols for a watch": [`${maps}?watch=1`, { "sec-websocket-protocol": "a, b" }, 403],
    "an unknown kind": ["/api/v1/nothing?watch=1", {}, 404],
  };
  for (const [name, [path, headers, status]] of Object.entries(refusals)) {
    const answer = await site.open(path, headers);
    assert(answer.kind === "refused", name);
    assertEquals(answer.response.status, status, name);
    assertEquals(site.api.watches, 0, name);
  }
});

test("frames of a client that are not masked, or larger than 1 MiB, end the connection", async () => {
  await using site = await Site.start();
  for (const bytes of [[0x81, 1, 65], [0x82, 0xff, 0, 0, 0, 0, 0, 0x10, 0, 1, 1, 2, 3, 4]]) {
    const { wire, socket } = await site.socket(`${maps}?watch=1`);
    await wire.write(new Uint8Array(bytes));
    let reason = "";
    await socket.receive().catch((error: unknown) => reason = String(error));
    assert(reason.includes("1002"), reason);
    await until(() => site.api.watches === 0, "the end of the watch");
  }
});

test("above the limit of switched connections a request gets 503, and its watch is not left open", async () => {
  await using site = await Site.start({ maxSwitchedConnections: 1 });
  const { socket } = await site.socket(`${maps}?watch=1`);
  const answer = await site.open(`${maps}?watch=1`);
  assertEquals(answer.kind === "refused" && answer.response.status, 503);
  assertEquals(site.api.watches, 1);
  socket.close();
  await until(() => site.api.watches === 0, "the end of the watch");
  const next = await site.socket(`${maps}?watch=1`);
  next.socket.close();
});

test("a followed log by WebSocket begins with an empty message, is base64 on demand, and ends with its client", async () => {
  await using site = await Site.start();
  const space = "/api/v1/namespaces/default";
  await site.post(`${space}/serviceaccounts`, { metadata: { name: "default" } });
  const spec = { nodeName: "a", containers: [{ name: "main", image: "example.invalid/main" }] };
  await site.post(`${space}/pods`, { metadata: { name: "web" }, spec });
  const idle = site.clock.pendingTimers;
  const path = `${space}/pods/web/log?follow=true`;
  for (const protocol of ["binary.k8s.io", "base64.binary.k8s.io"]) {
    const { socket, headers } = await site.socket(path, { "sec-websocket-protocol": `unknown, ${protocol}` });
    assertEquals(headers.get("sec-websocket-protocol"), protocol);
    assertEquals(utf8(await socket.receive()), "");
    const text = utf8(await socket.receive());
    const log = protocol.startsWith("base64") ? atob(text) : text;
    assert(log.startsWith("Pod default/web is simulated"), log);
    socket.close();
    await until(() => site.clock.pendingTimers <= idle, "the end of the log");
  }
  const refused = await site.open(path, { "sec-websocket-protocol": "unknown" });
  assertEquals(refused.kind === "refused" && refused.response.status, 403);
  await until(() => site.clock.pendingTimers <= idle, "the end of the refused log");
});
