/** Tests of clusterTransport() over real sockets: credentials, rotation, trust, time limits, secrets. */
import { rename } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { systemClock, VirtualClock } from "../async/mod.ts";
import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
  assertThrows,
  test,
} from "../../tests/testing.ts";
import { CertificateAuthority } from "../../tests/controlplane/certificate_authority.ts";
import { bodyOf, LoopbackServer } from "../../tests/loopback.ts";
import { Client } from "./client.ts";
import { clusterTransport, type ClusterTransportOptions } from "./cluster_transport.ts";
import { type ClusterAccess, type Credentials, Masked } from "./kubeconfig/mod.ts";
import { accessTo, execPlugin, pemData, RecordingLogger } from "./testing/cluster_access.ts";
import { TemporaryFolder } from "./testing/temporary_folder.ts";
import { guardSends } from "./transport.ts";
import { UnreachableError } from "./unreachable_error.ts";

const ca = await CertificateAuthority.create("cluster");
const otherCa = await CertificateAuthority.create("other");
const pair = await ca.issue({ commonName: "s", usage: "server", hosts: ["127.0.0.1"] });

interface Seen {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingMessage["headers"];
  readonly rawHeaders: readonly string[];
  readonly body: string;
}

interface Cluster extends AsyncDisposable {
  readonly server: LoopbackServer;
  readonly seen: Seen[];
}

