/**
 * What a recording in memory costs: the CPU that the entries of one reconciled Foo take, from the watch to the end of the
 * reconcile, in turn with and without a Recording. The objects are parsed anew for each Foo, as they are from a watch, and
 * 10,000 others stay in memory, as in a cache. Run it with `sh tasks/bun.sh bench/micro/recording.ts [ROUNDS]`.
 *
 * The difference per Foo is what counts: divide it by the CPU of a Foo in the case `reconcile` of RESULTS.md.
 */
import process, { cpuUsage } from "node:process";
import { keyOf, type KubeObject, type ObjectKey } from "../../src/api/mod.ts";
import { VirtualClock } from "../../src/async/mod.ts";
import { RecordedChanges } from "../../src/cache/recorded_changes.ts";
import { RecordedController } from "../../src/controller/_recorded_controller.ts";
import { Foo } from "../../src/controllers/foo/mod.ts";
import { Deployment } from "../../src/kinds.ts";
import type { Change } from "../../src/controller/predicate.ts";
import { type Recorder, Recording } from "../../src/observe/mod.ts";

const foosPerRound = 5_000;
const cached = 5_000;
const owner = { apiVersion: "samplecontroller.k8s.io/v1alpha1", kind: "Foo", name: "foo", uid: "1", controller: true };
const labels = { app: "nginx", controller: "foo" };
const podSpec = {
  containers: [{ name: "nginx", image: "nginx:1.29", resources: {}, terminationGracePeriodSeconds: 30 }],
};

/** What the server sends for one Foo, and what the controller sends, as texts. */
const texts = {
  foo: JSON.stringify(objectOf("Foo", "foo", { deploymentName: "web", replicas: 1 })),
  fooWithStatus: JSON.stringify({
    ...objectOf("Foo", "foo", { deploymentName: "web", replicas: 1 }),
    status: { availableReplicas: 0, observedGeneration: 1 },
  }),
  deployment: JSON.stringify({
    ...objectOf("Deployment", "web", {
      replicas: 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: podSpec },
      strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: "25%", maxUnavailable: "25%" } },
    }),
    status: {},
  }),
} as const;
const writers = [{ manager: "kubectl-create", operation: "Update", time: "2026-11-23T10:00:00Z" }] as const;

function objectOf(kind: string, name: string, spec: object): object {
  const metadata = {
    namespace: "default",
    name,
    uid: "8d1b",
    resourceVersion: "1",
    generation: 1,
    ownerReferences: [owner],
  };
  return { apiVersion: "v1", kind, metadata: { ...metadata, creationTimestamp: "2026-11-23T10:00:00Z" }, spec };
}

/** An object as a watch or a response brings it. */
function received(text: string, index: number, version: string): KubeObject {
  const object: KubeObject = JSON.parse(text);
  Object.assign(object.metadata, { name: `${object.metadata.name}-${index}`, resourceVersion: `${index}${version}` });
  return object;
}

/** What the engine hands to a recording while it reconciles one Foo: 17 entries. */
class Recorded {
  readonly #foos: RecordedChanges;
  readonly #deployments: RecordedChanges;
  readonly #controller: RecordedController;

  constructor(recorder: Recorder) {
    const clock = new VirtualClock();
    const cacheOf = (resource: string, kind: string) =>
      new RecordedChanges({ recorder, cache: resource, resource: { resource, kind } });
    this.#foos = cacheOf("foos.samplecontroller.k8s.io", "Foo");
    this.#deployments = cacheOf("deployments.apps", "Deployment");
    this.#controller = new RecordedController({
      ...{ recorder, controller: "foo", clock, parkMs: 1, kinds: [Foo, Deployment], laneOf: undefined },
    });
  }

  reconcile([foo, deployment, withStatus]: readonly [KubeObject, KubeObject, KubeObject]): void {
    const key = keyOf(foo);
    this.#changed(this.#foos, key, undefined, foo, "for");
    const attempt = this.#controller.begin({
      ...{ key, waitedMs: 1, priority: 0, causes: [], causesDropped: 0, addedAt: 0, [Symbol.dispose]: () => {} },
    }, 0);
    const caches = attempt.caches({ find: <T>() => foo as T, list: () => [] });
    caches.find(Foo, key);
    caches.find(Deployment, keyOf(deployment));
    const { onAnswer } = attempt.requests();
    const common = { key, path: "", isDryRun: false, durationMs: 3, fieldManager: "foo" } as const;
    const apply = { verb: "apply", contentType: "application/apply-patch+yaml", body: texts.deployment } as const;
    this.#written(
      this.#deployments,
      deployment,
      "owns",
      onAnswer?.({ ...common, ...apply, resource: Deployment, object: deployment }),
    );
    const patch = { verb: "patch", contentType: "application/merge-patch+json", body: '{"status":{}}' } as const;
    const entry = onAnswer?.({ ...common, ...patch, subresource: "status", resource: Foo, object: withStatus });
    this.#written(this.#foos, withStatus, "for", entry, foo);
    attempt.events({ record: () => {} }).record({
      ...{ type: "Normal", reason: "Synced", action: "Sync", note: "Foo synced successfully", regarding: foo },
    });
    attempt.end({ outcome: "done" });
  }

  /** The watch shows the write before its response is there. */
  #written(changes: RecordedChanges, object: KubeObject, role: "for" | "owns", entry?: number, old?: KubeObject): void {
    this.#changed(changes, keyOf(object), old, object, role);
    changes.confirmed(keyOf(object), object, { controller: "foo", key: keyOf(object), entry });
    this.#controller.queueObserver().withdrawn?.(keyOf(object));
  }

  #changed(
    changes: RecordedChanges,
    key: ObjectKey,
    old: KubeObject | undefined,
    object: KubeObject,
    role: "for" | "owns",
  ): void {
    const entry = changes.changed(key, old, object, { via: "watch", managers: writers, sent: object });
    const change = { kind: old === undefined ? "added" : "updated", object, old, entry } as Change;
    this.#controller.enqueued(role === "for" ? Foo : Deployment, role, change, "queued", key);
  }
}

/** Microseconds of CPU per Foo. */
async function measure(isRecorded: boolean): Promise<number> {
  const recorded = isRecorded ? new Recorded(new Recording({ now: () => 0 })) : undefined;
  const before = cpuUsage();
  for (let index = 0; index < foosPerRound; index++) {
    const objects = [
      received(texts.foo, index, "1"),
      received(texts.deployment, index, "2"),
      received(texts.fooWithStatus, index, "3"),
    ] as const;
    recorded?.reconcile(objects);
    if (index % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  const { user, system } = cpuUsage(before);
  return (user + system) / foosPerRound;
}

function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[values.length >> 1] ?? 0;
}

const caches = Array.from({ length: cached }, (_, index) => [
  received(texts.fooWithStatus, index, "0"),
  received(texts.deployment, index, "0"),
]);
const rounds = Number(process.argv[2] ?? 7);
const cold = { off: await measure(false), on: await measure(true) };
const differences: number[] = [];
for (let round = 0; round < rounds; round++) {
  const off = await measure(false);
  differences.push(await measure(true) - off);
}
console.log(`beside ${caches.length * 2} objects in memory, ${foosPerRound} Foos a round:`);
console.log(`a recording costs ${(cold.on - cold.off).toFixed(1)} µs of CPU per Foo in the first round,`);
console.log(`${median(differences).toFixed(1)} µs in the median of ${rounds} later ones`);
