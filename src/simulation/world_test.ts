/** Tests of World, as tests of controllers use it. */
import { builtin } from "../api/mod.ts";
import { controller, done, manifest, TerminalError } from "../controller/mod.ts";
import { defineResource, z } from "../schema/mod.ts";
import { assertEquals, assertRejects, test } from "../../tests/testing.ts";
import { World } from "./world.ts";

const { ConfigMap, Deployment, Event, Namespace, Pod } = builtin;

const greeter = controller("greeter").for(Namespace).owns(ConfigMap).reconcile(async (ctx) => {
  const namespace = ctx.object.metadata.name;
  await ctx.apply(manifest(ConfigMap, { metadata: { namespace, name: "greeting" }, data: { text: "hello" } }));
  return done;
});

test("settled() returns when the controllers are idle, without real waiting", async () => {
  await using world = await World.start({ controllers: [greeter] });
  await world.create(Namespace, { name: "team-a" });
  await world.settled();
  assertEquals(world.get(ConfigMap, "team-a/greeting").data?.text, "hello");
  await world.delete(ConfigMap, "team-a/greeting");
  await world.settled();
  assertEquals(world.get(ConfigMap, "team-a/greeting").data?.text, "hello");
});

test("deleting a namespace deletes the objects in it", async () => {
  await using world = await World.start({ controllers: [greeter] });
  await world.create(Namespace, { name: "team-a" });
  await world.settled();
  await world.delete(Namespace, "team-a");
  await world.settled();
  assertEquals(world.find(Namespace, "team-a"), undefined);
  assertEquals(world.find(ConfigMap, "team-a/greeting"), undefined);
});

test("a Deployment in a world gets ready Pods", async () => {
  await using world = await World.start({ controllers: [] });
  const labels = { app: "web" };
  await world.create(Deployment, {
    name: "web",
    spec: {
      replicas: 3,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: "web", image: "nginx" }] } },
    },
  });
  await world.settled();
  assertEquals(world.get(Deployment, "default/web").status?.availableReplicas, 3);
  assertEquals(world.list(Pod, "default").map((pod) => pod.status?.phase), ["Running", "Running", "Running"]);
});

test("a world shows Events in both groups that have them", async () => {
  const teller = controller("teller").for(Namespace).reconcile((ctx) => {
    if (ctx.object.metadata.name === "shop") ctx.event("Normal", "Seen", "there it is");
    return Promise.resolve(done);
  });
  await using world = await World.start({ controllers: [teller] });
  await world.create(Namespace, { name: "shop" });
  await world.settled();
  const [event] = world.list(Event);
  assertEquals([event?.reason, event?.regarding?.name, event?.note], ["Seen", "shop", "there it is"]);
  const key = `${event?.metadata.namespace}/${event?.metadata.name}`;
  assertEquals(world.get(Event, key).apiVersion, "events.k8s.io/v1");
  const core = { ...Event, group: "", version: "v1" };
  assertEquals((world.get(core, key) as unknown as { readonly message: string }).message, "there it is");
});

test("a settled world writes nothing for an hour", async () => {
  await using world = await World.start({ controllers: [greeter] });
  await world.settled();
  const { revision } = world;
  await world.clock.advance(3_600_000);
  assertEquals(world.revision, revision);
});

test("settled() fails with the controller and the key that still retries, and the last error", async () => {
  let attempts = 0;
  const failing = controller("failing").for(Namespace)
    .reconcile(() => Promise.reject(new Error(attempts++ === 0 ? "first" : "cannot reach the disk")));
  await using world = await World.start({ controllers: [failing], cluster: false });
  await world.create(Namespace, { name: "team-a" });
  await assertRejects(
    () => world.settled({ withinMs: 10_000 }),
    /^Cannot settle within 10000 ms: controller failing still retries ".+" \(\d+ failures, the last one: cannot reach the disk\)$/,
  );
});

test("a change of a dependent causes one reconcile of its owner", async () => {
  let reconciles = 0;
  const greeter = controller("greeter").for(Namespace).owns(ConfigMap).reconcile(async (ctx) => {
    reconciles++;
    const namespace = ctx.object.metadata.name;
    await ctx.apply(manifest(ConfigMap, { metadata: { namespace, name: "greeting" }, data: { text: "hello" } }));
    return done;
  });
  await using world = await World.start({ controllers: [greeter] });
  await world.create(Namespace, { name: "team-a" });
  await world.settled();
  reconciles = 0;
  await world.patch(ConfigMap, "team-a/greeting", { kind: "merge", value: { metadata: { labels: { a: "b" } } } });
  await world.settled();
  assertEquals(reconciles, 1);
});

test("[29] a controller that changes a cached object fails in a world, even with a cast", async () => {
  const careless = controller("careless").for(Namespace).owns(ConfigMap).reconcile((ctx) => {
    (ctx.object.metadata as { seen?: boolean }).seen = true;
    return Promise.resolve(done);
  });
  await using world = await World.start({ controllers: [careless], cluster: false });
  await world.create(Namespace, { name: "team-a" });
  await assertRejects(
    () => world.settled({ withinMs: 10_000 }),
    /the last one: .*extensible/,
  );
});

const Website = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Website",
  scope: "Namespaced",
  spec: z.object({ host: z.string() }),
  status: z.object({ problem: z.string() }),
});

test("[41] a TerminalError is not retried because of the status that the controller wrote before it", async () => {
  let attempts = 0;
  const refuser = controller("refuser").for(Website).reconcile(async (ctx) => {
    attempts++;
    await ctx.patchStatus({ problem: `the host ${ctx.object.spec.host} is reserved` });
    throw new TerminalError("Cannot serve the host: it is reserved");
  });
  await using world = await World.start({ controllers: [refuser], cluster: false });
  await world.create(Website, { name: "a", spec: { host: "localhost" } });
  await world.settled();
  assertEquals(attempts, 1);
  await world.patch(Website, "default/a", { kind: "merge", value: { spec: { host: "example" } } });
  await world.settled();
  assertEquals([attempts, world.get(Website, "default/a").status?.problem], [2, "the host example is reserved"]);
});
