/** Pausing objects by the annotation, through the public surface. */
import { assertEquals, test } from "../testing.ts";
import {
  changed,
  type Condition,
  ConfigMap,
  controller,
  type ControllerDefinition,
  defineResource,
  done,
  manifest,
  pausedAnnotation,
  z,
} from "../../src/mod.ts";
import { simulateController, World } from "../../src/testing.ts";

const Site = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Site",
  scope: "Namespaced",
  spec: z.object({ host: z.string() }),
  status: z.object({ url: z.string().optional(), conditions: z.array(z.any()).optional() }),
});

function sites(cleaned: string[] = []): ControllerDefinition {
  return controller("sites").for(Site, { when: changed.generation }).owns(ConfigMap)
    .finalize((ctx) => {
      cleaned.push(ctx.object.metadata.name ?? "");
      return Promise.resolve(done);
    })
    .reconcile(async (ctx) => {
      const { namespace, name = "" } = ctx.object.metadata;
      await ctx.apply(manifest(ConfigMap, { metadata: { namespace, name }, data: { host: ctx.object.spec.host } }));
      await ctx.patchStatus({ url: `https://${ctx.object.spec.host}` });
      return done;
    });
}

function annotations(value: string | null) {
  return { kind: "merge", value: { metadata: { annotations: { [pausedAnnotation]: value } } } } as const;
}

function conditionOf(world: World): Condition | undefined {
  return world.get(Site, "default/a").status?.conditions?.[0];
}

test("a paused object is not reconciled until it is resumed, and the predicate of the watch cannot prevent that", async () => {
  await using world = await World.start({ controllers: [sites()] });
  await world.create(Site, { name: "a", spec: { host: "one" } });
  await world.settled();
  await world.patch(Site, "default/a", annotations("true"));
  await world.settled();
  assertEquals([conditionOf(world)?.type, conditionOf(world)?.status], ["Paused", "True"]);
  await world.delete(ConfigMap, "default/a");
  await world.patch(Site, "default/a", { kind: "merge", value: { spec: { host: "two" } } });
  await world.settled();
  assertEquals(world.find(ConfigMap, "default/a"), undefined);
  await world.patch(Site, "default/a", annotations(null));
  await world.settled();
  assertEquals(world.get(ConfigMap, "default/a").data?.host, "two");
  assertEquals(world.get(Site, "default/a").status, { url: "https://two", conditions: [] });
});

test("a paused object can be deleted, unless its deletion is paused, too", async () => {
  const cleaned: string[] = [];
  await using world = await World.start({ controllers: [sites(cleaned)] });
  for (const name of ["a", "b"]) await world.create(Site, { name, spec: { host: name } });
  await world.settled();
  await world.patch(Site, "default/a", annotations("true"));
  await world.patch(Site, "default/b", annotations("with-deletion"));
  await world.settled();
  for (const name of ["a", "b"]) await world.delete(Site, `default/${name}`);
  await world.settled();
  assertEquals([cleaned, world.list(Site).map(({ metadata }) => metadata.name)], [["a"], ["b"]]);
  await world.patch(Site, "default/b", annotations(null));
  await world.settled();
  assertEquals([cleaned, world.list(Site)], [["a", "b"], []]);
});

test("the raw reconciler of a paused object is not called", async () => {
  const keys: string[] = [];
  const raw = controller("raw").for(ConfigMap).reconcileKey(({ key }) => {
    if (key.startsWith("default/x")) keys.push(key);
    return Promise.resolve(done);
  });
  await using world = await World.start({ controllers: [raw] });
  await world.create(ConfigMap, { name: "x1", annotations: { [pausedAnnotation]: "true" } });
  await world.create(ConfigMap, { name: "x2", annotations: { [pausedAnnotation]: "false" } });
  await world.settled();
  assertEquals(keys, ["default/x2"]);
});

test("a kind that does not allow the condition is paused without it", async () => {
  const Strict = defineResource({
    group: "example.dev",
    version: "v1",
    kind: "Strict",
    scope: "Namespaced",
    spec: z.object({}),
    status: z.object({ conditions: z.array(z.object({ type: z.string().max(3) })).optional() }),
  });
  let reconciles = 0;
  const strict = controller("strict").for(Strict).reconcile(() => Promise.resolve((reconciles++, done)));
  await using world = await World.start({ controllers: [strict] });
  await world.create(Strict, { name: "a", spec: {}, annotations: { [pausedAnnotation]: "true" } });
  await world.settled();
  assertEquals([reconciles, world.get(Strict, "default/a").status], [0, undefined]);
});

test("simulate finds nothing wrong with a controller whose objects are paused and resumed", async () => {
  const metadata = { name: "a", namespace: "default" };
  const site = { apiVersion: "example.dev/v1", kind: "Site", name: "a" };
  const workload = {
    name: "pause and resume",
    steps: [
      { kind: "create", object: { ...site, metadata, spec: { host: "one" } } },
      { kind: "patch", object: site, patch: annotations("true").value },
      { kind: "patch", object: site, patch: { spec: { host: "two" } }, atOnce: true },
      { kind: "patch", object: site, patch: annotations(null).value },
    ],
  } as const;
  const { findings } = await simulateController(() => sites(), { workloads: [workload], storms: 20 });
  assertEquals(findings.map(({ plan, violations, timeline }) => ({ plan, violations, timeline })), []);
});
