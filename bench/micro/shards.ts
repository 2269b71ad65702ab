/**
 * `run foo --shards` with one, two and four replicas of the compiled binary on a real control plane: how long all Foos take to
 * get their Deployments, what each replica needs for that, how many writes the server counts, and how long the objects of a
 * replica that is killed are without one.
 *
 *   deno run -A bench/micro/shards.ts [foos] [replicas,...] [--selected] [--one-cluster] [--no-kill] [--binary=PATH]...
 *
 * With `--binary`, the first count measures the first binary, the second the second one, and so on, in turn.
 * With `--one-cluster` all counts share a cluster: the first one creates the Deployments, and the others find them.
 * With `--no-kill` no replica is killed, which takes as long as the rest with many Foos.
 * With `--selected` the server has the feature gate ShardedListAndWatch, so it sends each replica only its part.
 *
 * Needs `sh compile.sh` and a Go compiler, for the program of the bench that creates the Foos. All replicas and the servers
 * share this machine: compare the memory, the CPU and the counts of a replica, and times only within one run.
 */
import { join } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { builtin } from "../../src/api/mod.ts";
import { Client, clusterTransport, isNotFound, loadClusterAccess, type Transport } from "../../src/client/mod.ts";
import { Cluster } from "../cluster.ts";
import { freePort } from "../free_port.ts";
import { MeasuredProcess } from "../measured_process.ts";
import { buildPrograms } from "../programs.ts";

const args = process.argv.slice(2);
const isSelected = args.includes("--selected");
const isOneCluster = args.includes("--one-cluster");
const isKilling = !args.includes("--no-kill");
const [foosText = "200000", countsText = "1,2,4"] = args.filter((arg) => !arg.startsWith("--"));
const foos = Number(foosText);
const counts = countsText.split(",").map(Number);
const built = join(import.meta.dirname ?? ".", "..", "..", "dist", "controller");
const named = args.flatMap((arg) => arg.startsWith("--binary=") ? [arg.slice("--binary=".length)] : []);
const binaries = named.length > 0 ? named : [built];
const slotCount = 256;
const reconcileMetric = "controller_runtime_reconcile_total";
const lookMs = 200;
/** How often all Deployments are counted. */
const countEveryMs = 1_000;
/** Deployments that are deleted when a replica is killed, at equal distances. */
const deletedCount = Math.min(2_000, foos);
const maxDeletes = 50;

/** A replica, and where its metrics are. */
interface Replica {
  readonly process: MeasuredProcess;
  readonly metrics: string;
}

/** What the server has counted. */
interface ServerCounts {
  /** Accepted writes of Deployments. */
  readonly deployments: number;
  /** Accepted writes of the status of Foos. */
  readonly statuses: number;
  /** Events that were sent to all watches of Foos and Deployments. */
  readonly events: number;
}

async function startReplica(cluster: Cluster, binary: string, expected: number): Promise<Replica> {
  const port = await freePort();
  const address = `127.0.0.1:${port}`;
  const command = [binary, "run", "foo", "--shards", String(expected), "--workers", "10"];
  return {
    process: cluster.measure([...command, "--metrics-bind-address", address]),
    metrics: `http://${address}/metrics`,
  };
}

/** The sum of the series of a metric whose labels match; 0 when there is none. */
function sumOf(text: string, name: string, labels: readonly RegExp[] = []): number {
  return text.split("\n").filter((line) =>
    (line.startsWith(`${name} `) || line.startsWith(`${name}{`)) && labels.every((label) => label.test(line))
  ).reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" ") + 1)), 0);
}

async function sumOfReplica({ metrics }: Replica, name: string, labels?: readonly RegExp[]): Promise<number> {
  return sumOf(await fetch(metrics).then((response) => response.text(), () => ""), name, labels);
}

/** The sum of a metric of all replicas; a replica that does not answer counts as 0. */
async function sumOfReplicas(replicas: readonly Replica[], name: string): Promise<number> {
  const sums = await Promise.all(replicas.map((replica) => sumOfReplica(replica, name)));
  return sums.reduce((sum, own) => sum + own, 0);
}

async function untilAllSlots(replicas: readonly Replica[]): Promise<void> {
  while (await sumOfReplicas(replicas, "shard_slots") < slotCount) await sleep(lookMs);
}

async function untilAllDeployments(cluster: Cluster): Promise<void> {
  while (await cluster.deployments() < foos) await sleep(countEveryMs);
}

async function serverCounts(cluster: Cluster): Promise<ServerCounts> {
  const text = await cluster.serverMetrics();
  const writes = [/verb="(POST|PUT|PATCH|APPLY)"/, /code="20[01]"/];
  const requests = (...labels: readonly RegExp[]) => sumOf(text, "apiserver_request_total", [...writes, ...labels]);
  return {
    deployments: requests(/resource="deployments"/),
    statuses: requests(/resource="foos"/, /subresource="status"/),
    events: sumOf(text, "apiserver_watch_events_total", [/resource="(foos|deployments)"/]),
  };
}

/** Deletes Deployments at equal distances. */
async function deleteDeployments(client: Client): Promise<void> {
  const step = Math.floor(foos / deletedCount);
  const keys = Array.from(
    { length: deletedCount },
    (_, index) => `default/foo-${String(index * step).padStart(6, "0")}` as const,
  );
  const next = keys.values();
  const work = async () => {
    for (const key of next) {
      await client.delete(builtin.Deployment, key).catch((error) => {
        if (!isNotFound(error)) throw error;
      });
    }
  };
  await Promise.all(Array.from({ length: maxDeletes }, work));
}

