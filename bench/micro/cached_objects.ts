/**
 * Micro-benchmark of the memory of cached objects: Foos as the case growth of the peers creates them, and the Deployments of
 * foo with what it owns of them, parsed from a watch one by one, in a cache that shares equal parts and in a map of the
 * parsed objects.
 *
 *   bun bench/micro/cached_objects.ts [objects] [rounds]
 *   deno run -A --v8-flags=--expose-gc bench/micro/cached_objects.ts [objects] [rounds]
 *
 * Each state is a new process, and they run in turn. It prints the medians: bytes of live heap for each object after full
 * collections, and CPU of parsing and storing an object.
 */
import { spawnSync } from "node:child_process";
import process from "node:process";
import { keyOf, type KubeObject, resourceVersion } from "../../src/api/mod.ts";
import { dropManagedFields, keepManagers } from "../../src/cache/mod.ts";
import { SharedValues } from "../../src/cache/shared_values.ts";

const modes = ["parsed", "shared"] as const;
type Mode = typeof modes[number];

/** What a process measured. */
interface Measured {
  readonly bytes: number;
  readonly microseconds: number;
}

const fooTypes = { apiVersion: "samplecontroller.k8s.io/v1alpha1", kind: "Foo" };
const deploymentTypes = { apiVersion: "apps/v1", kind: "Deployment" };

function nameOf(number: number): string {
  return `foo-${String(number).padStart(6, "0")}`;
}

function hexOf(number: number): string {
  return (number * 2_654_435_761 >>> 0).toString(16).padStart(8, "0");
}

/** The Foo with this number, as a kube-apiserver sends it without managedFields. */
function foo(number: number): KubeObject {
  const [name, hex] = [nameOf(number), hexOf(number)];
  return {
    ...fooTypes,
    metadata: {
      annotations: {
        "example.dev/contact": `team-${number % 7}@example.dev`,
        "example.dev/description": "the web front of the shop",
      },
      creationTimestamp: `2026-01-01T00:${String(Math.floor(number / 6_000) % 60).padStart(2, "0")}:00Z`,
      generation: 1,
      labels: {
        "app.kubernetes.io/name": `web-${number % 97}`,
        "app.kubernetes.io/part-of": `shop-${number % 11}`,
        team: `team-${number % 7}`,
      },
      name,
      namespace: "default",
      resourceVersion: resourceVersion(String(1_000 + number)),
      uid: `${hex}-1234-4abc-8def-0123${hex}`,
    },
    ...{ spec: { deploymentName: name, replicas: 1 } },
  };
}

/** The Deployment of this Foo, with the server's defaults and a status. */
function deployment(number: number): KubeObject {
  const [name, hex] = [nameOf(number), hexOf(number)];
  const labels = { app: "nginx", controller: name };
  const container = {
    ...{ image: "nginx:latest", imagePullPolicy: "Always", name: "nginx", resources: {} },
    ...{ terminationMessagePath: "/dev/termination-log", terminationMessagePolicy: "File" },
  };
  const podSpec = {
    ...{ containers: [container], dnsPolicy: "ClusterFirst", restartPolicy: "Always" },
    ...{ schedulerName: "default-scheduler", securityContext: {}, terminationGracePeriodSeconds: 30 },
  };
  const time = `2026-01-01T00:${String(Math.floor(number / 6_000) % 60).padStart(2, "0")}:00Z`;
  const condition = {
    ...{ lastTransitionTime: time, lastUpdateTime: time, message: "Deployment has minimum availability." },
    ...{ reason: "MinimumReplicasAvailable", status: "True", type: "Available" },
  };
  const uidOfOwner = `k:{"uid":"${hex}-1234-4abc-8def-0123${hex}"}`;
  const ownedSpec = {
    "f:replicas": {},
    "f:selector": {},
    "f:template": {
      "f:metadata": { "f:labels": { "f:app": {}, "f:controller": {} } },
      "f:spec": { "f:containers": { 'k:{"name":"nginx"}': { ".": {}, "f:image": {}, "f:name": {} } } },
    },
  };
  const owned = { "f:metadata": { "f:ownerReferences": { [uidOfOwner]: {} } }, "f:spec": ownedSpec };
  const owner = { ...fooTypes, name, uid: `${hex}-1234-4abc-8def-0123${hex}` };
  return {
    ...deploymentTypes,
    metadata: {
      annotations: { "deployment.kubernetes.io/revision": "1" },
      creationTimestamp: time,
      generation: 1,
      managedFields: [{
        ...{ apiVersion: "apps/v1", fieldsType: "FieldsV1", fieldsV1: owned, manager: "foo", operation: "Apply", time },
      }],
      name,
      namespace: "default",
      ownerReferences: [{ ...owner, blockOwnerDeletion: true, controller: true }],
      resourceVersion: resourceVersion(String(1_000 + number)),
      uid: `${hex}-5678-4abc-8def-0123${hex}`,
    },
    ...{
      spec: {
        ...{ progressDeadlineSeconds: 600, replicas: 1, revisionHistoryLimit: 10, selector: { matchLabels: labels } },
        strategy: { rollingUpdate: { maxSurge: "25%", maxUnavailable: "25%" }, type: "RollingUpdate" },
        template: { metadata: { labels }, spec: podSpec },
      },
      status: {
        ...{ availableReplicas: 1, conditions: [condition], observedGeneration: 1 },
        ...{ readyReplicas: 1, replicas: 1, updatedReplicas: 1 },
      },
    },
  };
}

