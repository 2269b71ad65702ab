/** Tests of httpClient() over real sockets: which servers it trusts, what it sends, which connections stay open. */
import { readFileSync } from "node:fs";
import process from "node:process";
import { assert, assertEquals, assertRejects, assertStringIncludes, test } from "../../../tests/testing.ts";
import {
  CertificateAuthority,
  type IssueOptions,
  type KeyPair,
} from "../../../tests/controlplane/certificate_authority.ts";
import { bodyOf, LoopbackServer } from "../../../tests/loopback.ts";
import { seededRandom, VirtualClock } from "../../async/mod.ts";
import { runtimeName } from "../process/mod.ts";
import { httpClient } from "./http_client.ts";
import type { HttpClientOptions } from "./http_client_options.ts";

const ca = await CertificateAuthority.create("the cluster's CA");
const otherCa = await CertificateAuthority.create("another CA");
const dayMs = 86_400_000;

function serverPair(options: Partial<IssueOptions> = {}, authority = ca): Promise<KeyPair> {
  return authority.issue({ commonName: "server", usage: "server", hosts: ["127.0.0.1", "localhost"], ...options });
}

async function tlsServer(pair: KeyPair, clientCa?: string): Promise<LoopbackServer> {
  return await LoopbackServer.start({
    tls: pair,
    clientCa,
    answer: async (request, response) => {
      const body = await bodyOf(request);
      response.end(JSON.stringify({ method: request.method, url: request.url, headers: request.headers, body }));
    },
  });
}

async function get(url: string, options: HttpClientOptions): Promise<string> {
  const client = httpClient(options);
  try {
    const response = await client.fetch(new Request(url));
    return await response.text();
  } finally {
    client.close();
  }
}

/** The code of the error when the connection is refused. Fails if it is not refused. */
async function refusal(url: string, options: HttpClientOptions): Promise<string> {
  const error = await assertRejects(() => get(url, options));
  return "code" in error ? String(error.code) : error.message;
}

test("[92] a server whose certificate the given CA signed is trusted", async () => {
  await using server = await tlsServer(await serverPair());
  assertStringIncludes(await get(`${server.url()}/a?b=c`, { ca: ca.certificate }), '"url":"/a?b=c"');
});

test("a server is refused if its CA is not the given one, is self-signed, or none was given", async () => {
  await using server = await tlsServer(await serverPair({}, otherCa));
  await using ownCa = await tlsServer(otherCa);
  const unknown = [
    await refusal(server.url(), { ca: ca.certificate }),
    await refusal(server.url(), {}),
    await refusal(ownCa.url(), { ca: ca.certificate }),
  ];
  for (const code of unknown) {
    const known = /UNABLE_TO|SELF_SIGNED|DEPTH_ZERO/.test(code);
    assert(known, `refused as ${code}`);
  }
});

test("a server is refused if its certificate has expired, is not valid yet or is for another name", async () => {
  const past = { notBefore: new Date(Date.now() - 2 * dayMs), notAfter: new Date(Date.now() - dayMs) };
  const future = { notBefore: new Date(Date.now() + dayMs), notAfter: new Date(Date.now() + 2 * dayMs) };
  await using expired = await tlsServer(await serverPair(past));
  await using early = await tlsServer(await serverPair(future));
  await using named = await tlsServer(await serverPair({ hosts: ["kubernetes.default"] }));
  const options = { ca: ca.certificate };
  assertEquals(await refusal(expired.url(), options), "CERT_HAS_EXPIRED");
  assertEquals(await refusal(early.url(), options), "CERT_NOT_YET_VALID");
  assertEquals(await refusal(named.url(), options), "ERR_TLS_CERT_ALTNAME_INVALID");
});

test("serverName is the only name that the certificate must have", async () => {
  await using server = await tlsServer(await serverPair({ hosts: ["kubernetes.default"] }));
  const options = { ca: ca.certificate, serverName: "kubernetes.default" };
  assertStringIncludes(await get(server.url(), options), '"method":"GET"');
  const code = await refusal(server.url(), { ...options, serverName: "kubernetes.other" });
  assertEquals(code, "ERR_TLS_CERT_ALTNAME_INVALID");
});

