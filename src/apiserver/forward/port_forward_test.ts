/** Tests of port-forward by each of its protocols, over sockets and on every runtime. */
import { createServer, type Socket } from "node:net";
import { assert, assertEquals, assertMatch, test } from "../../../tests/testing.ts";
import { until } from "../../../tests/until.ts";
import { systemClock, VirtualClock } from "../../async/mod.ts";
import { Client, clusterTransport } from "../../client/mod.ts";
import { accessTo } from "../../client/testing/cluster_access.ts";
import { connectTcp, fromBase64, httpClient, serve, WebSocketConnection, type Wire } from "../../runtime/mod.ts";
import { kubernetesApi } from "../mod.ts";
import { controlFrame, frameType, HeaderReader, SpdyError, wordsOf } from "./spdy_frames.ts";
import { loopbackAddress } from "./stand_ins.ts";
import { SpdyClient } from "./testing/spdy_client.ts";

const pods = "/api/v1/namespaces/default/pods";
const key = "dGhlIHNhbXBsZSBub25jZQ==";

class Site implements AsyncDisposable {
  readonly clock = new VirtualClock();
  readonly errors: unknown[] = [];
  readonly #http = httpClient();
  /** What is open, in the order of its opening. Node 22 has no AsyncDisposableStack. */
  readonly #open: AsyncDisposable[] = [];
  readonly #api = kubernetesApi({ clock: this.clock, onError: (error) => this.errors.push(error) });
  readonly #running: Promise<void>[] = [];
  client = new Client(() => Promise.reject(new Error("not started")));
  url = "";
  /** Connections to the program that are open. */
  served = 0;

  /** @param program what stands in for the port 80 of the Pod `web` */
  static async start(program: (socket: Socket) => void): Promise<Site> {
    const site = new Site();
    const { clock, errors } = site;
    const port = await site.#listen(program);
    const handler = (request: Request) => site.#api.server.fetch(request);
    const server = await serve({ handler, clock, onError: (error) => errors.push(error) });
    site.#open.push(server);
    site.url = `http://127.0.0.1:${server.port}`;
    const transport = clusterTransport(accessTo(site.url, {}), { clock: systemClock });
    site.#open.push({ [Symbol.asyncDispose]: () => Promise.resolve(transport[Symbol.dispose]()) });
    site.client = new Client(transport, { clock: systemClock });
    await site.send("POST", "/api/v1/namespaces/default/serviceaccounts", { metadata: { name: "default" } });
    const annotations = { "pintle.dev/serves": `80=127.0.0.1:${port}, 81=192.0.2.1:80, 82=localhost:1` };
    await site.send("POST", pods, {
      metadata: { name: "web", annotations },
      spec: { nodeName: "a", containers: [{ name: "main", image: "example.invalid/main" }] },
    });
    await site.phase("Running");
    return site;
  }

