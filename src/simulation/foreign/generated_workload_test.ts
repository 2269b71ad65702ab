/** Tests that generated workloads cover each field, and that a server judges each change as meant. */
import { assertEquals, test } from "../../../tests/testing.ts";
import { CrdResource } from "../../schema/mod.ts";
import type { Crd, StructuralSchema } from "../../schema/mod.ts";
import { World } from "../world.ts";
import type { ForeignStep, ForeignWorkload } from "./foreign_workload.ts";
import { generateWorkloads } from "./generated_workload.ts";
import { StepRunner } from "./perform_step.ts";

const spec: StructuralSchema = {
  type: "object",
  required: ["replicas", "storage"],
  properties: {
    replicas: { type: "integer", minimum: 1, maximum: 5 },
    storage: { "x-kubernetes-int-or-string": true, pattern: "^([0-9]+)(Gi|Mi)$" },
    mode: { type: "string", enum: ["Fast", "Safe"], default: "Safe" },
    version: { type: "string", pattern: "^\\d+\\.\\d+\\.\\d+$" },
    paused: { type: "boolean" },
    labels: { type: "object", additionalProperties: { type: "string" } },
    ports: {
      type: "array",
      maxItems: 3,
      items: {
        type: "object",
        required: ["port"],
        properties: { port: { type: "integer", minimum: 1, maximum: 65_535 }, name: { type: "string", maxLength: 5 } },
      },
    },
  },
};

const zoo: Crd = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "zoos.example.dev" },
  spec: {
    group: "example.dev",
    scope: "Namespaced",
    names: { plural: "zoos", singular: "zoo", kind: "Zoo", listKind: "ZooList" },
    versions: [{
      name: "v1",
      served: true,
      storage: true,
      schema: { openAPIV3Schema: { type: "object", required: ["spec"], properties: { spec } } },
    }],
  },
};

const sample = {
  apiVersion: "example.dev/v1",
  kind: "Zoo",
  metadata: { name: "a" },
  spec: { replicas: 3, storage: "1Gi", version: "1.2.3", ports: [{ port: 80, name: "http" }] },
};

const options = { definitions: [zoo], samples: [sample], namespace: "default", seed: 1, maxSteps: 1_000 };

function patchesOf(workloads: readonly ForeignWorkload[]): readonly unknown[] {
  return workloads.flatMap(({ steps }) =>
    steps.flatMap((step: ForeignStep) => step.kind === "patch" && step.patch.kind === "merge" ? [step.patch.value] : [])
  );
}

test("each field is changed, set to its bounds, to an invalid value, removed, and restored", () => {
  const patches = patchesOf(generateWorkloads(options).workloads).map((patch) => JSON.stringify(patch));
  for (
    const replicas of [4, 2, 1, 5, 6, 3] // more, less, bounds, beyond, back
  ) {
    assertEquals(patches.includes(`{"spec":{"replicas":${replicas}}}`), true, `${replicas} in ${patches.join("\n")}`);
  }
  for (
    const other of [
      '{"spec":{"storage":"2Gi"}}',
      '{"spec":{"mode":"Fast"}}',
      '{"spec":{"mode":"not-a-member"}}',
      '{"spec":{"mode":null}}', // back: the sample does not have it
      '{"spec":{"version":"1.2.4"}}',
      '{"spec":{"version":null}}',
      '{"spec":{"paused":true}}',
      '{"spec":{"ports":[{"name":"http","port":81}]}}',
      '{"spec":{"ports":[{"port":80,"name":"aaaaaa"}]}}',
      '{"spec":{"ports":null}}',
      '{"spec":{"labels":{"changed":"example"}}}',
    ]
  ) {
    assertEquals(patches.includes(other), true, `${other} in ${patches.join("\n")}`);
  }
});

test("the server rejects the values that make no sense and no others, and each workload ends with nothing", async () => {
  await using world = await World.start({ controllers: [], cluster: false });
  const { client, clock } = world;
  await client.create(CrdResource, zoo);
  await clock.advance(1_000);
  const restartOperator = () => Promise.resolve();
  const runner = new StepRunner({ client, clock, namespace: "default", restartOperator });
  const { signal } = new AbortController();
  const { workloads } = generateWorkloads(options);
  const rejected: string[] = [];
  for (const { steps } of workloads) {
    const outcomes: string[] = [];
    for (const step of steps) {
      const { kind } = await runner.perform(step, signal);
      outcomes.push(kind);
      if (kind === "rejected" && step.kind === "patch") rejected.push(JSON.stringify(step.patch));
    }
    assertEquals(outcomes.includes("notFound") || outcomes.includes("timedOut"), false);
    assertEquals([steps[0]?.kind, outcomes[0]], ["apply", "done"]);
    assertEquals([steps.at(-1)?.kind, outcomes.at(-1)], ["delete", "done"]);
  }
  const invalid = [
    { replicas: 6 },
    { storage: "not a quantity" },
    { mode: "not-a-member" },
    { version: "!" },
    { ports: [{ port: 1 }, { port: 1 }, { port: 1 }, { port: 1 }] },
    { ports: [{ port: 80, name: "aaaaaa" }] },
    { ports: [{ name: "http", port: 65_536 }] },
  ].map((value) => JSON.stringify({ kind: "merge", value: { spec: value } }));
  assertEquals(rejected.toSorted(), invalid.toSorted());
});

test("equal options give equal workloads, and the limit of steps holds", () => {
  assertEquals(generateWorkloads(options), generateWorkloads(options));
  const short = generateWorkloads({ ...options, maxSteps: 10 }).workloads;
  const count = patchesOf(short).length;
  assertEquals(count > 0 && count <= 10, true, `${count}`);
});

test("without a sample, the smallest valid object is made; a kind that needs one is named", () => {
  const { workloads } = generateWorkloads({ ...options, samples: [] });
  const [first] = workloads[0]?.steps ?? [];
  assertEquals(first?.kind === "apply" && first.objects[0]?.spec, { replicas: 1, storage: "1Gi" });
  const version: StructuralSchema = { type: "string", pattern: "^zoo-of-[a-z]{12}$" };
  const [stored] = zoo.spec.versions;
  if (stored === undefined) throw new Error("no version");
  const properties = { spec: { ...spec, required: ["version"], properties: { version } } };
  const hard = { ...stored, schema: { openAPIV3Schema: { type: "object", properties } as const } };
  const { skipped } = generateWorkloads({
    ...{ ...options, samples: [] },
    definitions: [{ ...zoo, spec: { ...zoo.spec, versions: [hard] } }],
  });
  assertEquals(skipped.length, 1);
  assertEquals(skipped[0]?.startsWith("Zoo: spec.version: "), true, skipped[0]);
});
