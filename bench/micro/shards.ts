/**
 * `run foo --shards` with one, two and four replicas of the compiled binary on a real control plane: how long all Foos take to
 * get their Deployments, what each replica needs for that, and how long the objects of a replica that is killed are without one.
 *
 *   deno run -A bench/micro/shards.ts [foos] [replicas,...]
 *
 * Needs `sh compile.sh` and the Go program of the bench (`deno task bench:peers --quick sync`), which creates the Foos. All
 * replicas and the servers share this machine: compare the CPU and the memory of a replica, and not the time.
 */
import { join } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { Cluster } from "../cluster.ts";
import { freePort } from "../free_port.ts";
import { MeasuredProcess } from "../measured_process.ts";
import { buildPrograms } from "../programs.ts";

const foos = Number(process.argv[2] ?? 200_000);
const counts = (process.argv[3] ?? "1,2,4").split(",").map(Number);
const binary = join(import.meta.dirname ?? ".", "..", "..", "dist", "controller");
const slotCount = 256;
const lookMs = 200;

/** A replica, and where its metrics are. */
interface Replica {
  readonly process: MeasuredProcess;
  readonly metrics: string;
}

async function startReplica(cluster: Cluster, expected: number): Promise<Replica> {
  const port = await freePort();
  const address = `127.0.0.1:${port}`;
  const command = [binary, "run", "foo", "--shards", String(expected), "--workers", "10"];
  return {
    process: cluster.measure([...command, "--metrics-bind-address", address]),
    metrics: `http://${address}/metrics`,
  };
}

/** Slots that a replica holds; 0 while it does not answer. */
async function slotsOf({ metrics }: Replica): Promise<number> {
  const text = await fetch(metrics).then((response) => response.text(), () => "");
  return Number(/^shard_slots(?:\{[^}]*\})? (\d+)/m.exec(text)?.[1] ?? 0);
}

async function untilAllSlots(replicas: readonly Replica[]): Promise<void> {
  while ((await Promise.all(replicas.map(slotsOf))).reduce((sum, own) => sum + own, 0) < slotCount) await sleep(lookMs);
}

async function measure(expected: number): Promise<void> {
  await using cluster = await Cluster.start();
  await cluster.grow(foos);
  await using stack = new AsyncDisposableStack();
  const startedAt = performance.now();
  const replicas = await Promise.all(Array.from({ length: expected }, () => startReplica(cluster, expected)));
  for (const replica of replicas) stack.use(replica.process);
  await untilAllSlots(replicas);
  const divided = await Promise.all(replicas.map(slotsOf));
  while (await cluster.deployments() < foos) await sleep(lookMs);
  const seconds = (performance.now() - startedAt) / 1000;
  await cluster.calm();
  for (const [index, { process }] of replicas.entries()) {
    const { cpuMs, rssBytes, maxRssBytes } = process.usage();
    const [rss, maxRss] = [rssBytes, maxRssBytes].map((bytes) => `${(bytes / 2 ** 20).toFixed(0)} MiB`);
    const row = [expected, index + 1, divided[index], seconds.toFixed(1), (cpuMs / 1000).toFixed(1), rss, maxRss];
    console.log(`| ${row.join(" | ")} |`);
  }
  const [killed, ...others] = replicas;
  if (killed === undefined || others.length === 0) return;
  killed.process.kill();
  const killedAt = performance.now();
  await untilAllSlots(others);
  console.log(
    `of ${expected} replicas one was killed: all slots are held after ${
      ((performance.now() - killedAt) / 1000).toFixed(1)
    } s`,
  );
}

await buildPrograms(["go"]);
console.log("| replicas | replica | slots | all Foos s | CPU s | RSS | max RSS |");
console.log("| --- | --- | --- | --- | --- | --- | --- |");
for (const expected of counts) await measure(expected);