function secondsSince(startedAt: number): number {
  return (performance.now() - startedAt) / 1000;
}

function mebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(0)} MiB`;
}

async function startCluster(): Promise<Cluster> {
  const cluster = await Cluster.start(isSelected ? ["--feature-gates=ShardedListAndWatch=true"] : []);
  await cluster.grow(foos);
  return cluster;
}

async function measure(cluster: Cluster, binary: string, expected: number): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const before = await serverCounts(cluster);
  const startedAt = performance.now();
  const replicas = await Promise.all(Array.from({ length: expected }, () => startReplica(cluster, binary, expected)));
  for (const replica of replicas) stack.use(replica.process);
  await untilAllSlots(replicas);
  await untilAllDeployments(cluster);
  while (await sumOfReplicas(replicas, reconcileMetric) < foos) await sleep(lookMs);
  const seconds = secondsSince(startedAt);
  await cluster.calm();
  const after = await serverCounts(cluster);
  const eventRate = (after.events - before.events) / seconds / expected;
  for (const [index, replica] of replicas.entries()) {
    const { cpuMs, rssBytes, maxRssBytes } = replica.process.usage();
    const reconciles = await sumOfReplica(replica, reconcileMetric);
    const failed = await sumOfReplica(replica, reconcileMetric, [/result="error"/]);
    const cells = [
      ...[expected, index + 1, await sumOfReplica(replica, "shard_slots"), seconds.toFixed(1)],
      ...[(cpuMs / 1000).toFixed(1), mebibytes(rssBytes), mebibytes(maxRssBytes)],
      ...[reconciles, failed, (reconciles / seconds).toFixed(0), eventRate.toFixed(0)],
    ];
    console.log(`| ${cells.join(" | ")} |`);
  }
  const written = [after.deployments - before.deployments, after.statuses - before.statuses];
  console.log(`the server counted ${written[0]} writes of Deployments and ${written[1]} of statuses for ${foos} Foos`);
  if (isKilling) await kill(cluster, replicas);
}

/**
 * Seconds in which the server sends all Foos and Deployments, in pages, to so many readers at once that decode nothing: no
 * replica can have read its part sooner, if the server does not select it.
 */
async function secondsToSend(server: string, transport: Transport, readers: number): Promise<number> {
  const startedAt = performance.now();
  const kinds = ["/apis/samplecontroller.k8s.io/v1alpha1/foos", "/apis/apps/v1/deployments"];
  await Promise.all(
    Array.from({ length: readers }, () => kinds).flat().map(async (path) => {
      let next: string | undefined = "";
      while (next !== undefined) {
        const response: Response = await transport(new Request(`${server}${path}?limit=500&continue=${next}`));
        const bytes = new Uint8Array(await response.arrayBuffer());
        // A list of custom resources has its metadata at the end.
        const ends = [bytes.subarray(0, 1_000), bytes.subarray(-1_000)].map((end) => new TextDecoder().decode(end));
        next = /"continue":"([^"]+)"/.exec(ends.join(" "))?.[1];
      }
    }),
  );
  return secondsSince(startedAt);
}

/** Kills a replica, and sees how long its objects are without one. */
async function kill(cluster: Cluster, [killed, ...others]: readonly Replica[]): Promise<void> {
  if (killed === undefined || others.length === 0) return;
  const overrides = { kubeconfig: cluster.kubeconfig };
  const access = await loadClusterAccess({ environment: {}, overrides, workingDirectory: "/" });
  using transport = clusterTransport(access);
  const sentAfter = await secondsToSend(access.server, transport, others.length);
  await cluster.calm();
  const before = await serverCounts(cluster);
  const reconciles = await sumOfReplicas(others, reconcileMetric);
  killed.process.kill();
  const killedAt = performance.now();
  await deleteDeployments(new Client(transport));
  const deletedAfter = secondsSince(killedAt);
  await untilAllSlots(others);
  const heldAfter = secondsSince(killedAt);
  await untilAllDeployments(cluster);
  const repairedAfter = secondsSince(killedAt);
  await cluster.calm();
  const after = await serverCounts(cluster);
  const texts = [
    `the server sends everything to ${others.length} readers in ${sentAfter.toFixed(1)} s`,
    `one of ${others.length + 1} is killed: ${deletedCount} Deployments are deleted within ${
      deletedAfter.toFixed(1)
    } s`,
    `all slots are held after ${heldAfter.toFixed(1)} s`,
    `all Deployments are back after ${repairedAfter.toFixed(1)} s`,
    `the server counted ${after.deployments - before.deployments} writes of Deployments`,
    `${after.statuses - before.statuses} of statuses`,
    `${await sumOfReplicas(others, reconcileMetric) - reconciles} reconciles`,
    `largest RSS of a replica ${mebibytes(Math.max(...others.map(({ process }) => process.usage().maxRssBytes)))}`,
  ];
  console.log(texts.join(", "));
}

await buildPrograms(["go"]);
console.log(
  "| replicas | replica | slots | all Foos s | CPU s | RSS | max RSS | reconciles | failed | reconciles/s | watch events/s |",
);
console.log("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
await using shared = isOneCluster ? await startCluster() : undefined;
for (const [index, expected] of counts.entries()) {
  const binary = binaries[index % binaries.length] ?? built;
  await using own = shared === undefined ? await startCluster() : undefined;
  const cluster = shared ?? own;
  if (cluster !== undefined) await measure(cluster, binary, expected);
}
