/**
 * What traces cost: the user CPU of reconciles that apply one object each, of a Manager on a cluster in memory, without a
 * recorder ("off"), with one that nobody reads ("recorded"), and with traces that are sent to a collector in another process
 * ("traced"). The three take turns, in pairs with the same work; "off again" against "off" is the noise of the measurement.
 * Run it with `sh tasks/bun.sh bench/micro/tracing.ts [ROUNDS]`.
 */
import { spawn } from "node:child_process";
import { createServer } from "node:http";
import process, { cpuUsage } from "node:process";
import { fileURLToPath } from "node:url";
import { systemClock } from "../../src/async/mod.ts";
import { builtin, type KubeObject } from "../../src/api/mod.ts";
import { startTracing } from "../../src/cli/tracing/mod.ts";
import { Client } from "../../src/client/mod.ts";
import { controller, done, manifest } from "../../src/controller/mod.ts";
import { Manager } from "../../src/manager/mod.ts";
import { MetricsRegistry, Recording } from "../../src/observe/mod.ts";
import { FakeCluster } from "../../tests/fakes/cluster.ts";

const objectsPerRound = 1_500;
const modes = ["off", "off again", "recorded", "traced"] as const;
type Mode = typeof modes[number];

const { ConfigMap, Namespace } = builtin;

/** Microseconds of user CPU per reconcile. */
async function measure(mode: Mode, endpoint: string): Promise<number> {
  const cluster = new FakeCluster();
  const recorder = mode.startsWith("off") ? undefined : new Recording({ now: Date.now, maxBytes: 0 });
  const tracing = mode !== "traced" || recorder === undefined ? undefined : await startTracing({
    ...{ target: { endpoint }, name: "bench", version: "0", recording: recorder },
    ...{ metrics: new MetricsRegistry(), clock: systemClock, log: silent },
  });
  const { promise: allDone, resolve } = Promise.withResolvers<void>();
  let left = objectsPerRound;
  const manager = new Manager({ client: new Client(cluster.transport), recorder });
  manager.add(
    controller("writer", { maxConcurrentReconciles: 4 }).for(Namespace).owns(ConfigMap).reconcile(async (ctx) => {
      const metadata = { namespace: ctx.object.metadata.name, name: "greeting" };
      await ctx.apply(manifest(ConfigMap, { metadata, data: { text: "hello" } }));
      if (--left === 0) resolve();
      return done;
    }),
  );
  for (let index = 0; index < objectsPerRound; index++) {
    const object: KubeObject = { apiVersion: "v1", kind: "Namespace", metadata: { name: `n${index}` } };
    cluster.put(`/api/v1/namespaces/n${index}`, object);
  }
  const stop = new AbortController();
  const before = cpuUsage();
  const running = manager.run(stop.signal);
  await allDone;
  stop.abort();
  await running;
  await tracing?.run({ stop: stop.signal, kill: stop.signal });
  return cpuUsage(before).user / objectsPerRound;
}

const nothing = () => {};
const silent = { debug: nothing, info: nothing, warn: nothing, error: nothing, with: () => silent };

/** A process that takes traces. @returns its address */
async function startCollector(): Promise<{ readonly endpoint: string; readonly end: () => void }> {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), "--collector"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const endpoint = await new Promise<string>((resolve) =>
    child.stdout.once("data", (chunk) => resolve(String(chunk).trim()))
  );
  return { endpoint, end: () => void child.kill("SIGKILL") };
}

function collect(): void {
  const server = createServer((request, response) => void request.resume().on("end", () => response.end("{}")));
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    if (address !== null && typeof address === "object") console.log(`http://127.0.0.1:${address.port}`);
  });
}

function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[values.length >> 1] ?? 0;
}

if (process.argv[2] === "--collector") collect();
else {
  const rounds = Number(process.argv[2] ?? 15);
  const { endpoint, end } = await startCollector();
  const results = new Map<Mode, number[]>(modes.map((mode) => [mode, []]));
  for (let round = -2; round < rounds; round++) {
    // Each mode comes first in a part of the rounds: the heap that one leaves is collected in the next one.
    for (let turn = 0; turn < modes.length; turn++) {
      const mode = modes[(turn + round + modes.length) % modes.length] ?? "off";
      const us = await measure(mode, endpoint);
      if (round >= 0) results.get(mode)?.push(us);
    }
  }
  end();
  const off = results.get("off") ?? [];
  for (const [mode, values] of results) {
    const ratio = median(values.map((value, index) => value / (off[index] ?? value)));
    console.log(
      `${mode.padEnd(10)} ${median(values).toFixed(1).padStart(8)} us user CPU per reconcile, ${
        ratio.toFixed(3)
      } of off`,
    );
  }
  process.exit(0);
}
