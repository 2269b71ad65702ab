/**
 * Attacks by silence: a peer between the client and the API server that stops at any byte. A generator lets it pass a
 * random number of bytes, so it goes silent inside the answer of a proxy, a TLS handshake, a head or a body, and it never
 * closes a connection.
 *
 * The rules: an abort ends a request, or the read of its body, at once; without an abort, a connection that is not
 * complete is given up by the clock alone; the connection to the silent peer is closed then.
 */
import { connect, createServer, type Server, type Socket } from "node:net";
import { seededRandom, VirtualClock } from "../../src/async/mod.ts";
import { httpClient, type HttpClientOptions, nextTurn } from "../../src/runtime/mod.ts";
import { CertificateAuthority } from "../controlplane/certificate_authority.ts";
import { LoopbackServer } from "../loopback.ts";
import { assert, assertEquals, test } from "../testing.ts";

const ca = await CertificateAuthority.create("ca");
const pair = await ca.issue({ commonName: "s", usage: "server", hosts: ["127.0.0.1"] });

const connected = "HTTP/1.1 200 Connection established\r\n\r\n";

/** Passes bytes of the server until it has passed `limitBytes`, and then none. It plays the proxy that the kind names. */
class SilentPeer implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** Connections of the client that are open. */
  open = 0;

  private constructor(serve: (client: Socket, keep: (socket: Socket) => void) => void) {
    const keep = (socket: Socket) => {
      this.#sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => this.#sockets.delete(socket));
    };
    // The peer never closes: it does not answer the end of the client with its own.
    this.#server = createServer((client) => {
      this.open++;
      client.on("close", () => this.open--);
      keep(client);
      serve(client, keep);
    });
  }

  static async start(kind: Kind, port: number, limitBytes: number): Promise<SilentPeer> {
    const peer = new SilentPeer((client, keep) => {
      let leftBytes = limitBytes;
      const pass = (bytes: Uint8Array) => {
        const part = bytes.subarray(0, leftBytes);
        leftBytes -= part.length;
        if (part.length > 0) client.write(part);
      };
      const forward = () => {
        const server = connect(port, "127.0.0.1");
        keep(server);
        client.on("data", (bytes) => server.write(bytes));
        client.on("close", () => server.destroy());
        server.on("data", pass);
      };
      if (kind === "direct") return forward();
      const answers = kind === "http"
        ? [connected]
        : [Uint8Array.of(5, 0), Uint8Array.of(5, 0, 0, 1, 0, 0, 0, 0, 0, 0)];
      client.on("data", function answer() {
        const next = answers.shift();
        if (answers.length === 0) client.off("data", answer);
        pass(typeof next === "string" ? new TextEncoder().encode(next) : next ?? new Uint8Array());
        if (answers.length === 0) forward();
      });
    });
    await new Promise<void>((resolve) => peer.#server.listen(0, "127.0.0.1", resolve));
    return peer;
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }
}

const kinds = ["direct", "http", "socks5"] as const;
type Kind = (typeof kinds)[number];

/** A request through a silent peer, and how it ended. */
interface Attempt {
  readonly settled: () => unknown;
  readonly abort: () => void;
  readonly close: () => void;
}

const body = "x".repeat(4_000);

function attempt(kind: Kind, peer: SilentPeer, server: LoopbackServer, more: HttpClientOptions = {}): Attempt {
  const proxy = kind === "direct" ? undefined : `${kind}://127.0.0.1:${peer.port}`;
  const url = `https://127.0.0.1:${kind === "direct" ? peer.port : server.port}/`;
  const client = httpClient({ ca: ca.certificate, proxy, ...more });
  const controller = new AbortController();
  let outcome: unknown;
  client.fetch(new Request(url, { signal: controller.signal })).then((response) => response.text())
    .then(() => outcome = "a whole response", (error) => outcome = error);
  return { settled: () => outcome, abort: () => controller.abort("the reason"), close: () => client.close() };
}

async function turnsUntil(isDone: () => boolean, maxTurns: number): Promise<void> {
  for (let turn = 0; turn < maxTurns && !isDone(); turn++) await nextTurn();
}

async function apiServer(): Promise<LoopbackServer> {
  return await LoopbackServer.start({ tls: pair, answer: (_request, response) => void response.end(body) });
}

for (const kind of kinds) {
  test(`an abort ends a request to a ${kind} peer at once, at whichever byte that goes silent`, async () => {
    await using server = await apiServer();
    const random = seededRandom(314);
    for (let round = 0; round < 40; round++) {
      // Small numbers are inside the answer of the proxy, the middle ones in the handshake, large ones in the response.
      const limitBytes = Math.floor(random.next() ** 2 * 5_000);
      const waitTurns = Math.floor(random.next() * 60);
      await using peer = await SilentPeer.start(kind, server.port, limitBytes);
      const one = attempt(kind, peer, server);
      await turnsUntil(() => one.settled() !== undefined, waitTurns);
      if (one.settled() !== undefined) assertEquals(one.settled(), "a whole response");
      one.abort();
      // One task, for the runtime that passes the end of a stream through its own queue.
      await turnsUntil(() => one.settled() !== undefined, 3);
      const expected = one.settled() === "a whole response" ? "a whole response" : "the reason";
      assertEquals(one.settled(), expected, `${limitBytes} bytes, ${waitTurns} turns`);
      one.close();
      await turnsUntil(() => peer.open === 0, 10_000);
      assertEquals(peer.open, 0, `the connection stays open after ${limitBytes} bytes, ${waitTurns} turns`);
    }
  });

  test(`a connection to a ${kind} peer that goes silent before it is complete is given up`, async () => {
    await using server = await apiServer();
    const random = seededRandom(315);
    for (let round = 0; round < 20; round++) {
      const limitBytes = Math.floor(random.next() * 400);
      await using peer = await SilentPeer.start(kind, server.port, limitBytes);
      const clock = new VirtualClock();
      const one = attempt(kind, peer, server, { timers: clock });
      // TCP, the proxy and TLS have 10 s each, so no connection needs more than 30 s.
      await turnsUntil(() => peer.open === 1, 10_000);
      for (let seconds = 0; seconds < 30 && one.settled() === undefined; seconds++) {
        await turnsUntil(() => one.settled() !== undefined, 30);
        await clock.advance(1_000);
      }
      await turnsUntil(() => one.settled() !== undefined, 100);
      const error = one.settled();
      assert(error instanceof Error, `${limitBytes} bytes: ${error}`);
      assert(/took longer than 10000 ms/.test(error.message), error.message);
      one.close();
      await turnsUntil(() => peer.open === 0, 10_000);
      assertEquals([peer.open, clock.pendingTimers], [0, 0], `${limitBytes} bytes`);
    }
  });
}
