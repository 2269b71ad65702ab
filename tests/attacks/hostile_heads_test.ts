/**
 * Attacks by the head of an answer: floods of interim answers, fields and warnings, odd status lines and codes, answers
 * that switch the protocol, and chunks whose framing is larger than their content. A generator combines them; a flood has
 * no end.
 *
 * The rules: each request settles with a whole answer or with an error, and never by an error that no caller catches; a
 * flood is ended by the client after a bounded number of bytes, not by a limit of time.
 */
import { createServer, type Server, type Socket } from "node:net";
import { seededRandom, systemClock } from "../../src/async/mod.ts";
import { Client, clusterTransport, loadClusterAccess } from "../../src/client/mod.ts";
import { httpClient, runtimeName } from "../../src/runtime/mod.ts";
import { builtin } from "../../src/api/mod.ts";
import { retryAfterMs } from "../../src/client/response.ts";
import { assert, assertEquals, test } from "../testing.ts";

const mebibyte = 1024 * 1024;

/** Answers each connection with `start`, and then with `flood` for ever. */
class RawServer implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** Bytes that a connection has taken from this process. */
  sentBytes = 0;

  private constructor(start: string, flood: string) {
    this.#server = createServer((socket) => {
      this.#sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => this.#sockets.delete(socket));
      const chunk = flood === "" ? undefined : new TextEncoder().encode(flood.repeat(Math.ceil(65_536 / flood.length)));
      const pour = () => {
        while (chunk !== undefined && !socket.destroyed) {
          this.sentBytes += chunk.length;
          if (!socket.write(chunk)) return void socket.once("drain", pour);
        }
      };
      socket.once("data", () => {
        socket.write(start, "latin1");
        if (flood === "") socket.end();
        else pour();
      });
    });
  }

  static async start(start: string, flood: string): Promise<RawServer> {
    const server = new RawServer(start, flood);
    await new Promise<void>((resolve) => server.#server.listen(0, "127.0.0.1", resolve));
    return server;
  }

  get url(): string {
    const address = this.#server.address();
    return `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}/`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }
}

/** Sends one request. @returns its status and text, or its error */
async function request(url: string): Promise<{ readonly status: number; readonly text: string } | Error> {
  const client = httpClient();
  try {
    const response = await client.fetch(new Request(url));
    return { status: response.status, text: await response.text() };
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  } finally {
    client.close();
  }
}

const ok = "HTTP/1.1 200 OK\r\n";

const floods: Readonly<Record<string, readonly [start: string, flood: string]>> = {
  "interim answers": ["", "HTTP/1.1 100 Continue\r\n\r\n"],
  "early hints": ["", "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n"],
  fields: [ok, "a: b\r\n"],
  warnings: [ok, `warning: 299 - "${"w".repeat(100)}"\r\n`],
  "one field": [`${ok}a: `, "b"],
  "a name": [ok, "a"],
  "a status line": ["HTTP/1.1 200 ", "O"],
  "no status line": ["", "x"],
  ...(runtimeName === "bun"
    ? {
      "empty lines": ["", "\r\n"],
      "a chunk extension": [`${ok}transfer-encoding: chunked\r\n\r\n1`, ";a=b"],
      "a chunk size": [`${ok}transfer-encoding: chunked\r\n\r\n`, "0"],
    } as const
    // The parser of node:http of Deno skips these in constant memory, until the limit of time of the request or the body.
    : {}),
  trailers: [`${ok}transfer-encoding: chunked\r\n\r\n0\r\n`, "a: b\r\n"],
};

for (const [name, [start, flood]] of Object.entries(floods)) {
  test(`[security 21] a flood of ${name} is ended after a bounded number of bytes`, async () => {
    await using server = await RawServer.start(start, flood);
    const outcome = await request(server.url);
    assert(outcome instanceof Error, JSON.stringify(outcome).slice(0, 200));
    // Most of it is in the buffers of the system.
    assert(server.sentBytes < 32 * mebibyte, `${server.sentBytes} bytes`);
  });
}