test("the certificate must have the address of the server, of IPv4 and of IPv6, also given as serverName", async () => {
  await using server = await tlsServer(await serverPair({ hosts: ["127.0.0.1", "::1"] }));
  const options = { ca: ca.certificate };
  for (const serverName of ["127.0.0.1", "::1", "0:0:0:0:0:0:0:1"]) {
    assertStringIncludes(await get(server.url(), { ...options, serverName }), '"method":"GET"');
  }
  const code = await refusal(server.url(), { ...options, serverName: "::2" });
  assertEquals(code, "ERR_TLS_CERT_ALTNAME_INVALID");
});

test("the SNI is a name without a dot at its end, and never an address", async () => {
  await using server = await LoopbackServer.start({
    tls: await serverPair({ hosts: ["127.0.0.1", "::1", "kubernetes.default"] }),
    answer: ({ socket }, response) => void response.end(`SNI: ${Reflect.get(socket, "servername") || "none"}`),
  });
  const options = { ca: ca.certificate };
  assertEquals(await get(server.url(), options), "SNI: none");
  assertEquals(await get(server.url(), { ...options, serverName: "::1" }), "SNI: none");
  assertEquals(await get(server.url(), { ...options, serverName: "kubernetes.default." }), "SNI: kubernetes.default");
});

test("insecureSkipTlsVerify trusts any server, and only when it is true", async () => {
  await using server = await tlsServer(await serverPair({ hosts: ["elsewhere"] }, otherCa));
  assertStringIncludes(await get(server.url(), { insecureSkipTlsVerify: true }), '"method":"GET"');
  await refusal(server.url(), { insecureSkipTlsVerify: false });
});

test("clients do not share trust, not even over kept connections", async () => {
  await using server = await tlsServer(await serverPair());
  for (let round = 0; round < 3; round++) {
    assertStringIncludes(await get(server.url(), { insecureSkipTlsVerify: true }), '"method":"GET"');
    assertStringIncludes(await get(server.url(), { ca: ca.certificate }), '"method":"GET"');
    await refusal(server.url(), { ca: otherCa.certificate });
  }
});

test("the client sends its certificate", async () => {
  await using server = await tlsServer(await serverPair(), ca.certificate);
  const pair = await ca.issue({ commonName: "jane", organizations: ["admins"] });
  const options = { ca: ca.certificate, cert: pair.certificate, key: pair.key };
  assertStringIncludes(await get(server.url(), options), '"method":"GET"');
  await assertRejects(() => get(server.url(), { ca: ca.certificate }));
});

test("the authorities of the system are not trusted if a CA is given", async () => {
  await using server = await tlsServer(await serverPair({}, otherCa));
  // In another process, because the authorities of the system are read once. The other CA is one of them there.
  const script = `
    import { httpClient } from ${JSON.stringify(new URL("./http_client.ts", import.meta.url).href)};
    const send = async (options) => {
      try { return (await (await httpClient(options).fetch(new Request(${
    JSON.stringify(server.url())
  }))).text()).slice(0, 1); }
      catch { return "refused"; }
    };
    console.log(await send({}), await send({ ca: ${JSON.stringify(ca.certificate)} }));
    process.exit();`;
  const output = await runScript(script, otherCa.certificate);
  assertEquals(output.trim(), "{ refused");
});

async function runScript(script: string, systemCa: string): Promise<string> {
  const { mkdtemp, rm, writeFile } = await import("node:fs/promises");
  const { execFile } = await import("node:child_process");
  const dir = await mkdtemp("/tmp/pintle-http-");
  try {
    await writeFile(`${dir}/ca.pem`, systemCa);
    await writeFile(`${dir}/script.ts`, `import process from "node:process";\n${script}`);
    const root = new URL("../../../", import.meta.url).pathname;
    const args = runtimeName === "deno"
      ? ["run", "-A", "--no-check", "--config", `${root}deno.json`, `${dir}/script.ts`]
      : [`${dir}/script.ts`];
    const env = { ...process.env, NODE_EXTRA_CA_CERTS: `${dir}/ca.pem`, DENO_CERT: `${dir}/ca.pem` };
    return await new Promise((resolve, reject) =>
      execFile(
        process.execPath,
        args,
        { env, cwd: root },
        (error, stdout, stderr) => error === null ? resolve(stdout) : reject(new Error(stderr, { cause: error })),
      )
    );
  } finally {
    await rm(dir, { recursive: true });
  }
}

