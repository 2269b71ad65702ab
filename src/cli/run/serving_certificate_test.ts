/** Tests of the listeners that follow their certificate: the metrics of other machines' scrapers, and the debug endpoint. */
import { X509Certificate } from "node:crypto";
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, type PeerCertificate, type TLSSocket } from "node:tls";
import { freePort } from "../../../tests/free_port.ts";
import { assert, assertEquals, assertStringIncludes, test } from "../../../tests/testing.ts";
import { until } from "../../../tests/until.ts";
import { VirtualClock } from "../../async/mod.ts";
import { Client } from "../../client/mod.ts";
import { debugStateOf } from "../../manager/mod.ts";
import { createTestManager, greeter } from "../../manager/testing/test_manager.ts";
import { MetricsRegistry, Recording } from "../../observe/mod.ts";
import type { CertificatePair } from "../../runtime/mod.ts";
import { issueCertificates } from "../../webhook/mod.ts";
import { Session } from "../command/mod.ts";
import { FakeServer } from "../testing/fake_server.ts";
import { TestProcess } from "../testing/test_process.ts";
import { createEndpoints } from "./manager.ts";
import type { ServingFlags } from "./run_flags.ts";

/** An address of this machine alone that does not look like one: then a certificate is needed. */
const hostname = "127.1";

const issuedMs = Date.UTC(2026, 0, 1);

async function issue(lifetimeMs = 3_600_000): Promise<CertificatePair> {
  const { cert, key } = await issueCertificates({ hosts: ["a"], now: issuedMs, lifetimeMs });
  return { cert, key };
}

function serialOf(cert: string): string {
  return new X509Certificate(cert).serialNumber;
}

/** A connection whose handshake is done. */
async function connected(port: number): Promise<TLSSocket> {
  return await new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", rejectUnauthorized: false }, () => resolve(socket));
    socket.once("error", reject);
  });
}

/** The serial number of the certificate that a new connection gets. */
async function servedBy(port: number): Promise<string> {
  const socket = await connected(port);
  const { serialNumber }: PeerCertificate = socket.getPeerCertificate();
  socket.destroy();
  return serialNumber;
}

/** The metrics and the debug endpoint of `run` with a certificate in a folder, until the callback ends. */
async function serving(
  use: (parts: {
    readonly ports: readonly number[];
    readonly metrics: MetricsRegistry;
    /** Replaces the files at once, and waits for the next look at them; the clock moves in four steps, each after `between`. */
    readonly replace: (pair: CertificatePair, between?: () => Promise<void>) => Promise<void>;
  }) => Promise<void>,
  first: CertificatePair,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "pintle-cert-"));
  const clock = new VirtualClock();
  const write = async (pair: CertificatePair) => {
    for (const [name, text] of [["tls.key", pair.key], ["tls.crt", pair.cert]] as const) {
      await writeFile(join(folder, `new-${name}`), text);
      await rename(join(folder, `new-${name}`), join(folder, name));
    }
  };
  await write(first);
  const ports = [await freePort(), await freePort()];
  const [metricsPort = 0, debugPort = 0] = ports;
  const flags = {
    certDir: folder,
    metricsBindAddress: { hostname, port: metricsPort },
    debugBindAddress: { hostname, port: debugPort },
    debugTokenFile: join(folder, "token"),
  } as unknown as ServingFlags;
  await using manager = createTestManager([greeter()]);
  const process = new TestProcess([]);
  using session = new Session({ name: "op", controllers: [] }, process);
  const debug = { state: debugStateOf(manager.manager), recording: new Recording({ now: () => 0 }), session };
  const reviewer = new Client(new FakeServer({}).transport);
  const metrics = new MetricsRegistry();
  const runnables = createEndpoints(flags, { checks: [], metrics, reviewer, clock, debug });
  const stop = new AbortController();
  for (const runnable of runnables) await runnable.prepare?.(stop.signal);
  const running = runnables.map((runnable) => runnable.run({ stop: stop.signal, kill: stop.signal }));
  // Each of the two listeners waits for its next look.
  const looked = () => until(() => clock.pendingTimers >= 2, "the wait for the next look");
  try {
    await looked();
    await use({
      ports,
      metrics,
      async replace(pair, between) {
        await write(pair);
        for (let step = 0; step < 4; step++) {
          await between?.();
          await clock.advance(2_500);
        }
        await looked();
      },
    });
  } finally {
    stop.abort();
    let hasEnded = false;
    const ended = Promise.all(running).finally(() => hasEnded = true);
    // The debug endpoint has the clock of its process, by which it cuts off a client that left during its handshake.
    while (!hasEnded) await Promise.all([clock.advance(1_000), process.clock.advance(1_000)]);
    await ended;
    await rm(folder, { recursive: true });
  }
}

