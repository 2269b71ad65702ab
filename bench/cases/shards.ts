/**
 * One controller in four, two and one sharded replicas on the same cluster: the memory of a replica, how long all Foos take to
 * get their Deployments, what the server counts meanwhile, and how long objects are without a replica when one of four is
 * killed. Four replicas create the Deployments. Then four, two and one find everything done, so that their memory can be
 * compared.
 *
 * A replica that takes over a part reads all objects anew, from a server that sends everything to everybody. The lower bound is
 * measured as well: readers that decode nothing.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { builtin } from "../../src/api/mod.ts";
import { Client, clusterTransport, isNotFound, loadClusterAccess, type Transport } from "../../src/client/mod.ts";
import { Cluster } from "../cluster.ts";
import type { Sample } from "../metric.ts";
import { commandOf } from "../programs.ts";
import { serverCounts, ShardedReplicas } from "../sharded_replicas.ts";
import { type Case, ours, type Outcome, type Setting, type Subject } from "./case.ts";

/** Four replicas that create what the others find. */
export const creatingReplicas = `${ours}, creating all`;
/** One replica has all objects. Of more replicas, the subject with {@link ours} has the most. */
const oneReplica = `${ours}, one replica`;
/** Two replicas, which have a half each. */
export const twoReplicas = `${ours}, two replicas`;
/** A replica on a cluster without Foos. */
const emptySubject = "without Foos";
const replicaCounts: Readonly<Record<string, number>> = {
  [creatingReplicas]: 4,
  [ours]: 4,
  [twoReplicas]: 2,
  [oneReplica]: 1,
};

const run = ["run", "foo", "--workers", "10"];
/** How often all Deployments are counted. */
const countEveryMs = 1_000;
/** What an empty replica needs until its memory is at rest. */
const restMs = 5_000;
/** Deployments that are deleted when a replica is killed, at equal distances. */
const mostDeleted = 2_000;
const maxDeletes = 50;

/** More replicas, and less of everything for each. */
export const shardsCase: Case = {
  name: "shards",
  title: ({ shardedFoos }) =>
    `${shardedFoos.toLocaleString("en")} Foos in four, two and one sharded replicas, the largest`,
  subjects: Object.keys(replicaCounts).map((name) => ({ name, program: "controller", args: run })),
  mostRuns: 1,
  run: runShards,
};

async function runShards({ subjects, scale: { shardedFoos: foos }, note }: Setting): Promise<Outcome> {
  const [first] = subjects;
  if (first === undefined) return { samples: [], facts: {} };
  await using cluster = await Cluster.start();
  const emptyBytes = await measureEmpty(cluster, first);
  const samples: Sample[] = [{ subject: emptySubject, values: { rssBytes: emptyBytes } }];
  await cluster.grow(foos);
  for (const subject of subjects) {
    const values = await measureReplicas({ cluster, subject, foos });
    samples.push({ subject: subject.name, values });
    note(`${subject.name}: ${JSON.stringify(values)}`);
  }
  const oneBytes = samples.find(({ subject }) => subject === oneReplica)?.values.rssBytes;
  return { samples: samples.map((sample) => withPart(sample, { emptyBytes, oneBytes })), facts: {} };
}

/** Adds what the memory of several replicas is of that of one, without what every process has. */
function withPart(
  { subject, values }: Sample,
  { emptyBytes, oneBytes }: { readonly emptyBytes: number; readonly oneBytes: number | undefined },
): Sample {
  const count = replicaCounts[subject] ?? 1;
  const { rssBytes } = values;
  if (count === 1 || rssBytes === undefined || oneBytes === undefined) return { subject, values };
  return { subject, values: { ...values, rssOfOne: (rssBytes - emptyBytes) * count / oneBytes } };
}

async function measureEmpty(cluster: Cluster, { program, args, checkout }: Subject): Promise<number> {
  await using replicas = await ShardedReplicas.start(cluster, commandOf(program, args, checkout), 1);
  await replicas.holdAllSlots();
  await sleep(restMs);
  return largest(replicas.usages().map(({ rssBytes }) => rssBytes));
}

interface Measurement {
  readonly cluster: Cluster;
  readonly subject: Subject;
  readonly foos: number;
}

async function measureReplicas({ cluster, subject, foos }: Measurement): Promise<Sample["values"]> {
  const { program, args, checkout, name } = subject;
  const before = await serverCounts(cluster);
  const isCreating = await cluster.deployments() < foos;
  const startedAt = performance.now();
  await using replicas = await ShardedReplicas.start(
    cluster,
    commandOf(program, args, checkout),
    replicaCounts[name] ?? 1,
  );
  const { count } = replicas;
  await replicas.holdAllSlots();
  await untilAllDeployments(cluster, foos);
  await replicas.reconcile(foos);
  const timeMs = performance.now() - startedAt;
  await cluster.calm();
  const after = await serverCounts(cluster);
  const usages = replicas.usages();
  const written = {
    childWrites: (after.deployments - before.deployments) / foos,
    statusWrites: (after.statuses - before.statuses) / foos,
  };
  return {
    timeMs,
    cpuMs: largest(usages.map((usage) => usage.cpuMs)),
    rssBytes: largest(usages.map((usage) => usage.rssBytes)),
    maxRssBytes: largest(usages.map((usage) => usage.maxRssBytes)),
    watchEvents: (after.events - before.events) / (timeMs / 1_000) / count,
    ...(isCreating ? written : {}),
    ...(count > 2 && !isCreating ? await measureKill(cluster, replicas, foos) : {}),
  };
}

/** Kills a replica, and sees how long its objects are without one. */
async function measureKill(cluster: Cluster, replicas: ShardedReplicas, foos: number): Promise<Sample["values"]> {
  const overrides = { kubeconfig: cluster.kubeconfig };
  const access = await loadClusterAccess({ environment: {}, overrides, workingDirectory: "/" });
  using transport = clusterTransport(access);
  const sentMs = await measureSending(access.server, transport, replicas.count - 1);
  await cluster.calm();
  const before = await serverCounts(cluster);
  replicas.killOne();
  const killedAt = performance.now();
  const deleted = await deleteDeployments(new Client(transport), foos);
  await replicas.holdAllSlots();
  const heldMs = performance.now() - killedAt;
  await untilAllDeployments(cluster, foos);
  const backMs = performance.now() - killedAt;
  await cluster.calm();
  const { deployments } = await serverCounts(cluster);
  return { heldMs, backMs, sentMs, repairWrites: (deployments - before.deployments) / deleted };
}

/**
 * Milliseconds in which the server sends all Foos and Deployments, in pages, to so many readers at once that decode nothing:
 * no replica can have read its part sooner, if the server does not select it.
 */
async function measureSending(server: string, transport: Transport, readers: number): Promise<number> {
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
  return performance.now() - startedAt;
}

/** Deletes Deployments at equal distances. @returns how many */
async function deleteDeployments(client: Client, foos: number): Promise<number> {
  const count = Math.min(mostDeleted, foos);
  const step = Math.floor(foos / count);
  const keys = Array.from(
    { length: count },
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
  return count;
}

async function untilAllDeployments(cluster: Cluster, foos: number): Promise<void> {
  while (await cluster.deployments() < foos) await sleep(countEveryMs);
}

function largest(values: readonly number[]): number {
  return Math.max(...values);
}
