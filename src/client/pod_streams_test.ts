/** Tests of exec, attach and port-forward over TLS, on every runtime, against a server that speaks the channel protocol. */
import { connect } from "node:net";
import { CertificateAuthority } from "../../tests/controlplane/certificate_authority.ts";
import { type ServerSession, startChannelServer, type SwitchHandler } from "../../tests/fakes/channel_server.ts";
import { assert, assertEquals, assertMatch, assertRejects, test } from "../../tests/testing.ts";
import { until } from "../../tests/until.ts";
import { type Clock, systemClock, VirtualClock } from "../async/mod.ts";
import { ApiError } from "./api_error.ts";
import { Client } from "./client.ts";
import { clusterTransport } from "./cluster_transport.ts";
import { type ClusterAccess, Masked } from "./kubeconfig/mod.ts";
import { accessTo, pemData } from "./testing/cluster_access.ts";
import { isUnreachable } from "./unreachable_error.ts";

const ca = await CertificateAuthority.create("cluster");
const pair = await ca.issue({ commonName: "s", usage: "server", hosts: ["127.0.0.1"] });
const text = (bytes: Uint8Array | undefined) => new TextDecoder().decode(bytes);
const bytesOf = (value: string) => new TextEncoder().encode(value);
const success = '{"metadata":{},"status":"Success"}';
const exited = (code: number) =>
  JSON.stringify({
    status: "Failure",
    reason: "NonZeroExitCode",
    message: `command terminated with exit code ${code}`,
    details: { causes: [{ reason: "ExitCode", message: String(code) }] },
  });

interface Setup extends AsyncDisposable {
  readonly client: Client;
  readonly requests: Awaited<ReturnType<typeof startChannelServer>>["requests"];
}

