/**
 * `kubectl apply` of one file with many objects, which the server does not have yet: the same kubectl against the embedded
 * API server and against a kube-apiserver with etcd, each of them new for every run.
 */
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { buildControlPlane } from "../../tests/controlplane/mod.ts";
import { Cluster } from "../cluster.ts";
import type { Sample } from "../metric.ts";
import { childrenCpuMs } from "../usage.ts";
import { kubernetes, withEmbedded } from "./apiserver.ts";
import { type Case, interleaved, ours, type Outcome, type Setting, type Subject } from "./case.ts";

/** Many objects in one file. */
export const apiserverApplyCase: Case = {
  name: "apiserver-apply",
  title: (scale) => `\`kubectl apply\` of one file with ${scale.applied.toLocaleString("en")} new objects`,
  subjects: [
    { name: ours, program: "pintle", args: ["apiserver"] },
    { name: kubernetes, program: "go", args: [] },
  ],
  run: runApply,
};

async function runApply(setting: Setting): Promise<Outcome> {
  const dir = await mkdtemp(join(tmpdir(), "pintle-bench-"));
  try {
    const file = join(dir, "objects.json");
    await writeFile(file, objectsText(setting.scale.applied));
    const measure = (subject: Subject) =>
      subject.name === kubernetes
        ? measureKubernetes(file, setting.scale.applied)
        : measureOurs(subject, file, setting.scale.applied);
    return { samples: await interleaved(setting, measure), facts: {} };
  } finally {
    await rm(dir, { recursive: true });
  }
}

/** Two kinds in turn, as a JSON stream: a ConfigMap and a Deployment that uses it. */
function objectsText(objects: number): string {
  return Array.from({ length: objects }, (_, index) => `${JSON.stringify(objectAt(index))}\n`).join("");
}

function objectAt(index: number): object {
  const name = `web-${String(index >> 1).padStart(5, "0")}`;
  const labels = { "app.kubernetes.io/name": name, "app.kubernetes.io/part-of": "shop" };
  const metadata = { name, namespace: "default", labels };
  if (index % 2 === 0) {
    return { apiVersion: "v1", kind: "ConfigMap", metadata, data: { color: "blue", greeting: "welcome to the shop" } };
  }
  const container = { name: "web", image: "registry.k8s.io/pause:3.10", envFrom: [{ configMapRef: { name } }] };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata,
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [container] } },
    },
  };
}

async function measureKubernetes(file: string, objects: number): Promise<Sample["values"]> {
  await using cluster = await Cluster.start();
  const serverCpuMs = () => cluster.usage("kube-apiserver").cpuMs + cluster.usage("etcd").cpuMs;
  return await apply({ file, objects, kubeconfig: cluster.kubeconfig, serverCpuMs });
}

async function measureOurs(subject: Subject, file: string, objects: number): Promise<Sample["values"]> {
  return await withEmbedded(
    subject,
    (program, kubeconfig) => apply({ file, objects, kubeconfig, serverCpuMs: () => program.usage().cpuMs }),
  );
}

/** What one run applies, and where. */
interface Apply {
  readonly file: string;
  readonly objects: number;
  readonly kubeconfig: string;
  readonly serverCpuMs: () => number;
}

/** Applies the file with an empty discovery cache. @throws Error when an object was not created */
async function apply({ file, objects, kubeconfig, serverCpuMs }: Apply): Promise<Sample["values"]> {
  const built = await buildControlPlane();
  if (built.kind === "unavailable") throw new Error(`Cannot run kubectl: ${built.reason}`);
  const home = await mkdtemp(join(tmpdir(), "pintle-bench-"));
  try {
    const env = { ...process.env, HOME: home, KUBECONFIG: kubeconfig };
    const [beforeMs, kubectlBeforeMs, startedAt] = [serverCpuMs(), childrenCpuMs(), performance.now()];
    const { stdout } = await promisify(execFile)(built.binaries.kubectl, ["apply", "-f", file], {
      env,
      maxBuffer: 64 << 20,
    });
    const timeMs = performance.now() - startedAt;
    const created = stdout.split("\n").filter((line) => line.endsWith(" created")).length;
    if (created !== objects) throw new Error(`Cannot use the apply: ${created} of ${objects} objects were created`);
    return { timeMs, serverCpuMs: serverCpuMs() - beforeMs, clientCpuMs: childrenCpuMs() - kubectlBeforeMs };
  } finally {
    await rm(home, { recursive: true });
  }
}