/** A server that responds with the status of `respond`, and stores the requests. */
async function cluster(respond: (seen: Seen) => number = () => 200, tls = pair, clientCa?: string): Promise<Cluster> {
  const seen: Seen[] = [];
  const server = await LoopbackServer.start({
    tls,
    clientCa,
    answer: async (request, response) => {
      const { method, url, headers, rawHeaders } = request;
      const one = { method, url, headers, rawHeaders, body: await bodyOf(request) };
      seen.push(one);
      response.writeHead(respond(one)).end("{}");
    },
  });
  return { server, seen, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

/** Sends one request over a new transport. */
async function send(
  access: ClusterAccess,
  request: Request,
  options: ClusterTransportOptions = {},
): Promise<{ status: number; text: string }> {
  using transport = clusterTransport(access, options);
  const response = await transport(request);
  return { status: response.status, text: await response.text() };
}

const get = (path = "/api") => new Request(`https://kubernetes.invalid${path}`);
const post = () => new Request("https://kubernetes.invalid/api", { method: "POST", body: '{"a":1}' });

function trusting(server: LoopbackServer, fields: Partial<ClusterAccess> = {}): ClusterAccess {
  return accessTo(server.url(), { certificateAuthority: pemData(ca.certificate), ...fields });
}

test("requests go to the address and path of the server with the headers of the transport", async () => {
  await using one = await cluster();
  const access = trusting(one.server, { credentials: { kind: "token", token: new Masked("abc") } });
  await send({ ...access, server: `${access.server}/behind/a/proxy` }, get("/api/v1/pods?limit=5"), {
    userAgent: "controller/1.2.3",
  });
  const [seen] = one.seen;
  assertEquals([seen?.method, seen?.url], ["GET", "/behind/a/proxy/api/v1/pods?limit=5"]);
  assertEquals(seen?.headers.authorization, "Bearer abc");
  assertEquals(seen?.headers["accept-encoding"], "identity");
  assertMatch(
    seen?.headers["user-agent"] ?? "",
    /^controller\/1\.2\.3 \((linux|darwin|windows)\/(amd64|arm64)\) pintle$/,
  );
});

test("impersonation headers contain the user, the UID, each group and the extra fields", async () => {
  await using one = await cluster();
  const impersonate = { user: "jane", uid: "u1", groups: ["a", "b"], extra: { "example.com/Scope": ["x", "y"] } };
  await send(trusting(one.server, { impersonate }), get());
  const raw = one.seen[0]?.rawHeaders ?? [];
  const values = (name: string) => raw.filter((_, index) => index % 2 === 1 && raw[index - 1]?.toLowerCase() === name);
  assertEquals([values("impersonate-user"), values("impersonate-uid")], [["jane"], ["u1"]]);
  assertEquals(values("impersonate-group"), ["a", "b"]);
  assertEquals(values("impersonate-extra-example.com%2fscope"), ["x", "y"]);
});

test("the user of Client.as() replaces the one of the process, each group on a line, also for programs in containers", async () => {
  await using one = await cluster();
  const impersonate = { user: "jane", uid: "u1", groups: ["a"], extra: { scopes: ["x"] } };
  using transport = clusterTransport(trusting(one.server, { impersonate }));
  const client = new Client(transport).as({ user: "joe", groups: ["b", "c"] });
  await client.raw("/version");
  await assertRejects(() => client.exec("shop/web", { command: ["true"] }));
  const lines = one.seen.map(({ rawHeaders }) =>
    rawHeaders.flatMap((name, index) =>
      index % 2 === 0 && /^impersonate-/i.test(name) ? [`${name.toLowerCase()}: ${rawHeaders[index + 1]}`] : []
    ).sort()
  );
  const expected = ["impersonate-group: b", "impersonate-group: c", "impersonate-user: joe"];
  assertEquals(lines.slice(0, 1), [expected]);
  assertEquals(lines.every((one) => one.join() === expected.join()), true);
});

test("[76] after a 401 the token file is read again and the request is repeated with its body", async () => {
  await using folder = await TemporaryFolder.with({ token: "old" });
  await using one = await cluster(({ headers }) => headers.authorization === "Bearer new" ? 201 : 401);
  using transport = clusterTransport(
    trusting(one.server, { credentials: { kind: "tokenFile", path: `${folder.path}/token` } }),
  );
  await (await transport(get())).text();
  await folder.write("token", "new");
  const response = await transport(post());
  assertEquals([response.status, await response.text()], [201, "{}"]);
  assertEquals(one.seen.map(({ body }) => body), ["", '{"a":1}', '{"a":1}']);
});

test("[52] the guard of a request is called before each send, and its error ends the request", async () => {
  await using server = await cluster((_seen) => 401);
  using transport = clusterTransport(trusting(server.server));
  let calls = 0;
  const guarded = guardSends(get(), () => {
    calls++;
    throw new Error("not now");
  });
  await assertRejects(() => transport(guarded), /not now/);
  assertEquals([calls, server.seen.length], [1, 0]);
});

test("a 401 is returned after one request if the credentials cannot change", async () => {
  await using one = await cluster(() => 401);
  const access = trusting(one.server, { credentials: { kind: "token", token: new Masked("abc") } });
  assertEquals((await send(access, get())).status, 401);
  assertEquals(one.seen.length, 1);
});

test("[security 1, security 2] a server that is not trusted is refused before a token is sent", async () => {
  const elsewhere = await ca.issue({ commonName: "s", usage: "server", hosts: ["elsewhere"] });
  const dayMs = 86_400_000;
  const expired = await ca.issue({
    commonName: "s",
    usage: "server",
    hosts: ["127.0.0.1"],
    notBefore: new Date(systemClock.now() - 2 * dayMs),
    notAfter: new Date(systemClock.now() - dayMs),
  });
  const foreign = await otherCa.issue({ commonName: "s", usage: "server", hosts: ["127.0.0.1"] });
  const table = [[elsewhere, "wrongName"], [expired, "expired"], [foreign, "unknownAuthority"]] as const;
  for (const [tls, detail] of table) {
    await using one = await cluster(() => 200, tls);
    const access = trusting(one.server, { credentials: { kind: "token", token: new Masked("t0ken") } });
    const error = await assertRejects(() => send(access, get()));
    assert(error instanceof UnreachableError);
    assertEquals(error.reason, { kind: "tls", detail });
    assert(error.hint !== "" && !`${error.message}${error.hint}`.includes("t0ken"));
    assertEquals(one.seen.length, 0);
  }
});

test("each cause of an unreachable server has a reason", async () => {
  const plain = await LoopbackServer.start({ answer: (_request, response) => void response.end("x") });
  const reasonOf = async (server: string, options: ClusterTransportOptions = {}) => {
    const error = await assertRejects(() =>
      send(accessTo(server, { certificateAuthority: pemData(ca.certificate) }), get(), options)
    );
    assert(error instanceof UnreachableError, error.message);
    assertMatch(error.message, /^Cannot reach the API server at [^ ]+: /);
    return error.reason;
  };
  assertEquals(await reasonOf(plain.url().replace("http:", "https:")), { kind: "tls", detail: "notTls" });
  const gone = plain.url();
  await plain[Symbol.asyncDispose]();
  assertEquals(await reasonOf(gone), { kind: "unreachable", detail: "refused" });
  assertEquals(await reasonOf("https://nowhere.invalid"), { kind: "unreachable", detail: "nameNotFound" });
});

test("a request without a response in time fails, and an aborted request rejects with the reason", async () => {
  const server = await LoopbackServer.start({ tls: pair, answer: () => {} });
  await using _ = server;
  const clock = new VirtualClock();
  using transport = clusterTransport(trusting(server), { clock, responseTimeoutMs: 1000 });
  const request = transport(get());
  const failed = assertRejects(() => request);
  while (clock.pendingTimers === 0) await clock.advance(0);
  await clock.advance(1000);
  const error = await failed;
  assert(error instanceof UnreachableError);
  assertEquals(error.reason, { kind: "timeout", detail: "noResponse" });
  const controller = new AbortController();
  const aborted = transport(new Request("https://x/api", { signal: controller.signal }));
  const reason = new Error("no longer wanted");
  controller.abort(reason);
  assertEquals(await assertRejects(() => aborted), reason);
  assertEquals(clock.pendingTimers, 0);
});

test("the time limit for a response does not include its body", async () => {
  let finish: () => void = () => {};
  await using server = await LoopbackServer.start({
    tls: pair,
    answer: (_request, response) => {
      response.write("first ");
      finish = () => response.end("last");
    },
  });
  const clock = new VirtualClock();
  using transport = clusterTransport(trusting(server), { clock, responseTimeoutMs: 1000 });
  const response = await transport(get());
  await clock.advance(600_000);
  finish();
  assertEquals(await response.text(), "first last");
});

test("[security 3] redirects are not followed, so credentials go to the API server only", async () => {
  await using thief = await cluster();
  await using server = await LoopbackServer.start({
    tls: pair,
    answer: (_request, response) => void response.writeHead(307, { location: `${thief.server.url()}/steal` }).end(),
  });
  const access = trusting(server, { credentials: { kind: "token", token: new Masked("abc") } });
  assertEquals((await send(access, get())).status, 307);
  assertEquals(thief.seen.length, 0);
});

test("[74] a POST whose connection breaks is sent once, and a GET is repeated", async () => {
  const seen: string[] = [];
  await using server = await LoopbackServer.start({
    tls: pair,
    answer: async (request, response) => {
      await bodyOf(request);
      seen.push(request.method ?? "");
      if (seen.length === 2 || request.method === "POST") return void request.socket.destroy();
      response.end("ok");
    },
  });
  using transport = clusterTransport(trusting(server));
  await (await transport(get())).text();
  assertEquals(await (await transport(get())).text(), "ok");
  const error = await assertRejects(() => transport(post()));
  assert(error instanceof UnreachableError);
  assertEquals(seen, ["GET", "GET", "GET", "POST"]);
});

test("[78] a client certificate and a CA that change on disk are used by the next connection", async () => {
  const first = await ca.issue({ commonName: "first" });
  await using folder = await TemporaryFolder.with({
    "ca.pem": ca.certificate,
    "c.pem": first.certificate,
    "k.pem": first.key,
  });
  await using server = await cluster(() => 200, pair, ca.certificate);
  const clock = new VirtualClock();
  const logger = new RecordingLogger();
  const file = (name: string) => ({ kind: "file", path: `${folder.path}/${name}` }) as const;
  const access = accessTo(server.server.url(), {
    certificateAuthority: file("ca.pem"),
    clientCertificate: { certificate: file("c.pem"), key: file("k.pem") },
  });
  using transport = clusterTransport(access, { clock, logger });
  const works = async () => (await (await transport(get())).text()) === "{}";
  assert(await works());
  await folder.write("ca.pem", otherCa.certificate);
  assert(await works(), "checks the files too often");
  await clock.advance(10_000);
  const error = await assertRejects(works);
  assert(error instanceof UnreachableError && error.reason.kind === "tls");
  // Both authorities, as during a rotation. After a failed verification the files are checked at once.
  await folder.write("ca.pem", otherCa.certificate + ca.certificate);
  assert(await works());
});

test("[78] new tokens of all kinds, and equal certificate files, open no connection, end no watch and log nothing", async () => {
  await using folder = await TemporaryFolder.with({ "token": "t0", "ca.crt": ca.certificate, "runs": "" });
  await folder.write(
    "plugin",
    `#!/bin/sh\ncd "$(dirname "$0")"\necho x >> runs\nprintf '{"apiVersion":"client.authentication.k8s.io/v1",` +
      `"kind":"ExecCredential","status":{"token":"t%s","expirationTimestamp":"2026-01-01T00:00:00Z"}}' $(wc -l < runs)\n`,
  );
  const sources: readonly Credentials[] = [
    { kind: "tokenFile", path: `${folder.path}/token` },
    { kind: "exec", plugin: execPlugin(`${folder.path}/plugin`) },
  ];
  for (const credentials of sources) {
    const tokens: (string | undefined)[] = [];
    await using server = await LoopbackServer.start({
      tls: pair,
      answer: ({ url = "", headers }, response) => {
        tokens.push(headers.authorization);
        response.writeHead(200);
        if (url.includes("watch=true")) response.write("{");
        else response.end("{}");
      },
    });
    const certificateAuthority = { kind: "file", path: `${folder.path}/ca.crt` } as const;
    const clock = new VirtualClock();
    const logger = new RecordingLogger();
    using transport = clusterTransport(accessTo(server.url(), { certificateAuthority, credentials }), {
      clock,
      logger,
    });
    const stop = new AbortController();
    const watch = await transport(new Request(get("/api/v1/pods?watch=true"), { signal: stop.signal }));
    const reader = watch.body?.getReader();
    assertEquals(new TextDecoder().decode((await reader?.read())?.value), "{");
    let hasEnded = false;
    reader?.read().catch(() => {}).finally(() => hasEnded = true);
    for (let rotation = 1; rotation <= 3; rotation++) {
      // The kubelet replaces the folder of a projected volume: the CA is a new file each time.
      await folder.write(`new-${rotation}`, ca.certificate);
      await rename(`${folder.path}/new-${rotation}`, `${folder.path}/ca.crt`);
      await folder.write("token", `t${rotation}`);
      await clock.advance(60_000);
      await (await transport(get())).text();
    }
    assertEquals(new Set(tokens).size, 4, "each rotation brought a new token");
    assertEquals([server.connections, hasEnded], [2, false], "one for the watch, one for all other requests");
    assertEquals(logger.records.filter(({ level }) => level !== "debug"), []);
    stop.abort();
  }
});

test("[78] a pair that is half written leaves the old one in use until it is complete", async () => {
  const first = await ca.issue({ commonName: "first" });
  const second = await ca.issue({ commonName: "second" });
  await using folder = await TemporaryFolder.with({ "c.pem": first.certificate, "k.pem": first.key });
  await using server = await cluster(() => 200, pair, ca.certificate);
  const clock = new VirtualClock();
  const logger = new RecordingLogger();
  const file = (name: string) => ({ kind: "file", path: `${folder.path}/${name}` }) as const;
  const clientCertificate = { certificate: file("c.pem"), key: file("k.pem") };
  using transport = clusterTransport(trusting(server.server, { clientCertificate }), { clock, logger });
  const request = async () => (await transport(get())).text();
  await request();
  // Each with a size of its own: the times of two writes may be equal.
  for (const half of [`${second.certificate}\n\n\n`, second.certificate.slice(0, 100), ""]) {
    await folder.write("c.pem", half);
    await clock.advance(10_000);
    assertEquals(await request(), "{}");
  }
  assertEquals(logger.warnings.length, 3);
  await folder.write("c.pem", second.certificate);
  await folder.write("k.pem", second.key);
  await clock.advance(10_000);
  assertEquals(await request(), "{}");
  assertStringIncludes(logger.records.at(-1)?.message ?? "", "reloaded certificates");
});

test("[79] a cluster behind a proxy-url is reached through it", async () => {
  await using one = await cluster();
  const access = trusting(one.server, { proxy: "http://127.0.0.1:1" });
  const error = await assertRejects(() => send(access, get()));
  assert(error instanceof UnreachableError);
  assertEquals(error.reason, { kind: "unreachable", detail: "proxy" });
});

test("[security 5] no error and no log record shows a token", async () => {
  await using one = await cluster(() => 401);
  const secret = "canary-77aa";
  const logger = new RecordingLogger();
  const access = trusting(one.server, { credentials: { kind: "token", token: new Masked(secret) } });
  await send(access, get(), { logger });
  const error = await assertRejects(() =>
    send({ ...access, certificateAuthority: pemData(otherCa.certificate) }, get(), { logger })
  );
  const { inspect } = await import("node:util");
  const shown = inspect({ error, records: logger.records, access }, { depth: 12, showHidden: true });
  assert(!shown.includes(secret), shown);
});

test("a disposed transport refuses further requests", async () => {
  await using one = await cluster();
  const transport = clusterTransport(trusting(one.server));
  await (await transport(get())).text();
  transport[Symbol.dispose]();
  await assertRejects(() => transport(get()), /the transport is closed/);
});

test("a rate limit lets a burst pass and then delays requests", async () => {
  await using one = await cluster();
  const clock = new VirtualClock();
  using transport = clusterTransport(trusting(one.server), { clock, rateLimit: { qps: 10, burst: 1 } });
  await (await transport(get())).text();
  const second = transport(get());
  while (clock.pendingTimers === 0) await clock.advance(0);
  assertEquals([one.seen.length, clock.nextTimerInMs], [1, 100]);
  await clock.advance(100);
  assertEquals(await (await second).text(), "{}");
  const wrong = { rateLimit: { qps: 0, burst: 1 } };
  assertThrows(() => clusterTransport(trusting(one.server), wrong), /^Cannot create transport: qps 0 is not above 0/);
});