  async #listen(program: (socket: Socket) => void): Promise<number> {
    const sockets = new Set<Socket>();
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      this.served++;
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        this.served--;
        sockets.delete(socket);
      });
      program(socket);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    this.#open.push({
      async [Symbol.asyncDispose]() {
        const closed = new Promise((resolve) => server.close(resolve));
        for (const socket of sockets) socket.destroy();
        await closed;
      },
    });
    const address = server.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  }

  async phase(phase: string): Promise<void> {
    await this.send("PATCH", `${pods}/web/status`, { status: { phase, podIP: "10.1.2.3" } });
  }

  async send(method: string, path: string, body?: object): Promise<{ readonly status: number; readonly text: string }> {
    const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
    const init = body === undefined ? {} : { headers: { "content-type": type }, body: JSON.stringify(body) };
    const response = await this.#api.server.fetch(new Request(`http://in.memory${path}`, { method, ...init }));
    return { status: response.status, text: await response.text() };
  }

  async upgrade(query: string, headers: Readonly<Record<string, string>>) {
    const request = new Request(`${this.url}${pods}/web/portforward${query}`);
    return await this.#http.upgrade(request, { connection: "Upgrade", ...headers });
  }

  /** A client of SPDY, with or without a WebSocket. */
  async spdy(isTunnelled: boolean): Promise<SpdyClient> {
    const tunnel = { "sec-websocket-protocol": "SPDY/3.1+portforward.k8s.io", "sec-websocket-version": "13" };
    const answer = await this.upgrade(
      "",
      isTunnelled
        ? { upgrade: "websocket", "sec-websocket-key": key, ...tunnel }
        : { upgrade: "SPDY/3.1", "x-stream-protocol-version": "portforward.k8s.io" },
    );
    if (answer.kind === "refused") {
      throw new Error(`refused: ${answer.response.status} ${await answer.response.text()}`);
    }
    const client = isTunnelled ? new SpdyClient(this.#socket(answer.wire)) : SpdyClient.over(answer.wire);
    this.#running.push(client.run().catch(() => {}));
    this.#open.push({ [Symbol.asyncDispose]: () => Promise.resolve(answer.wire.end()) });
    return client;
  }

  #socket(wire: Wire): WebSocketConnection {
    return new WebSocketConnection(wire, {
      side: "client",
      action: "test",
      protocol: "",
      clock: new VirtualClock(),
      lost: (state) => new Error(state),
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#http.close();
    this.#api.server[Symbol.dispose]();
    for (const one of this.#open.toReversed()) await one[Symbol.asyncDispose]();
    await Promise.all(this.#running);
    assertEquals(this.errors, []);
  }
}

/** Sends everything back. */
const echo = (socket: Socket) => void socket.pipe(socket);
const pairOf = (port: number, id: number) => (type: "error" | "data") => ({
  streamtype: type,
  port: `${port}`,
  requestid: `${id}`,
});

async function openPair(
  client: SpdyClient,
  port: number,
  id = 0,
): Promise<{ readonly error: number; readonly data: number }> {
  const headers = pairOf(port, id);
  return { error: await client.open(headers("error")), data: await client.open(headers("data")) };
}

for (const isTunnelled of [true, false]) {
  const how = isTunnelled ? "SPDY in a WebSocket" : "SPDY";
  test(`port-forward by ${how} carries connections side by side, and each of them ends by itself`, async () => {
    await using site = await Site.start(echo);
    const client = await site.spdy(isTunnelled);
    const [first, second] = [await openPair(client, 80, 0), await openPair(client, 80, 1)];
    await client.write(first.data, "one");
    await client.write(second.data, "two");
    await until(
      () => client.stream(first.data).text === "one" && client.stream(second.data).text === "two",
      "the echo",
    );
    assert(client.stream(first.error).isOpen && client.stream(second.data).isOpen);
    await client.send(controlFrame(frameType.rstStream, wordsOf(first.data, 5)));
    await until(() => site.served === 1, "the end of the first connection");
    await client.write(second.data, "!");
    await until(() => client.stream(second.data).text === "two!", "the echo after it");
    await client.send(controlFrame(frameType.ping, wordsOf(7)));
    await until(() => client.pings.includes(7), "the ping");
  });

  test(`port-forward by ${how} reports a port that nothing serves, and other ports stay`, async () => {
    await using site = await Site.start(echo);
    const client = await site.spdy(isTunnelled);
    const kept = await openPair(client, 80, 0);
    const reasons: Readonly<Record<number, RegExp>> = {
      81:
        /^error forwarding port 81 to pod web_default, uid \S+: .*connection refused .*192\.0\.2\.1:80.* no port on loopback/,
      82:
        /^error forwarding port 82 to pod web_default, uid \S+: dial tcp 127\.0\.0\.1:1: connect: connection refused$/,
      83: /10\.1\.2\.3:83: connect: connection refused \(the Pod is simulated, .*does not name the port 83/,
    };
    for (const [port, reason] of Object.entries(reasons)) {
      const { error, data } = await openPair(client, Number(port), Number(port));
      await until(() => client.stream(error).hasEnded && client.stream(data).hasEnded, "the error");
      assertMatch(client.stream(error).text, reason);
    }
    await client.write(kept.data, "still");
    await until(() => client.stream(kept.data).text === "still", "the echo");
  });
}

test("a client that ends its half of a connection by SPDY still gets the answer, and then the end", async () => {
  // The program answers when it has read everything, as `wc` does.
  await using site = await Site.start((socket) => {
    let bytes = 0;
    socket.on("data", (chunk: Uint8Array) => bytes += chunk.length);
    socket.on("end", () => socket.end(`${bytes} bytes`));
  });
  const client = await site.spdy(true);
  const { error, data } = await openPair(client, 80);
  await client.write(data, "a", false);
  await client.write(data, "b", true);
  await until(() => client.stream(data).hasEnded && client.stream(error).hasEnded, "the end");
  assertEquals([client.stream(data).text, client.stream(error).text], ["2 bytes", ""]);
});

test("streams that are no pair are refused, and one that stays alone for 30 s is given up", async () => {
  await using site = await Site.start(echo);
  const client = await site.spdy(true);
  const others: readonly Record<string, string>[] = [
    {},
    { port: "80" },
    { port: "0", streamtype: "data" },
    { port: "80", streamtype: "other" },
  ];
  for (const headers of others) {
    const id = await client.open(headers);
    await until(() => client.stream(id).isReset, `the refusal of ${JSON.stringify(headers)}`);
  }
  const alone = await client.open(pairOf(80, 9)("error"));
  await until(() => client.stream(alone).isOpen, "the stream");
  await site.clock.advance(30_000);
  await until(() => client.stream(alone).hasEnded, "its end");
  assertMatch(client.stream(alone).text, /timed out waiting for streams/);
});

test("a client that breaks the rules of SPDY, or leaves, ends its connections to the program", async () => {
  await using site = await Site.start(echo);
  for (const breaking of [wordsOf(0x80020001, 0), wordsOf(1, 0xffffff), undefined]) {
    const client = await site.spdy(true);
    const { data } = await openPair(client, 80);
    await client.write(data, "x");
    await until(() => client.stream(data).text === "x", "the echo");
    if (breaking === undefined) break;
    await client.send(breaking);
    await until(() => site.served === 0, "the end of the connection to the program");
  }
});

test("port-forward by v4.channel.k8s.io carries large inputs whole, and reports a refused port", async () => {
  await using site = await Site.start(echo);
  const errors: unknown[] = [];
  const forward = await site.client.portForward("default/web", {
    port: 80,
    onError: (error) => errors.push(error),
  });
  using connection = await connectTcp(forward, new AbortController().signal);
  const input = new Uint8Array(700_000).fill(65);
  const writing = connection.write(input);
  let received = 0;
  while (received < input.length) received += (await connection.read())?.length ?? Infinity;
  await writing;
  assertEquals(received, input.length);
  await forward[Symbol.asyncDispose]();
  await until(() => site.served === 0, "the end of the connection");
  await using refused = await site.client.portForward("default/web", {
    port: 83,
    onError: (error) => errors.push(error),
  });
  using other = await connectTcp(refused, new AbortController().signal);
  assertEquals(await other.read(), undefined);
  await until(() => errors.length > 0, "the error");
  assertMatch(String(errors[0]), /error forwarding port 83 to pod web_default, .*connection refused/);
});

test("requests that cannot be a port-forward are refused before the switch", async () => {
  await using site = await Site.start(echo);
  const spdy = { upgrade: "SPDY/3.1", "x-stream-protocol-version": "portforward.k8s.io" };
  const socket = { upgrade: "websocket", "sec-websocket-key": key, "sec-websocket-version": "13" };
  const refusals: readonly (readonly [query: string, headers: Record<string, string>, status: number, text: RegExp])[] =
    [
      ["", { upgrade: "other" }, 400, /Upgrade request required/],
      ["", { ...spdy, "x-stream-protocol-version": "v9" }, 403, /client supports \[v9\], server accepts \[portforward/],
      ["", { ...socket, "sec-websocket-protocol": "v4.channel.k8s.io" }, 403, /not supported/],
      [
        "?ports=0",
        { ...socket, "sec-websocket-protocol": "v4.channel.k8s.io" },
        400,
        /unable to parse \\"0\\" as a port/,
      ],
    ];
  for (const [query, headers, status, text] of refusals) {
    const answer = await site.upgrade(query, headers);
    assert(answer.kind === "refused");
    assertEquals(answer.response.status, status);
    assertMatch(await answer.response.text(), text);
  }
  await site.phase("Pending");
  const pending = await site.upgrade("", spdy);
  assertEquals(pending.kind === "refused" && pending.response.status, 500);
  assertEquals((await site.send("POST", `${pods}/none/portforward`)).status, 404);
});

test("headers that refer to the dictionary and to earlier headers are read, malformed and large ones are not", () => {
  const reader = new HeaderReader();
  // Written by zlib 1.3 with the dictionary, one stream.
  const blocks = ["ePnjxqfCAiU6cDorKUpNzIUWJaypoICGFMtFoCTMZGEAJDmLIJGYCUrcjAYAAAAA//8=", "wqoVVAolEtIJAAAA//8="];
  assertEquals(
    blocks.map((block) => Object.fromEntries(reader.read(fromBase64(block)))),
    (["error", "data"] as const).map(pairOf(80, 0)),
  );
  for (const bad of [[0xff, 0xff, 0xff], [0, 1, 0, 254, 255, 9, 0, 0, 0, 255, 255]]) {
    let thrown: unknown;
    try {
      reader.read(new Uint8Array(bad));
    } catch (error) {
      thrown = error;
    }
    assert(thrown instanceof SpdyError, String(thrown));
  }
});

test("only ports on loopback stand in for the ports of a Pod", () => {
  const known = ["80", "localhost:80", "127.0.0.1:80", "127.9.9.9:80", "[::1]:80"];
  assertEquals(known.map((text) => loopbackAddress(text)?.hostname), [
    "127.0.0.1",
    "127.0.0.1",
    "127.0.0.1",
    "127.9.9.9",
    "::1",
  ]);
  const others = ["", "0", "70000", "10.0.0.1:80", "127.0.0.256:80", "127.0.0.1.example:80", "example.com:80"];
  const hostile = [
    "127.1:80",
    "0.0.0.0:80",
    "[::]:80",
    "[::ffff:10.0.0.1]:80",
    "localhost.example:80",
    "2130706433:80",
  ];
  for (const text of [...others, ...hostile]) assertEquals(loopbackAddress(text), undefined, text);
});
