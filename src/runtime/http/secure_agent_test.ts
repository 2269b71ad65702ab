/** Tests of httpClient() through proxies: CONNECT and SOCKS5, credentials, and TLS end to end. */
import { createServer, type IncomingMessage } from "node:http";
import { connect as connectTcp, createServer as createTcpServer, type Server, type Socket } from "node:net";
import process from "node:process";
import { assert, assertEquals, assertMatch, assertRejects, test } from "../../../tests/testing.ts";
import { CertificateAuthority } from "../../../tests/controlplane/certificate_authority.ts";
import { startChannelServer } from "../../../tests/fakes/channel_server.ts";
import { LoopbackServer } from "../../../tests/loopback.ts";
import { httpClient } from "./http_client.ts";
import type { HttpClientOptions } from "./http_client_options.ts";

const ca = await CertificateAuthority.create("ca");
const otherCa = await CertificateAuthority.create("other");
const pair = await ca.issue({ commonName: "s", usage: "server", hosts: ["kubernetes.default"] });

async function apiServer(): Promise<LoopbackServer> {
  return await LoopbackServer.start({ tls: pair, answer: (_request, response) => void response.end("through") });
}

/** A server of raw connections that ends them all when disposed. */
class Proxy implements AsyncDisposable {
  readonly seen: string[] = [];
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  constructor(server: Server) {
    this.#server = server;
    server.on("connection", (socket: Socket) => {
      this.#sockets.add(socket);
      socket.on("error", () => {});
    });
  }

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return this;
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  }

  pipe(client: Socket, port: number, greeting: string | Uint8Array): void {
    const upstream = connectTcp(port, "127.0.0.1", () => {
      client.write(greeting);
      client.pipe(upstream).pipe(client);
    });
    this.#sockets.add(upstream);
    upstream.on("error", () => client.destroy());
    client.on("close", () => upstream.destroy());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }
}

async function httpProxy(password?: string): Promise<Proxy> {
  const server = createServer();
  const proxy = new Proxy(server);
  server.on("connect", (request: IncomingMessage, socket: Socket) => {
    proxy.seen.push(`${request.method} ${request.url}`);
    const given = request.headers["proxy-authorization"] ?? "";
    if (password !== undefined && atob(given.replace("Basic ", "")) !== `user:${password}`) {
      return void socket.end("HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n");
    }
    proxy.pipe(socket, Number(request.url?.split(":").at(-1)), "HTTP/1.1 200 Connection established\r\n\r\n");
  });
  return await proxy.listen();
}

/** The part of RFC 1928 and 1929 that a client needs. */
async function socksProxy(): Promise<Proxy> {
  const proxy: Proxy = new Proxy(createTcpServer((socket) => {
    let step = 0;
    socket.on("data", function read(bytes: Uint8Array) {
      step++;
      if (step === 1) return void socket.write(Uint8Array.of(5, 2)); // user and password are required
      if (step === 2) {
        const userLength = bytes[1] ?? 0;
        proxy.seen.push(new TextDecoder().decode(bytes.subarray(2, 2 + userLength)));
        return void socket.write(Uint8Array.of(1, 0));
      }
      socket.off("data", read);
      const nameLength = bytes[3] === 3 ? bytes[4] ?? 0 : 3;
      const port = (bytes[5 + nameLength] ?? 0) * 256 + (bytes[6 + nameLength] ?? 0);
      proxy.pipe(socket, port, Uint8Array.of(5, 0, 0, 1, 0, 0, 0, 0, 0, 0));
    });
  }));
  return await proxy.listen();
}

async function get(server: LoopbackServer, options: HttpClientOptions): Promise<string> {
  const client = httpClient({ ca: ca.certificate, serverName: "kubernetes.default", ...options });
  try {
    return await (await client.fetch(new Request(server.url()))).text();
  } finally {
    client.close();
  }
}

