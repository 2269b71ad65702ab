/** Tests of a StateStore in a controller, under simulated faults. */
import { ConfigMap, controller, done, manifest, Namespace, notCached, z } from "../../src/mod.ts";
import { StateStore } from "../../src/client.ts";
import { simulateController, World } from "../../src/testing.ts";
import { assertEquals, test } from "../testing.ts";

const schema = z.record(z.string(), z.int());

/** Gives each Namespace with the label a number that no other has, and writes it into a ConfigMap. */
const numbering = controller("numbering")
  .for(Namespace)
  .owns(ConfigMap)
  .uses(notCached(ConfigMap), ["get", "create", "update"])
  .reconcile(async (ctx) => {
    const { name = "", labels } = ctx.object.metadata;
    if (labels?.["example.dev/numbered"] === undefined) return done;
    const numbers = new StateStore(ctx.client, { object: "default/numbers", schema, initial: {}, clock: ctx.clock });
    const given = await numbers.update(
      (before) => ({ ...before, [name]: before[name] ?? Math.max(0, ...Object.values(before)) + 1 }),
      { signal: ctx.signal },
    );
    const data = { number: String(given[name]) };
    await ctx.apply(manifest(ConfigMap, { metadata: { namespace: name, name: "number" }, data }));
    return done;
  });

const names = ["a", "b", "c"];
const namespaceOf = (name: string) => ({
  ...{ apiVersion: "v1", kind: "Namespace" },
  metadata: { name, labels: { "example.dev/numbered": "" } },
});

test("numbers of a StateStore are unique, also for objects that are reconciled at the same time", async () => {
  await using world = await World.start({ controllers: [numbering], cluster: false });
  for (const name of names) await world.create(Namespace, { name, labels: { "example.dev/numbered": "" } });
  await world.settled();
  const numbers = names.map((name) => world.get(ConfigMap, `${name}/number`).data?.number);
  assertEquals(numbers.toSorted(), ["1", "2", "3"]);
});

test("crashes, lost responses and conflicts give no number twice, and lose none", async () => {
  const steps = names.map((name) => ({ kind: "create", object: namespaceOf(name) } as const));
  const workloads = [{ name: "three namespaces", steps }];
  const { findings, schedules } = await simulateController(numbering, { workloads, points: 30, storms: 3 });
  assertEquals(findings.map(({ violations }) => violations), []);
  assertEquals(schedules > 20, true);
});
