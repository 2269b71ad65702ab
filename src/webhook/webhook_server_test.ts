import * as tls from "node:tls";
import { assert, assertEquals, assertRejects, assertStringIncludes, test } from "../../tests/testing.ts";
import { until } from "../../tests/until.ts";
import { scope, systemClock, VirtualClock } from "../async/mod.ts";
import { httpClient, PortInUseError } from "../runtime/mod.ts";
import { clientCertificate } from "./testing/client_certificates.ts";
import {
  type CertificateSource,
  fixedCertificate,
  issueCertificates,
  type IssuedCertificates,
} from "./certificates.ts";
import { Pool, review, webhookRequest } from "./testing/reviews.ts";
import type { Webhook } from "./handler.ts";
import { allow, validating } from "./webhook.ts";
import { WebhookServer, type WebhookServerOptions } from "./webhook_server.ts";

const path = "/validate-nodes-example-dev-v1-pool";
const yes: readonly Webhook[] = [validating(Pool, { create: () => allow() })];

const issue = () => issueCertificates({ hosts: ["127.0.0.1"], now: systemClock.now(), lifetimeMs: 3_600_000 });

/** A source that yields the pairs given to push(). */
function pushed(): CertificateSource & { push: (pair: IssuedCertificates) => void } {
  const waiting: IssuedCertificates[] = [];
  let wake = () => {};
  return {
    push(pair) {
      waiting.push(pair);
      wake();
    },
    async *pairs(signal) {
      signal.addEventListener("abort", () => wake());
      while (!signal.aborted) {
        const next = waiting.shift();
        if (next !== undefined) yield next;
        else await new Promise<void>((resolve) => wake = resolve);
      }
    },
  };
}

interface Running extends AsyncDisposable {
  readonly server: WebhookServer;
  readonly clock: VirtualClock;
  readonly url: string;
  stop(): void;
  readonly done: Promise<void>;
}

async function running(
  options: Partial<WebhookServerOptions> & Pick<WebhookServerOptions, "certificates">,
): Promise<Running> {
  const clock = new VirtualClock();
  const stop = scope(new AbortController().signal), kill = scope(new AbortController().signal);
  const server = new WebhookServer({ webhooks: yes, hostname: "127.0.0.1", port: 0, clock, ...options });
  const done = server.run(stop.signal, { kill: kill.signal });
  await until(() => server.isReady, "the server to be ready");
  return {
    server,
    clock,
    done,
    url: `https://127.0.0.1:${server.port}${path}`,
    stop: () => stop.abort(),
    async [Symbol.asyncDispose]() {
      kill.abort();
      await done;
    },
  };
}

function postReview(url: string, init: RequestInit = {}): Request {
  return new Request(url, webhookRequest(path, review(), init));
}

test("[71, 93] 10 rotations during 200 requests: none fails, and new connections see the new certificate", async () => {
  const pairs = [await issue(), await issue()];
  const [even, odd] = pairs;
  assert(even !== undefined && odd !== undefined);
  const source = pushed();
  source.push(even);
  await using run = await running({ certificates: source });
  const both = httpClient({ ca: even.ca + odd.ca });
  const statuses: number[] = [];
  let rotations = 0;
  const client = async () => {
    while (statuses.length < 200) {
      const isFresh = statuses.length % 3 === 0;
      const response = await both.fetch(postReview(run.url, isFresh ? { headers: freshHeaders } : {}));
      await response.text();
      statuses.push(response.status);
      if (statuses.length % 20 === 0 && rotations < 10) source.push(++rotations % 2 === 0 ? even : odd);
    }
  };
  await Promise.all([client(), client(), client(), client()]);
  assertEquals(rotations, 10);
  assertEquals(statuses.filter((status) => status !== 200), []);
  for (const [current, other] of [[odd, even], [even, odd]] as const) {
    source.push(current);
    await until(() => true, "");
    const only = httpClient({ ca: current.ca }), stale = httpClient({ ca: other.ca });
    const response = await only.fetch(postReview(run.url, { headers: freshHeaders }));
    assertEquals([response.status, (await response.json()).response.allowed], [200, true]);
    await assertRejects(() => stale.fetch(postReview(run.url)));
    only.close();
    stale.close();
  }
  both.close();
});

const freshHeaders = { "content-type": "application/json", connection: "close" };

test("[73] on stop the server is not ready, serves for the drain delay, finishes open requests, then closes", async () => {
  const respond: (() => void)[] = [];
  const slow = validating(Pool, { create: () => new Promise((resolve) => respond.push(() => resolve(allow()))) });
  const pair = await issue();
  await using run = await running({ certificates: fixedCertificate(pair), webhooks: [slow] });
  const { clock, server } = run;
  const client = httpClient({ ca: pair.ca });
  const inFlight = client.fetch(postReview(run.url));
  await until(() => respond.length === 1, "the first request");
  let isDone = false;
  run.done.then(() => isDone = true);
  run.stop();
  await until(() => !server.isReady, "not ready");
  await clock.advance(4_999);
  const late = client.fetch(postReview(run.url, { headers: freshHeaders }));
  await until(() => respond.length === 2, "a request during the drain delay");
  respond[1]?.();
  assertEquals((await late).status, 200);
  await clock.advance(1);
  await until(() => true, "");
  assertEquals(isDone, false);
  await assertRejects(() => httpClient({ ca: pair.ca }).fetch(postReview(run.url)));
  respond[0]?.();
  const response = await inFlight;
  assertEquals((await response.json()).response.allowed, true);
  await run.done;
  assertEquals(server.port, undefined);
  assertEquals(clock.pendingTimers, 0);
  client.close();
});