test("method, headers and body are sent, and status and headers of the response are returned", async () => {
  await using server = await LoopbackServer.start({
    answer: async (request, response) => {
      const body = await bodyOf(request);
      response.writeHead(409, { "x-answer": "yes", "content-type": "text/plain" });
      response.end(`${request.method} ${request.headers["x-ask"]} ${request.headers["content-length"]} ${body}`);
    },
  });
  const client = httpClient();
  const request = new Request(server.url(), { method: "PUT", body: "größer", headers: { "x-ask": "a, b" } });
  const response = await client.fetch(request);
  assertEquals([response.status, response.headers.get("x-answer")], [409, "yes"]);
  assertEquals(await response.text(), "PUT a, b 8 größer");
  client.close();
});

test("a body arrives as it was given: ASCII and other text, bytes, an empty one, and none", async () => {
  await using server = await LoopbackServer.start({
    answer: async (request, response) => {
      const body = await bodyOf(request);
      response.end(JSON.stringify([request.headers["x-ask"], request.headers["content-length"] ?? "none", body]));
    },
  });
  const client = httpClient();
  const { signal } = new AbortController();
  const large = "0123456789abcdef".repeat(64 * 1024);
  const answers: string[][] = [];
  for (const value of ["plain", "größer"]) {
    const headers = new Headers({ "x-ask": value });
    for (const body of ["ascii", "größer", new TextEncoder().encode("bytes"), "", large, `${large}ü`, undefined]) {
      const method = body === undefined ? "GET" : "PUT";
      const response = await client.send({ method, url: server.url(), headers, body, signal });
      const [ask = "", length = "", text = ""]: readonly string[] = await response.json();
      answers.push([ask, length, text.length < 100 ? text : `${text.length} ${text.slice(-1)}`]);
    }
  }
  client.close();
  const bodies = [["5", "ascii"], ["8", "größer"], ["5", "bytes"], ["0", ""], ["1048576", "1048576 f"]];
  const expected = [...bodies, ["1048578", "1048577 ü"], ["none", ""]];
  assertEquals(answers, ["plain", "größer"].flatMap((ask) => expected.map((rest) => [ask, ...rest])));
});

test("a response that does not begin in time ends its request, on a new and on a kept connection", async () => {
  await using server = await LoopbackServer.start({
    answer: (request, response) => void (request.url === "/silent" || response.end("here")),
  });
  const clock = new VirtualClock();
  const client = httpClient({ timers: clock });
  const { signal } = new AbortController();
  const send = (path: string) =>
    client.send({ method: "GET", url: server.url() + path, headers: new Headers(), signal }, {
      responseTimeoutMs: 500,
    });
  for (let round = 0; round < 2; round++) {
    const silent = send("/silent");
    const failed = assertRejects(() => silent);
    while (clock.pendingTimers === 0) await clock.advance(0);
    await clock.advance(500);
    assertEquals((await failed).message, "No response within 500 ms");
    assertEquals(await (await send("/")).text(), "here"); // the next round uses its connection
    assertEquals(clock.pendingTimers, 0);
  }
  client.close();
});

test("each header value of a list is sent on its own line", async () => {
  await using server = await LoopbackServer.start({
    answer: (request, response) => {
      const lines = request.rawHeaders.filter((_, index) => request.rawHeaders[index - 1]?.toLowerCase() === "x-group");
      response.end(JSON.stringify(lines));
    },
  });
  assertEquals(await get(server.url(), { headers: { "x-group": ["a", "b, c"] } }), '["a","b, c"]');
  assertEquals(await get(server.url(), { headers: { "x-group": ["a"] } }), '["a"]');
});

test("headers of one request are sent a value a line, replace those of the request, and the host of the URL", async () => {
  await using server = await LoopbackServer.start({
    answer: (request, response) => void response.end(JSON.stringify(request.rawHeaders)),
  });
  const client = httpClient({ headers: { "x-client": ["c"] } });
  try {
    const request = new Request(server.url(), { headers: { "x-group": "old", "x-kept": "k" } });
    const headers = { host: ["example.com"], "x-group": ["a", "b"] };
    const raw: readonly string[] = await (await client.fetch(request, { headers })).json();
    const valuesOf = (name: string) => raw.filter((_, index) => raw[index - 1]?.toLowerCase() === name);
    const names = ["host", "x-group", "x-kept", "x-client"];
    assertEquals(names.map(valuesOf), [["example.com"], ["a", "b"], ["k"], ["c"]]);
    assertEquals((await (await client.fetch(new Request(server.url()))).text()).includes("x-group"), false);
  } finally {
    client.close();
  }
});

