/** Tests that kinds with several versions are converted in a World and in the simulation, and refused without a conversion. */
import {
  clockController,
  cronTabSample,
  CronTabV1,
  CronTabV2,
  unwiredController,
} from "../manager/testing/cron_tabs.ts";
import type { Workload } from "../manager/mod.ts";
import type { FaultKind } from "./fault_plan.ts";
import { assert, assertEquals, assertRejects, assertThrows, test } from "../../tests/testing.ts";
import type { KubeObject, Resource } from "../api/mod.ts";
import { defaultWorkloads } from "./default_workloads.ts";
import { simulate } from "./simulate.ts";
import { World } from "./world.ts";

const key = "default/nightly";
const create: Workload = { name: "create", steps: [{ kind: "create", object: cronTabSample }] };

test("[110] a World converts what users write to the version that the controller reads, and back", async () => {
  await using world = await World.start({ controllers: [clockController] });
  await world.create(CronTabV1, { name: "nightly", spec: { schedule: "30 2" } });
  await world.settled();
  const [old, current] = [world.get(CronTabV1, key), world.get(CronTabV2, key)];
  assertEquals([old.apiVersion, old.spec], ["clock.example.dev/v1", { schedule: "30 2", suspend: false }]);
  assertEquals([current.apiVersion, current.spec], [
    "clock.example.dev/v2",
    { minute: "30", hour: "2", suspend: false },
  ]);
  assertEquals(current.status?.seen, "30/2");
  assertEquals(world.find(CronTabV2, key), current);
  assertEquals(world.list(CronTabV1).map(({ spec }) => spec.schedule), ["30 2"]);
  assertEquals((await world.client.get(CronTabV1, key)).spec, old.spec);
  await world.patch(CronTabV1, key, { kind: "merge", value: { spec: { schedule: "5 4" } } });
  await world.settled();
  assertEquals(world.get(CronTabV1, key).status?.seen, "5/4");
});

test("[110] a World answers in the version that is asked for when objects are stored in another one", async () => {
  await using world = await World.start({ controllers: [clockController] });
  await world.create(CronTabV2, { name: "nightly", spec: { minute: "1", hour: "*" } });
  assertEquals(world.get(CronTabV1, key).spec.schedule, "1 *");
  assertThrows(() => world.get({ ...CronTabV1, version: "v7" }, key), /^Cannot get .* the server does not serve .*v7$/);
  assertEquals(world.find(CronTabV1, "default/none"), undefined);
});

test("a World shows a built-in kind in the version that is asked for", async () => {
  await using world = await World.start({ controllers: [], cluster: false });
  const HorizontalPodAutoscaler: Resource<KubeObject & { readonly spec: object }> = {
    group: "autoscaling",
    version: "v2",
    kind: "HorizontalPodAutoscaler",
    plural: "horizontalpodautoscalers",
    scope: "Namespaced",
  };
  const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };
  await world.create(HorizontalPodAutoscaler, { name: "web", spec: { maxReplicas: 3, scaleTargetRef } });
  for (const version of ["v1", "v2"]) {
    assertEquals(
      world.get({ ...HorizontalPodAutoscaler, version }, "default/web").apiVersion,
      `autoscaling/${version}`,
    );
  }
});

test("[111] a World refuses a kind with several versions and no conversion, before anything runs", async () => {
  await assertRejects(
    () => World.start({ controllers: [unwiredController] }),
    /^Cannot serve CronTab: its versions v2 and v1 have different schemas, and no conversion is wired\..*converting/,
  );
});

test("[110] simulate() converts between the versions of a kind, under faults", async () => {
  const [createAndDelete, ...changes] = defaultWorkloads(clockController);
  assert(createAndDelete !== undefined);
  assertEquals(changes.length, 1, "the fields of the sample's version are changed");
  const kinds = new Set<FaultKind>(["crash", "event"]);
  const { findings, schedules } = await simulate({
    controller: clockController,
    workloads: [createAndDelete],
    kinds,
    storms: 0,
  });
  assertEquals(findings, []);
  assert(schedules > 3);
});

test("[111] simulate() refuses a kind with several versions and no conversion", async () => {
  await assertRejects(() => simulate({ controller: unwiredController, workloads: [create] }), /^Cannot serve CronTab/);
});
