/** Runs of controllers that watch kinds under a condition, which begins and ends to hold amid faults. */
import { assertEquals, test } from "../../tests/testing.ts";
import { builtin, type UntypedObject } from "../api/mod.ts";
import { controller, dependent, dependents, done, manifest, whenObject, whenServed } from "../controller/mod.ts";
import type { Workload } from "../manager/mod.ts";
import { defineResource, z } from "../schema/mod.ts";
import type { Fault } from "./fault_plan.ts";
import { runSchedule } from "./schedule.ts";
import { simulateController } from "./simulate_controller.ts";

const { ConfigMap, Secret, ServiceAccount } = builtin;

const Route = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Route",
  scope: "Namespaced",
  spec: z.object({ host: z.string() }),
});

const secret: UntypedObject = { apiVersion: "v1", kind: "Secret", metadata: { name: "team", namespace: "default" } };
const definition = Route.crd as unknown as UntypedObject;
const definitionName = { apiVersion: definition.apiVersion, kind: definition.kind, name: "routes.example.dev" };
const setting = (value: string): UntypedObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "features", namespace: "default" },
  data: { accounts: value },
});
const settingName = { apiVersion: "v1", kind: "ConfigMap", name: "features" };

/** A Route for each Secret, and what comes after it, where the cluster has Routes. */
const routed = () => {
  const route = dependent("route", Route, {
    of: Secret,
    activation: whenServed(Route),
    desired: () => manifest(Route, { metadata: { namespace: "default", name: "main" }, spec: { host: "example.dev" } }),
  });
  const page = dependent("page", ConfigMap, {
    of: Secret,
    after: [route],
    desired: (_, { route }) =>
      manifest(ConfigMap, { metadata: { namespace: "default", name: "page" }, data: { host: route.spec.host } }),
  });
  return controller("routed").for(Secret).dependents(dependents([route, page])).reconcile(async (ctx) =>
    (await ctx.applyDependents()).result()
  );
};

const definitionWorkload: Workload = {
  name: "a definition that comes, goes and comes again",
  steps: [
    { kind: "create", object: secret },
    { kind: "create", object: definition },
    { kind: "delete", object: definitionName, atOnce: true },
    { kind: "create", object: definition },
    { kind: "delete", object: definitionName },
    { kind: "create", object: definition },
  ],
};

/** A ServiceAccount for each Secret while a setting says so. */
const optional = () =>
  controller("optional").for(Secret)
    .owns(ServiceAccount, {
      activation: whenObject(ConfigMap, "default/features", (map) => map?.data?.accounts === "on"),
      prunes: true,
    })
    .reconcile(async (ctx) => {
      if (!ctx.isActive(ServiceAccount)) return done;
      await ctx.apply(manifest(ServiceAccount, { metadata: { namespace: "default", name: "team" } }));
      await ctx.prune();
      return done;
    });

const settingWorkload: Workload = {
  name: "a setting that is switched on and off",
  steps: [
    { kind: "create", object: secret },
    { kind: "create", object: setting("off") },
    { kind: "patch", object: settingName, patch: { data: { accounts: "on" } } },
    { kind: "patch", object: settingName, patch: { data: { accounts: "off" } }, atOnce: true },
    { kind: "patch", object: settingName, patch: { data: { accounts: "on" } }, atOnce: true },
    { kind: "patch", object: settingName, patch: { data: { accounts: "off" } } },
    { kind: "delete", object: settingName },
    { kind: "create", object: setting("on") },
  ],
};

const faultsOfReplicas: readonly (readonly Fault[])[] = [
  [],
  [{ kind: "crash", write: 2, moment: "committed", downMs: 1_000 }],
  [{ kind: "partition", write: 1, forMs: 20_000 }],
  [{ kind: "pause", of: "write", request: 2, forMs: 20_000 }],
];

for (const [create, workload] of [[routed, definitionWorkload], [optional, settingWorkload]] as const) {
  test(`a condition that begins and ends to hold is followed under faults: ${workload.name}`, async () => {
    const { findings } = await simulateController(create, { workloads: [workload], points: 40, storms: 8 });
    assertEquals(findings.map(({ violations, plan }) => ({ violations, plan })), []);
  });

  test(`replicas that divide the keys follow it, too: ${workload.name}`, async () => {
    for (const faults of faultsOfReplicas) {
      const run = { controllers: [create()], workload, replicas: 2, sharded: true, plan: { faults } };
      assertEquals((await runSchedule(run)).violations, [], JSON.stringify(faults));
    }
  });
}