/** Paths in every form: plain ones, dot segments in all their forms, and all that a URL encodes or drops. */
function somePaths(count: number): readonly string[] {
  const parts = [..."aZ9//..?&=# '\"<|^{\\é~;,:", "..", "%2e", "%2E", "%zz"];
  const random = seededRandom(7);
  const pick = () => parts[Math.floor(random.next() * parts.length)] ?? "";
  return Array.from({ length: count }, (_, index) => `/${Array.from({ length: 1 + index % 9 }, pick).join("")}`);
}

test("what is sent of a URL is what a URL has: path and query, and the host without credentials", async () => {
  await using server = await LoopbackServer.start({
    answer: ({ url, headers }, response) => void response.end(`${headers.host} ${url}`),
  });
  const client = httpClient();
  try {
    const origins = [server.url(), server.url("LOCALHOST"), server.url().replace("://", "://user:pass@")];
    for (const [index, path] of somePaths(600).entries()) {
      const text = (origins[index % origins.length] ?? "") + path;
      const { host, pathname, search } = new URL(text);
      const { signal } = new AbortController();
      const response = await client.send({ method: "GET", url: text, headers: new Headers(), signal });
      assertEquals(await response.text(), `${host} ${pathname}${search}`, text);
    }
  } finally {
    client.close();
  }
});

test("[90] cancelling a body ends its connection", async () => {
  let closed: () => void = () => {};
  const gone = new Promise<void>((resolve) => closed = resolve);
  await using server = await LoopbackServer.start({
    answer: (request, response) => {
      request.socket.on("close", closed);
      response.write("the first of endlessly many");
    },
  });
  const client = httpClient();
  const response = await client.fetch(new Request(server.url()));
  const reader = response.body?.getReader();
  await reader?.read();
  await reader?.cancel();
  await gone;
  client.close();
});

test("[17] an abort ends a request that waits for its response, and one whose body is being read", async () => {
  await using server = await LoopbackServer.start({
    answer: (request, response) => {
      if (request.url === "/body") response.write("some");
    },
  });
  const client = httpClient();
  const reason = new Error("no longer wanted");
  const waiting = new AbortController();
  const answer = client.fetch(new Request(`${server.url()}/silent`, { signal: waiting.signal }));
  waiting.abort(reason);
  assertEquals(await assertRejects(() => answer), reason);
  const reading = new AbortController();
  const response = await client.fetch(new Request(`${server.url()}/body`, { signal: reading.signal }));
  const text = response.text();
  reading.abort(reason);
  await assertRejects(() => text);
  const already = AbortSignal.abort(reason);
  const refused = await assertRejects(() => client.fetch(new Request(server.url(), { signal: already })));
  assertEquals(refused, reason);
  client.close();
});

test("a body that is cut short is an error", async () => {
  await using server = await LoopbackServer.start({
    answer: (request, response) => {
      response.writeHead(200, request.url === "/length" ? { "content-length": "100" } : {});
      response.write("half");
      response.socket?.end();
    },
  });
  const client = httpClient();
  for (const path of ["/length", "/chunked"]) {
    const response = await client.fetch(new Request(server.url() + path));
    await assertRejects(() => response.text());
  }
  client.close();
});

test("[74] a POST whose kept connection breaks is sent only once", async () => {
  let posts = 0;
  await using server = await LoopbackServer.start({
    answer: async (request, response) => {
      if (request.method === "GET") return void response.end("ok");
      await bodyOf(request);
      posts++;
      request.socket.destroy();
    },
  });
  const client = httpClient();
  for (let round = 1; round <= 3; round++) {
    await (await client.fetch(new Request(server.url()))).text();
    await assertRejects(() => client.fetch(new Request(server.url(), { method: "POST", body: "{}" })));
    assertEquals(posts, round);
  }
  client.close();
});

test("300 concurrent streams are served, and short requests beside them", async () => {
  await using server = await LoopbackServer.start({
    answer: (request, response) => void (request.url === "/stream" ? response.write("x") : response.end("short")),
  });
  const client = httpClient();
  const over = new AbortController();
  const stream = () =>
    client.fetch(new Request(`${server.url()}/stream`, { signal: over.signal }), { longLived: true });
  for (let round = 0; round < 2; round++) {
    const answers = await Promise.all(Array.from({ length: 300 }, stream));
    assertEquals(answers.filter(({ status }) => status === 200).length, 300);
    assertEquals(await (await client.fetch(new Request(server.url()))).text(), "short");
    if (round === 0) await Promise.all(answers.map(({ body }) => body?.cancel()));
  }
  over.abort();
  client.close();
});

