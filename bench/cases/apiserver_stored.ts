/**
 * The memory of a stored object: RSS beside N and beside 2N Foos, and the difference divided by N. An empty server, its
 * compiled code and its history of changes are in both and cancel out.
 *
 * RSS is that of all processes of the server, `idleMs` after the last create: memory that was freed is then back with the
 * system. Objects and load are those of the case apiserver.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { Cluster } from "../cluster.ts";
import type { Sample } from "../metric.ts";
import { createFoos, kubernetes, withEmbedded } from "./apiserver.ts";
import { type Case, interleaved, ours, type Outcome, type Scale, type Setting, type Subject } from "./case.ts";

/** The slope of memory over objects. */
export const apiserverStoredCase: Case = {
  name: "apiserver-stored",
  title: ({ slopeObjects: objects }) =>
    `RSS of an API server per stored Foo, from ${objects.toLocaleString("en")} to ${
      (2 * objects).toLocaleString("en")
    }`,
  subjects: [
    { name: ours, program: "pintle", args: ["apiserver"] },
    { name: kubernetes, program: "go", args: [] },
  ],
  run: runStored,
};

async function runStored(setting: Setting): Promise<Outcome> {
  const { scale } = setting;
  const measure = (subject: Subject) =>
    subject.name === kubernetes ? measureKubernetes(scale) : measureOurs(subject, scale);
  const samples = await interleaved(setting, measure);
  return { samples, facts: {} };
}

async function measureKubernetes(scale: Scale): Promise<Sample["values"]> {
  await using cluster = await Cluster.start();
  const rssBytes = () => cluster.usage("kube-apiserver").rssBytes + cluster.usage("etcd").rssBytes;
  return await slope(scale, cluster.kubeconfig, rssBytes);
}

async function measureOurs(subject: Subject, scale: Scale): Promise<Sample["values"]> {
  return await withEmbedded(
    subject,
    (program, kubeconfig) => slope(scale, kubeconfig, () => program.usage().rssBytes),
  );
}

async function slope(
  { slopeObjects: objects, idleMs }: Scale,
  kubeconfig: string,
  rssBytes: () => number,
): Promise<Sample["values"]> {
  await createFoos(kubeconfig, { to: objects });
  await sleep(idleMs);
  const first = rssBytes();
  await createFoos(kubeconfig, { from: objects, to: 2 * objects });
  await sleep(idleMs);
  const second = rssBytes();
  return { storedBytes: (second - first) / objects, idleRssBytes: second };
}