async function setUp(
  handle: SwitchHandler,
  fields: Partial<ClusterAccess> = {},
  clock: Clock = systemClock,
): Promise<Setup> {
  const server = await startChannelServer({ ...pair, clientCa: fields.clientCertificate && ca.certificate }, handle);
  const access = accessTo(server.url, { certificateAuthority: pemData(ca.certificate), ...fields });
  const transport = clusterTransport(access, { clock });
  return {
    client: new Client(transport, { clock }),
    requests: server.requests,
    async [Symbol.asyncDispose]() {
      transport[Symbol.dispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

const session = (run: (session: ServerSession) => Promise<void> | void): SwitchHandler => () => ({ run });

test("[116] exec runs a program: input, both outputs, the exit code, and the credentials of the client", async () => {
  const certificate = await ca.issue({ commonName: "jane" });
  const handle: SwitchHandler = () => ({
    async run(session) {
      const first = await session.receive();
      const close = await session.receive();
      session.send(1, "");
      session.send(1, `got ${text(first?.payload.subarray(1))} on ${first?.payload[0]}, `);
      session.send(2, "oh");
      session.send(1, `then ${close?.payload.join(" ")}`);
      session.send(3, exited(3));
      session.frame(8, new Uint8Array([3, 232]));
    },
  });
  await using one = await setUp(handle, {
    credentials: { kind: "token", token: new Masked("t0") },
    impersonate: { user: "bob", uid: undefined, groups: ["a", "b"], extra: {} },
    clientCertificate: { certificate: pemData(certificate.certificate), key: pemData(certificate.key) },
  });
  using program = await one.client.exec("shop/web-0", { command: ["sh", "-c", "a&b"], container: "web", stdin: true });
  const input = program.stdin.getWriter();
  await input.write(bytesOf("hello"));
  await input.close();
  assertEquals(await program.output(), { stdout: "got hello on 0, then 255 0", stderr: "oh", exitCode: 3 });
  const [request] = one.requests;
  assertEquals(
    `${request?.method} ${request?.url.pathname}${request?.url.search}`,
    "GET /api/v1/namespaces/shop/pods/web-0/exec?command=sh&command=-c&command=a%26b&container=web&stdin=true&stdout=true&stderr=true",
  );
  assertEquals(request?.headers.get("accept"), "*/*", "kube-apiserver answers 406 to anything else");
  assertEquals(request?.headers.get("authorization"), "Bearer t0");
  assertEquals(request?.headers.get("impersonate-user"), "bob");
  assertEquals(request?.headers.get("impersonate-group"), "a, b");
  assertEquals(request?.protocols, ["v5.channel.k8s.io", "v4.channel.k8s.io"]);
});

test("[116] a server with v4 only: the end of stdin is not sent, everything else works", async () => {
  const handle: SwitchHandler = () => ({
    protocol: "v4.channel.k8s.io",
    async run(session) {
      const first = await session.receive();
      session.send(1, text(first?.payload.subarray(1)));
      session.send(3, success);
    },
  });
  await using one = await setUp(handle);
  using program = await one.client.exec("shop/web-0", { command: ["cat"], stdin: true });
  const input = program.stdin.getWriter();
  await input.write(bytesOf("hi"));
  await input.close();
  assertEquals(await program.output(), { stdout: "hi", stderr: "", exitCode: 0 });
});

test("[116] attach with a terminal sends its size, and large outputs and inputs arrive whole", async () => {
  const large = new Uint8Array(3_000_000).map((_, index) => index % 251);
  const handle: SwitchHandler = session(async (session) => {
    const size = await session.receive();
    let receivedBytes = 0;
    while (receivedBytes < large.length) {
      receivedBytes += ((await session.receive())?.payload.length ?? large.length) - 1;
    }
    for (let at = 0; at < large.length; at += 32_768) {
      session.send(1, large.subarray(at, at + 32_768));
      if (at === 0) session.frame(9, "ping");
    }
    session.send(1, text(size?.payload.subarray(1)));
    session.send(3, success);
  });
  await using one = await setUp(handle);
  using container = await one.client.attach("shop/web-0", { tty: true, stdin: true });
  await container.resize({ columns: 80, rows: 24 });
  const input = container.stdin.getWriter();
  const writing = input.write(large);
  const chunks: Uint8Array[] = [];
  for await (const chunk of container.stdout) chunks.push(chunk);
  await writing;
  const sizeBytes = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  assertEquals([text(chunks.at(-1)), sizeBytes - 24], ['{"Width":80,"Height":24}', large.length]);
  assertEquals([await container.exitCode, one.requests[0]?.url.search], [0, "?stdin=true&stdout=true&tty=true"]);
});

test("[116] what the server refuses is its ApiError, and a program that cannot start, too", async () => {
  const status = JSON.stringify({ kind: "Status", code: 403, reason: "Forbidden", message: "no exec for jane" });
  await using refused = await setUp(() => ({ status: 403, body: status }));
  const error = await assertRejects(
    () => refused.client.exec("shop/web-0", { command: ["ls"] }),
    /^Cannot exec in Pod "shop\/web-0": no exec for jane/,
  );
  assert(error instanceof ApiError && error.code === 403);
  const missing = { status: "Failure", reason: "InternalError", code: 500, message: 'exec: "nope" not found' };
  await using failing = await setUp(session((session) => session.send(3, JSON.stringify(missing))));
  using program = await failing.client.exec("shop/web-0", { command: ["nope"] });
  assert(await assertRejects(() => program.output(), /"nope" not found/) instanceof ApiError);
});

test("[116] options that cannot be are refused before anything is sent", async () => {
  await using one = await setUp(() => ({ status: 500 }));
  const { client } = one;
  await assertRejects(() => client.exec("shop/web-0", { command: [] }), /the command is empty/);
  await assertRejects(() => client.exec("shop/web-0", { command: ["a"], tty: true, stderr: true }), /no stderr/);
  await assertRejects(() => client.exec("web-0", { command: ["a"] }), /the key must be "namespace\/name"/);
  await assertRejects(() => client.dryRunClient().exec("shop/web-0", { command: ["a"] }), /a dry run/);
  await assertRejects(() => client.portForward("shop/web-0", { port: 0 }), /it is not from 1 to 65535/);
  assertEquals(one.requests, []);
});

test("[116] a connection that is lost, or closed without a Status, is an error, and streams end with it", async () => {
  const cases: readonly [SwitchHandler, RegExp][] = [
    [session((session) => (session.send(1, "part"), session.destroy())), /the connection was closed/],
    [session((session) => session.frame(8, new Uint8Array([3, 232]))), /without saying how the program ended/],
    [session((session) => session.frame(8, new Uint8Array([3, 243, 98, 97, 100]))), /closed the stream with 1011 bad/],
    [session((session) => session.send(3, "no JSON")), /something that is no Status/],
  ];
  for (const [handle, message] of cases) {
    await using one = await setUp(handle);
    using program = await one.client.exec("shop/web-0", { command: ["a"] });
    await assertRejects(() => program.output(), message);
    await assertRejects(() => program.exitCode, message);
  }
});

test("[116] frames that break the rules, and messages without end, end the connection in bounded memory", async () => {
  const frames: readonly [Uint8Array, RegExp][] = [
    [new Uint8Array([0x82, 0x81, 1, 2, 3, 4, 5]), /it sent a masked frame/],
    [new Uint8Array([0xc2, 1, 1]), /it set reserved bits/],
    [new Uint8Array([0x83, 1, 1]), /a frame of the unknown kind 3/],
    [new Uint8Array([0x09, 1, 1]), /a control frame that is not one piece/],
    [new Uint8Array([0x80, 1, 1]), /it mixed the parts of two messages/],
    [new Uint8Array([0x82, 127, 0, 0, 0, 1, 0, 0, 0, 0]), /a message of more than 4194304 bytes/],
    [new Uint8Array([0x82, 127, 255, 255, 255, 255, 255, 255, 255, 255]), /a message of more than 4194304 bytes/],
    [new Uint8Array([0x88, 1, 1]), /its close frame is malformed/],
  ];
  for (const [bytes, message] of frames) {
    await using one = await setUp(session((session) => session.raw(bytes)));
    using program = await one.client.exec("shop/web-0", { command: ["a"] });
    await assertRejects(() => program.output(), message);
  }
  const endless = session((session) => {
    session.frame(2, new Uint8Array(60_000), { isFinal: false });
    for (let part = 0; part < 80; part++) session.frame(0, new Uint8Array(60_000), { isFinal: false });
  });
  await using one = await setUp(endless);
  using program = await one.client.exec("shop/web-0", { command: ["a"] });
  await assertRejects(() => program.output(), /a message of more than 4194304 bytes/);
});

test("[116] a server that does not prove the handshake is not talked to", async () => {
  const cases: readonly [SwitchHandler, RegExp][] = [
    [() => ({ headers: { "sec-websocket-accept": "x" } }), /does not belong to this request/],
    [() => ({ headers: { upgrade: "SPDY/3.1" } }), /it switched to another protocol/],
    [() => ({ protocol: "v1.other" }), /it speaks none of v5.channel.k8s.io, v4.channel.k8s.io/],
    [() => ({ headers: { "sec-websocket-extensions": "permessage-deflate" } }), /an extension that was not asked for/],
    [() => ({ status: 200, body: "{}" }), /does not switch to WebSocket/],
  ];
  for (const [handle, message] of cases) {
    await using one = await setUp(handle);
    await assertRejects(() => one.client.exec("shop/web-0", { command: ["a"] }), message);
  }
});

test("[116] a silent peer is noticed after 60 s by pings without an answer", async () => {
  const clock = new VirtualClock();
  await using one = await setUp(session(() => {}), {}, clock);
  using program = await one.client.exec("shop/web-0", { command: ["sleep"] });
  let failure: unknown;
  program.exitCode.catch((error: unknown) => failure = error);
  await clock.advance(45_000);
  assertEquals(failure, undefined);
  await clock.advance(30_000);
  await until(() => failure !== undefined, "the end of the connection");
  assert(isUnreachable(failure) && failure.reason.detail === "stalled");
});

test("[116] an abort ends the streams with the reason of the signal", async () => {
  let hasEnded = false;
  const handle = session(async (session) => {
    while (await session.receive() !== undefined);
    hasEnded = true;
  });
  await using one = await setUp(handle);
  const stop = new AbortController();
  using program = await one.client.exec("shop/web-0", { command: ["sleep"], signal: stop.signal });
  stop.abort(new Error("enough"));
  await assertRejects(() => program.output(), /^enough$/);
  await until(() => hasEnded, "the end of the connection at the server");
});

/** Sends text to a local port, and returns the answer. */
function ask(port: number, question: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = "";
    const socket = connect({ host: "127.0.0.1", port }, () => socket.write(question));
    socket.on("data", (chunk: Uint8Array) => answer += text(chunk));
    socket.on("error", reject);
    socket.on("close", () => resolve(answer));
  });
}

test("[116] portForward() carries each connection, and reports what the Pod refuses", async () => {
  const port = new Uint8Array([0x90, 0x1f]); // 8080, little endian
  let refuses = false;
  const handle = session(async (session) => {
    session.send(0, port);
    session.send(1, port.subarray(0, 1));
    session.send(1, port.subarray(1));
    if (refuses) session.send(1, "nothing listens on 8080");
    const question = refuses ? undefined : await session.receive();
    session.send(0, `echo ${question?.payload[0]} ${text(question?.payload.subarray(1))}`);
    session.frame(8, new Uint8Array([3, 232]));
  });
  await using one = await setUp(handle);
  const errors: unknown[] = [];
  await using forward = await one.client.portForward("shop/web-0", {
    port: 8080,
    onError: (error) => errors.push(error),
  });
  const answers = await Promise.all(["a", "b", "c"].map((question) => ask(forward.port, question)));
  assertEquals(answers, ["echo 0 a", "echo 0 b", "echo 0 c"]);
  assertEquals(
    one.requests.map(({ url, protocols }) => `${url.pathname}${url.search} ${protocols}`)[0],
    [
      "/api/v1/namespaces/shop/pods/web-0/portforward?ports=8080 v4.channel.k8s.io",
    ][0],
  );
  refuses = true;
  assertEquals(await ask(forward.port, "d"), "");
  await until(() => errors.length === 1, "the error");
  assertMatch(String(errors[0]), /Cannot forward port 8080 of Pod "shop\/web-0": nothing listens on 8080/);
});