test("the head of a response may have 60 KiB, and no more than 64", async () => {
  await using server = await LoopbackServer.start({
    answer: ({ url = "" }, response) => {
      response.setHeader("warning", Array(Number(url.slice(1))).fill(`299 - "${"w".repeat(1_000)}"`));
      response.end("answer");
    },
  });
  assertEquals(await get(`${server.url()}/60`, {}), "answer");
  await assertRejects(() => get(`${server.url()}/80`, {}));
});

test("redirects are returned and not followed", async () => {
  await using server = await LoopbackServer.start({
    answer: (_request, response) => void response.writeHead(302, { location: "/elsewhere" }).end(),
  });
  const client = httpClient();
  const response = await client.fetch(new Request(server.url()));
  assertEquals(response.status, 302);
  await response.body?.cancel();
  client.close();
});

test("[81] a compressed body is not decompressed", async () => {
  const { gzipSync } = await import("node:zlib");
  const bomb = gzipSync(new Uint8Array(1_000_000));
  await using server = await LoopbackServer.start({
    answer: (_request, response) => void response.writeHead(200, { "content-encoding": "gzip" }).end(bomb),
  });
  const client = httpClient();
  const response = await client.fetch(new Request(server.url()));
  assertEquals((await response.arrayBuffer()).byteLength, bomb.length);
  client.close();
});

test("connections are kept between requests, and close() ends idle ones", async () => {
  await using server = await tlsServer(await serverPair());
  const client = httpClient({ ca: ca.certificate });
  for (let round = 0; round < 5; round++) await (await client.fetch(new Request(server.url()))).text();
  assertEquals(server.connections, 1);
  client.close();
  await server.emptied();
});

test("connections are kept for each of several servers that get requests in turn", async () => {
  await using first = await tlsServer(await serverPair());
  await using second = await tlsServer(await serverPair());
  const client = httpClient({ ca: ca.certificate });
  for (let round = 0; round < 3; round++) {
    for (const server of [first, second]) await (await client.fetch(new Request(server.url()))).text();
  }
  assertEquals([first.connections, second.connections], [1, 1]);
  client.close();
});

test("close() lets a request in flight finish, and its connection ends then", async () => {
  let finish: () => void = () => {};
  await using server = await LoopbackServer.start({
    answer: (_request, response) => {
      response.write("first ");
      finish = () => response.end("last");
    },
  });
  const client = httpClient({ headers: { "x-any": ["a", "b"] } });
  const response = await client.fetch(new Request(server.url()));
  client.close();
  finish();
  assertEquals(await response.text(), "first last");
  await server.emptied();
});

/** Which kernel timers run on the established connections to a local port: see `tcp_diag`, and proc(5) for the columns. */
function timersTo(port: number): readonly string[] {
  const remote = `0100007F:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  return readFileSync("/proc/net/tcp", "utf8").trim().split("\n").slice(1)
    .map((line) => line.trim().split(/\s+/))
    .filter((columns) => columns[2] === remote && columns[3] === "01")
    .map((columns) => columns[5]?.startsWith("02:") ? "keep-alive" : `timer ${columns[5]}`);
}

if (process.platform === "linux") {
  test("[11] TCP keep-alive is set on the connection of a watch", async () => {
    await using server = await LoopbackServer.start({ answer: (_request, response) => void response.write("x") });
    const client = httpClient();
    const response = await client.fetch(new Request(server.url()));
    const timers = timersTo(server.port);
    await response.body?.cancel();
    client.close();
    assertEquals(timers, ["keep-alive"]);
  });
}

test("[91] fetch of the runtime is not used, because its limits (Bun: 300 s, 256 requests) would cut watches", async () => {
  await using server = await LoopbackServer.start({ answer: (_request, response) => void response.end("answer") });
  const original = globalThis.fetch;
  globalThis.fetch = Object.assign(() => Promise.reject(new Error("fetch was called")), original);
  try {
    assertEquals(await get(server.url(), {}), "answer");
  } finally {
    globalThis.fetch = original;
  }
});