test("[66] a body above 7 MiB gets a 413, and the server keeps working", async () => {
  const pair = await issue();
  await using run = await running({ certificates: fixedCertificate(pair) });
  const client = httpClient({ ca: pair.ca });
  const huge = await client.fetch(postReview(run.url, { body: "x".repeat(7 * 1024 * 1024 + 1) })).then(
    (response) => response.status,
    () => "cut off",
  );
  assert(huge === 413 || huge === "cut off");
  await run.clock.advance(1_000);
  assertEquals((await client.fetch(postReview(run.url))).status, 200);
  client.close();
});

test("[security 12] a client without a certificate of the given authority, or with another name, is refused", async () => {
  const pair = await issue();
  const [apiServer, other] = await clientCertificate(["kube-apiserver", "other"]);
  const [foreign] = await clientCertificate(["kube-apiserver"]);
  assert(apiServer !== undefined && other !== undefined && foreign !== undefined);
  const options = { certificates: fixedCertificate(pair), clientCa: apiServer.ca, clientName: "kube-apiserver" };
  await using run = await running(options);
  const statusFor = async (identity: object) => {
    const client = httpClient({ ca: pair.ca, ...identity });
    const outcome = await client.fetch(postReview(run.url)).then((response) => response.status, () => "refused");
    client.close();
    return outcome;
  };
  assertEquals(await statusFor({ cert: apiServer.cert, key: apiServer.key }), 200);
  assertEquals(await statusFor({ cert: other.cert, key: other.key }), 403);
  assertEquals(await statusFor({ cert: foreign.cert, key: foreign.key }), "refused");
  assertEquals(await statusFor({}), "refused");
});

test("run() rejects with PortInUseError when the port is in use", async () => {
  const pair = await issue();
  await using run = await running({ certificates: fixedCertificate(pair) });
  const second = new WebhookServer({
    webhooks: yes,
    certificates: fixedCertificate(pair),
    hostname: "127.0.0.1",
    port: run.server.port,
  });
  const error = await assertRejects(() => second.run(new AbortController().signal));
  assert(error instanceof PortInUseError);
  assertStringIncludes(
    (await assertRejects(() => second.run(new AbortController().signal))).message,
    "has run already",
  );
});

test("a server that is stopped during its start leaves nothing open", async () => {
  const pair = await issue();
  const clock = new VirtualClock();
  const certificates = fixedCertificate(pair);
  const server = new WebhookServer({ webhooks: yes, certificates, hostname: "127.0.0.1", port: 0, clock });
  await server.run(AbortSignal.abort());
  assertEquals([server.isReady, server.port, clock.pendingTimers], [false, undefined, 0]);
});

test("[66] a request that no webhook accepts is refused before its body is read", async () => {
  const pair = await issue();
  await using served = await running({ certificates: fixedCertificate(pair) });
  const refused = [["POST", "/other", "404"], ["POST", "/convert", "404"], ["PUT", path, "405"]] as const;
  for (const [method, at, status] of refused) {
    const socket = tls.connect({ host: "127.0.0.1", port: served.server.port, ca: pair.ca });
    let received = "";
    socket.on("data", (chunk) => received += chunk.toString());
    socket.on("error", () => {});
    await new Promise<void>((resolve) => socket.once("secureConnect", resolve));
    // The body never comes.
    socket.write(`${method} ${at} HTTP/1.1\r\nHost: a\r\nContent-Length: 6000000\r\n\r\n`);
    await until(() => received !== "", `a response to ${method} ${at}`);
    assertStringIncludes(received, `HTTP/1.1 ${status} `);
    socket.destroy();
  }
});

test("300 connections, as two API servers may have them, all stay open for their calls", async () => {
  const pair = await issue();
  await using run = await running({ certificates: fixedCertificate(pair) });
  const port = run.server.port;
  assert(port !== undefined);
  const sockets = await Promise.all(Array.from({ length: 300 }, () => {
    const socket = tls.connect({ host: "127.0.0.1", port, ca: pair.ca });
    return new Promise<tls.TLSSocket>((resolve, reject) => {
      socket.once("error", reject).once("secureConnect", () => resolve(socket));
    });
  }));
  const body = JSON.stringify(review());
  const head = `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\nconnection: close\r\n`;
  for (const socket of sockets) {
    let answer = "";
    socket.setEncoding("utf8").on("data", (part: string) => answer += part).on("error", () => {});
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.write(`${head}content-length: ${body.length}\r\n\r\n${body}`);
    await closed;
    assertStringIncludes(answer, '"allowed":true');
  }
});