/** Connects until the certificate is the expected one: the file is read while connections are accepted. */
async function becameServed(port: number, cert: string): Promise<void> {
  let serial = "";
  for (let attempt = 0; attempt < 500 && serial !== serialOf(cert); attempt++) serial = await servedBy(port);
  assertEquals(serial, serialOf(cert));
}

test("[71] the metrics and the debug endpoint serve a new certificate after one poll, and keep old connections", async () => {
  const [first, second, other] = [await issue(), await issue(), await issue()];
  await serving(async ({ ports, replace }) => {
    for (const port of ports) assertEquals(await servedBy(port), serialOf(first.cert));
    const [metricsPort = 0] = ports;
    const old = await connected(metricsPort);
    let received = "";
    old.on("data", (chunk: Uint8Array) => received += new TextDecoder().decode(chunk));
    const ask = async () => {
      received = "";
      old.write("GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n");
      await until(() => received.includes("HTTP/1.1 401"), "the answer on the old connection");
    };
    await ask();
    await replace(second);
    for (const port of ports) await becameServed(port, second.cert);
    await ask();
    old.destroy();
    await replace({ cert: other.cert, key: second.key });
    for (const port of ports) assertEquals(await servedBy(port), serialOf(second.cert), "files that are no pair");
    await replace(other);
    for (const port of ports) await becameServed(port, other.cert);
  }, first);
});

test("[71] the end of the certificate of the metrics and of the debug endpoint is in the metrics", async () => {
  await serving(async ({ metrics, replace }) => {
    const assertEnds = async (ms: number) => {
      const text = await metrics.render();
      for (const server of ["metrics", "debug"]) {
        const line = `pintle_certificate_expiration_timestamp_seconds{server="${server}"} ${(issuedMs + ms) / 1000}`;
        assertStringIncludes(text, `${line}\n`);
      }
    };
    await assertEnds(3_600_000);
    await replace(await issue(7_200_000));
    await assertEnds(7_200_000);
  }, await issue());
});

test("[71] no handshake is cut while the certificate is replaced", async () => {
  const pairs = [await issue(), await issue(), await issue()];
  const [first] = pairs;
  assert(first !== undefined);
  const serials = new Set(pairs.map(({ cert }) => serialOf(cert)));
  await serving(async ({ ports: [port = 0], replace }) => {
    const seen: string[] = [];
    const counts = Array.from({ length: 8 }, () => 0);
    let isOver = false;
    const clients = counts.map(async (_, client) => {
      while (!isOver) {
        seen.push(await servedBy(port));
        counts[client] = (counts[client] ?? 0) + 1;
      }
    });
    // A handshake may take 10 s by the clock, which moves faster here: each client ends the one that it has begun.
    const progress = async () => {
      const before = [...counts];
      await until(() => counts.every((count, client) => count > (before[client] ?? 0)), "a handshake of each client");
    };
    for (let round = 1; round < 12; round++) {
      await replace(pairs[round % pairs.length] ?? first, progress);
      await progress();
    }
    isOver = true;
    await Promise.all(clients);
    assert(seen.every((serial) => serials.has(serial)));
    assertEquals(new Set(seen).size, serials.size, "each certificate was served");
  }, first);
});