test("[79] requests go through an HTTP proxy, with TLS end to end and a verified certificate", async () => {
  await using server = await apiServer();
  await using proxy = await httpProxy("p@ss:word");
  const url = `http://user:p%40ss%3Aword@127.0.0.1:${proxy.port}`;
  assertEquals(await get(server, { proxy: url }), "through");
  assertEquals(proxy.seen, [`CONNECT 127.0.0.1:${server.port}`]);
  const error = await assertRejects(() => get(server, { proxy: url, serverName: "elsewhere" }));
  assertEquals("code" in error && error.code, "ERR_TLS_CERT_ALTNAME_INVALID");
});

test("[79] the error of a proxy that refuses names it without its password", async () => {
  await using server = await apiServer();
  await using proxy = await httpProxy("right");
  const url = `http://user:wrong-and-secret@127.0.0.1:${proxy.port}`;
  const error = await assertRejects(() => get(server, { proxy: url }));
  assertMatch(
    error.message,
    /^Cannot connect through proxy "127.0.0.1:\d+": it answered 407 to CONNECT 127.0.0.1:\d+$/,
  );
});

test("[79] requests go through a SOCKS5 proxy", async () => {
  await using server = await apiServer();
  await using proxy = await socksProxy();
  assertEquals(await get(server, { proxy: `socks5://jane:secret@127.0.0.1:${proxy.port}` }), "through");
  assertEquals(proxy.seen, ["jane"]);
});

test("[79] a proxy that does not run is an error with the code ERR_PROXY", async () => {
  await using server = await apiServer();
  const error = await assertRejects(() => get(server, { proxy: "http://127.0.0.1:1" }));
  assertEquals("code" in error && error.code, "ERR_PROXY");
});

test("[79] the proxies of the environment are ignored: only the given one is used", async () => {
  await using server = await apiServer();
  await using proxy = await httpProxy();
  const before = process.env.HTTPS_PROXY;
  try {
    process.env.HTTPS_PROXY = `http://127.0.0.1:${proxy.port}`;
    assertEquals(await get(server, {}), "through");
  } finally {
    if (before === undefined) delete process.env.HTTPS_PROXY;
    else process.env.HTTPS_PROXY = before;
  }
  assertEquals(proxy.seen, []);
});

test("[79, 116] a connection that switches protocols goes through the same proxies, and trusts the same servers", async () => {
  await using server = await startChannelServer(pair, () => ({
    async run(session) {
      session.frame(2, (await session.receive())?.payload ?? "");
    },
  }));
  const upgrade = {
    connection: "Upgrade",
    upgrade: "websocket",
    "sec-websocket-key": "a",
    "sec-websocket-protocol": "p",
  };
  const echo = async (options: HttpClientOptions): Promise<number> => {
    const client = httpClient({ ca: ca.certificate, serverName: "kubernetes.default", ...options });
    const answer = await client.upgrade(new Request(`${server.url}/a`), upgrade);
    assert(answer.kind === "switched");
    const { wire } = answer;
    const received = new Promise<Uint8Array>((resolve) => wire.onBytes = resolve);
    await wire.write(Uint8Array.of(0x82, 0x81, 0, 0, 0, 0, 7));
    const bytes = await received;
    wire.end();
    client.close();
    return bytes.at(-1) ?? 0;
  };
  await using connectProxy = await httpProxy("right");
  await using socks = await socksProxy();
  assertEquals(await echo({}), 7);
  assertEquals(await echo({ proxy: `http://user:right@127.0.0.1:${connectProxy.port}` }), 7);
  assertEquals(await echo({ proxy: `socks5://127.0.0.1:${socks.port}` }), 7);
  assertEquals([connectProxy.seen.length, server.requests.length], [1, 3]);
  await assertRejects(() => echo({ serverName: "elsewhere" }));
  await assertRejects(() => echo({ ca: otherCa.certificate }));
  assertEquals(server.requests.length, 3, "nothing is sent to a server that is not trusted");
});
