/** From exec until every Foo of a large cluster is in the cache. */
import { Cluster } from "../cluster.ts";
import type { Sample } from "../metric.ts";
import { commandOf } from "../programs.ts";
import { syncedLine } from "../protocol.ts";
import { type Case, interleaved, josdkSubjects, kopf, ours, type Outcome, type Setting, type Subject } from "./case.ts";

const dropFlag = "--drop-managed-fields";

/** Many objects into a cache. */
export const syncCase: Case = {
  name: "sync",
  title: (scale) => `${scale.syncObjects.toLocaleString("en")} Foos into a cache`,
  subjects: [
    { name: ours, program: "pintle", args: ["sync"] },
    { name: "controller-runtime (typed)", program: "go", args: ["sync"] },
    { name: "controller-runtime (typed, managedFields dropped)", program: "go", args: ["sync", dropFlag] },
    { name: "controller-runtime (unstructured)", program: "go", args: ["sync", "--unstructured"] },
    { name: "kube-rs (streaming)", program: "rust", args: ["sync", "--streaming"] },
    { name: "kube-rs (streaming, managedFields dropped)", program: "rust", args: ["sync", "--streaming", dropFlag] },
    { name: "kube-rs (paged)", program: "rust", args: ["sync", "--paged"] },
    { name: "client-node on Deno", program: "node", args: [] },
    ...josdkSubjects("sync"),
    { name: kopf, program: "python", args: ["sync"], needsCount: true },
  ],
  run: runSync,
};

async function runSync(setting: Setting): Promise<Outcome> {
  const objects = setting.scale.syncObjects;
  await using cluster = await Cluster.start();
  await cluster.grow(objects);
  const samples = await interleaved(setting, (subject) => measureSync(cluster, subject, objects));
  const facts = {
    "JSON per Foo, managedFields included": `${await cluster.bytesPerObject()} B`,
    "kube-apiserver": await cluster.version(),
  };
  return { samples, facts };
}

/**
 * One sync.
 *
 * @throws Error when the cache holds another number of objects than the cluster.
 */
export async function measureSync(cluster: Cluster, subject: Subject, objects: number): Promise<Sample["values"]> {
  await cluster.calm();
  const args = subject.needsCount ? [...subject.args, `--objects=${objects}`] : subject.args;
  await using program = cluster.measure(commandOf(subject.program, args, subject.checkout));
  const { line, afterMs, usage } = await program.read(syncedLine);
  if (line.objects !== objects) {
    throw new Error(`Cannot use the sync of ${subject.name}: it has ${line.objects} of ${objects} objects`);
  }
  return { timeMs: afterMs, cpuMs: usage.cpuMs, maxRssBytes: usage.maxRssBytes };
}