test("[security 21] an answer with an odd head settles, and no error is lost", async () => {
  const random = seededRandom(101);
  const pick = (list: readonly string[]) => list[Math.floor(random.next() * list.length)] ?? "";
  const codes = [
    "000",
    "099",
    "101",
    "199",
    "200",
    "204",
    "205",
    "226",
    "299",
    "304",
    "399",
    "499",
    "599",
    "600",
    "999",
  ];
  const more = ["-1", "20", "2000", "2x0", "", " ", "٢٠٠", "1e2", "0x64"];
  const versions = ["HTTP/1.1", "HTTP/1.0", "HTTP/2", "http/1.1", "HTTP/1.9", "ICY", ""];
  const fields = [
    "content-length: 2",
    "content-length: -1",
    "content-length: 99999999999999999999",
    "content-length: 2, 3",
    "transfer-encoding: chunked",
    "transfer-encoding: gzip, chunked",
    "upgrade: websocket",
    "connection: upgrade",
    "content-encoding: gzip",
    "retry-after: -1",
    "warning: \x00",
    "a b: c",
    ": x",
    " folded",
    "x: \xff\xfe",
    "set-cookie: a=b",
    "content-type: \u0080",
  ];
  for (let round = 0; round < 150; round++) {
    const statusLine = `${pick(versions)} ${pick([...codes, ...codes, ...more])} ${pick(["OK", "", "\xff", "a\x00b"])}`;
    const lines = Array.from({ length: Math.floor(random.next() * 4) }, () => pick(fields));
    const body = pick(["", "{}", "2\r\n{}\r\n0\r\n\r\n", "zz\r\n", "-1\r\n"]);
    await using server = await RawServer.start([statusLine, ...lines, "", body].join("\r\n"), "");
    const outcome = await request(server.url);
    const isWhole = !(outcome instanceof Error) && outcome.status >= 200 && outcome.status <= 599;
    assert(outcome instanceof Error || isWhole, `${statusLine}: ${JSON.stringify(outcome)}`);
  }
});

test("[security 21] an answer that switches the protocol is an error", async () => {
  const head = "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n";
  for (const flood of ["", "x"]) {
    await using server = await RawServer.start(head, flood);
    assert(await request(server.url) instanceof Error);
    assert(server.sentBytes < 32 * mebibyte, `${server.sentBytes} bytes`);
  }
});

test("[security 21] an odd Retry-After is ignored, and a long one is five minutes", () => {
  const table: readonly (readonly [value: string, expected: number | undefined])[] = [
    ["0", 0],
    ["7", 7_000],
    [" 7 ", 7_000],
    ["301", 300_000],
    ["99999999999999999999", 300_000],
    ["9".repeat(400), undefined],
    ["-1", undefined],
    ["1e30", undefined],
    ["1.5", undefined],
    ["+5", undefined],
    ["0x10", undefined],
    ["NaN", undefined],
    ["Infinity", undefined],
    ["", undefined],
    ["5, 6", undefined],
    ["Fri, 31 Dec 9999 23:59:59 GMT", undefined],
    ["٥", undefined],
  ];
  for (const [value, expected] of table) {
    const headers = new Headers();
    try {
      headers.set("retry-after", value);
    } catch {
      continue; // No server can send it.
    }
    assertEquals(retryAfterMs(headers), expected, value);
  }
});

test("[security 21] the seconds to wait in a Status are bounded, whatever their form", async () => {
  for (const seconds of [-1, 0, 1e300, "5", null, [], {}, true, 7]) {
    const status = { kind: "Status", code: 429, reason: "TooManyRequests", details: { retryAfterSeconds: seconds } };
    const client = new Client(() => Promise.resolve(Response.json(status, { status: 429 })));
    const error: unknown = await client.get(builtin.ConfigMap, "a/b").catch((reason: unknown) => reason);
    const waitMs = error instanceof Error && "retryAfterMs" in error ? error.retryAfterMs : undefined;
    assertEquals(waitMs, seconds === 7 ? 7_000 : seconds === 1e300 ? 300_000 : undefined, String(seconds));
  }
});

test("[security 21] a flood reaches the caller of a cluster transport as an error of a known class", async () => {
  await using server = await RawServer.start("", "HTTP/1.1 100 Continue\r\n\r\n");
  const access = await loadClusterAccess({ environment: {}, overrides: { server: server.url } });
  using transport = clusterTransport(access, { maxAttempts: 1, clock: systemClock });
  const error: unknown = await transport(new Request("https://kubernetes.invalid/api")).catch((reason: unknown) =>
    reason
  );
  assert(error instanceof Error && error.name === "UnreachableError", String(error));
});
