/** Graphs in a World: gates, conditions, loops, graphs of graphs and deletion, with the example files. */
import { readFileSync } from "node:fs";
import { ConfigMap, Deployment, findCondition, Ingress, Job, Namespace, Service } from "../../src/mod.ts";
import type { OperatorController } from "../../src/mod.ts";
import { ResourceQuota } from "../../src/kinds.ts";
import { World } from "../../src/testing.ts";
import { untypedResource } from "../../src/client.ts";
import { readGraphs } from "../../src/graph/testing/read_graphs.ts";
import { assert, assertEquals, assertStringIncludes, test } from "../testing.ts";

/** The controllers of an example. */
function example(name: string): readonly OperatorController[] {
  return readGraphs(readFileSync(`examples/graphs/${name}.yaml`, "utf8"), `${name}.yaml`);
}

/** The kind that a graph defines. */
function kindOf(controllers: readonly OperatorController[]) {
  const [first] = controllers;
  if (first === undefined) throw new Error("the example has no graph");
  return untypedResource(first.primary);
}

/** The message of the condition Ready. */
function readyOf({ status }: { readonly [field: string]: unknown }) {
  const { conditions } = status as { readonly conditions: Parameters<typeof findCondition>[0] };
  return findCondition(conditions, "Ready");
}

test("a graph creates its resources in the order of their expressions, and writes the status", async () => {
  const controllers = example("webapp");
  const WebApp = kindOf(controllers);
  await using world = await World.start({ controllers });
  await world.client.create(WebApp, {
    ...{ apiVersion: "example.dev/v1alpha1", kind: "WebApp" },
    metadata: { namespace: "default", name: "shop" },
    spec: { ingress: { enabled: true } },
  });
  await world.settled();
  assertEquals(world.get(Deployment, "default/shop").spec.replicas, 2);
  assertEquals(world.get(Ingress, "default/shop").spec?.rules?.[0]?.http?.paths[0]?.backend.service?.port?.number, 80);
  const { clusterIP } = world.get(Service, "default/shop").spec ?? {};
  const { status } = world.get(WebApp, "default/shop") as { readonly status?: Record<string, unknown> };
  assertEquals([status?.availableReplicas, status?.address], [2, `http://${clusterIP}`]);
  assertEquals(readyOf(world.get(WebApp, "default/shop"))?.status, "True");
});

test("a resource of a graph whose includeWhen no longer holds is deleted, with those that read it and their status", async () => {
  const controllers = example("webapp");
  const WebApp = kindOf(controllers);
  await using world = await World.start({ controllers });
  await world.client.create(WebApp, {
    ...{ apiVersion: "example.dev/v1alpha1", kind: "WebApp" },
    metadata: { namespace: "default", name: "shop" },
    spec: { ingress: { enabled: true } },
  });
  await world.settled();
  await world.patch(WebApp, "default/shop", { kind: "merge", value: { spec: { service: { enabled: false } } } });
  await world.settled();
  assertEquals(world.find(Service, "default/shop"), undefined);
  assertEquals(world.find(Ingress, "default/shop"), undefined);
  const { status } = world.get(WebApp, "default/shop") as { readonly status?: Record<string, unknown> };
  assertEquals(Object.keys(status ?? {}).sort(), ["availableReplicas", "conditions", "observedGeneration"]);
});

test("a resource of a graph waits for readyWhen of those that it reads, and a loop follows its list", async () => {
  const controllers = example("prepared_cache");
  const Cache = kindOf(controllers);
  await using world = await World.start({ controllers, cluster: false });
  await world.client.create(Cache, {
    ...{ apiVersion: "example.dev/v1alpha1", kind: "PreparedCache" },
    metadata: { namespace: "default", name: "sessions" },
    spec: {},
  });
  await world.settled();
  assert(world.find(Job, "default/sessions-prepare") !== undefined);
  assertEquals(world.list(ConfigMap).filter(({ metadata }) => metadata.name?.startsWith("sessions")), []);
  assertStringIncludes(`${readyOf(world.get(Cache, "default/sessions"))?.message}`, "does not meet ${has(preparation");
  const completionTime = "2026-01-01T00:00:05Z";
  const conditions = ["SuccessCriteriaMet", "Complete"].map((type) => ({
    ...{ type, status: "True", lastTransitionTime: completionTime, lastProbeTime: completionTime },
  }));
  await world.client.patch(Job, "default/sessions-prepare", {
    kind: "merge",
    value: { status: { completionTime, startTime: completionTime, succeeded: 1, conditions } },
  }, { subresource: "status" });
  await world.settled();
  assertEquals(world.get(ConfigMap, "default/sessions-b").data, { zone: "b", preparedAt: completionTime });
  assertEquals(world.get(Deployment, "default/sessions").spec.replicas, 2);
  await world.patch(Cache, "default/sessions", { kind: "merge", value: { spec: { zones: ["b", "c", "d"] } } });
  await world.settled();
  // Without a garbage collector, a deletion in the foreground does not end.
  const left = world.list(ConfigMap).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const names = left.flatMap(({ data }) => data?.zone ?? []);
  assertEquals(names.sort(), ["b", "c", "d"]);
  const { status } = world.get(Cache, "default/sessions") as { readonly status?: Record<string, unknown> };
  assertEquals(status?.zones, ["b", "c", "d"]);
});

test("a graph contains objects of another graph, and what is in other namespaces is deleted with the owner", async () => {
  const controllers = example("tenant");
  const Tenant = kindOf(controllers);
  await using world = await World.start({ controllers });
  await world.client.create(Tenant, {
    ...{ apiVersion: "example.dev/v1alpha1", kind: "Tenant" },
    metadata: { namespace: "default", name: "red" },
    spec: {},
  });
  await world.settled();
  assertEquals(world.get(ConfigMap, "tenant-red/settings").data, { image: "nginx" });
  assertEquals(world.get(ResourceQuota, "tenant-red/pods").spec?.hard, { pods: "10" });
  const { status } = world.get(Tenant, "default/red") as { readonly status?: Record<string, unknown> };
  assertEquals(status?.ready, true);
  await world.delete(Tenant, "default/red");
  await world.settled();
  assertEquals([world.find(Tenant, "default/red"), world.find(Namespace, "tenant-red")], [undefined, undefined]);
});