const kinds = {
  Foo: { types: fooTypes, make: foo, transform: dropManagedFields },
  Deployment: { types: deploymentTypes, make: deployment, transform: keepManagers(new Set(["foo"])) },
};
type Kind = keyof typeof kinds;
const kindNames = Object.keys(kinds) as readonly Kind[];

async function liveHeapBytes(): Promise<number> {
  const runtime = globalThis as { readonly Bun?: { gc(isFull: boolean): void }; readonly gc?: () => void };
  if (runtime.Bun === undefined) {
    for (let round = 0; round < 3; round++) runtime.gc?.();
    return process.memoryUsage().heapUsed;
  }
  for (let round = 0; round < 3; round++) runtime.Bun.gc(true);
  const { heapStats } = await import("bun:jsc" as string);
  const { heapSize, extraMemorySize } = heapStats();
  return Math.max(heapSize, extraMemorySize);
}

async function measure(kind: Kind, mode: Mode, objects: number): Promise<Measured> {
  const { types, make, transform } = kinds[kind];
  const values = new SharedValues();
  const store = new Map<string, KubeObject>();
  const before = await liveHeapBytes();
  let cpu = 0;
  for (let first = 0; first < objects; first += 500) {
    const texts = Array.from({ length: 500 }, (_, index) => JSON.stringify(make(first + index)));
    const begin = process.cpuUsage();
    for (const text of texts) {
      const object = transform<KubeObject>(JSON.parse(text));
      store.set(keyOf(object), mode === "shared" ? values.share(object, types) : object);
    }
    const { user, system } = process.cpuUsage(begin);
    cpu += user + system;
  }
  const bytes = (await liveHeapBytes() - before) / objects;
  if (store.size < objects) throw new Error(`Cannot measure ${mode}: the store has ${store.size} objects`);
  return { bytes, microseconds: cpu / objects };
}

function measureInProcess(kind: Kind, mode: Mode, objects: number): Measured {
  const flags = process.execArgv.length > 0 || "Bun" in globalThis ? [] : ["run", "-A", "--v8-flags=--expose-gc"];
  const args = [...flags, new URL(import.meta.url).pathname, "--measure", kind, mode, String(objects)];
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`Cannot measure ${mode}: the process failed with ${status}: ${stderr}`);
  return JSON.parse(stdout);
}

function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[values.length >> 1] ?? 0;
}

function measureKind(kind: Kind, objects: number, rounds: number): void {
  const measured: Record<Mode, Measured[]> = { parsed: [], shared: [] };
  for (let round = 0; round < rounds; round++) {
    for (const mode of modes) measured[mode].push(measureInProcess(kind, mode, objects));
  }
  const medians = (mode: Mode) => {
    const bytes = median(measured[mode].map((one) => one.bytes));
    return { bytes, cpu: median(measured[mode].map((one) => one.microseconds)) };
  };
  const parsed = medians("parsed");
  for (const mode of modes) {
    const { bytes, cpu } = medians(mode);
    const ratios = [bytes / parsed.bytes, cpu / parsed.cpu].map((ratio) => ratio.toFixed(2));
    console.log(`| ${kind}, ${mode} | ${bytes.toFixed(0)} | ${ratios[0]} | ${cpu.toFixed(2)} µs | ${ratios[1]} |`);
  }
}

const args = process.argv.slice(2);
if (args[0] === "--measure") {
  const kind = kindNames.find((one) => one === args[1]) ?? "Foo";
  const mode = modes.find((one) => one === args[2]) ?? "parsed";
  console.log(JSON.stringify(await measure(kind, mode, Number(args[3]))));
} else {
  console.log("| objects | bytes each | to parsed | CPU each | to parsed |");
  console.log("| --- | --- | --- | --- | --- |");
  for (const kind of kindNames) measureKind(kind, Number(args[0] ?? 200_000), Number(args[1] ?? 3));
}
