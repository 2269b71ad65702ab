/**
 * A status is written to the object that it was decided on. An object that was deleted and created again meanwhile is another
 * one: with shards it may belong to another replica, which would not see that its status was overwritten by the first.
 */
import { runTurns, seededRandom } from "../../src/async/mod.ts";
import { controller, type ControllerDefinition, done } from "../../src/controller/mod.ts";
import { Manager } from "../../src/manager/mod.ts";
import { defineResource, z } from "../../src/schema/mod.ts";
import { World } from "../../src/simulation/mod.ts";
import { assert, assertEquals, test } from "../testing.ts";

const Thing = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Thing",
  scope: "Namespaced",
  spec: z.object({ text: z.string() }),
  status: z.object({ seen: z.string().optional(), parts: z.record(z.string(), z.string()).optional() }),
});

const names = ["a", "b", "c", "d", "e", "f", "g", "h"];

/** The things and their first reconciles, which wait. */
class Things {
  readonly go = Promise.withResolvers<void>();
  /** What each reconcile saw, as `replica name text status`. */
  readonly seen: string[] = [];
  readonly failures: unknown[] = [];

  controller(replica: string): ControllerDefinition {
    return controller("things", { maxConcurrentReconciles: names.length }).for(Thing).reconcile(async (ctx) => {
      const { metadata: { name }, spec: { text }, status } = ctx.object;
      this.seen.push(`${replica} ${name} ${text} ${status?.seen}`);
      if (text === "old") await this.go.promise;
      try {
        await ctx.patchStatus({ seen: text, parts: { [text]: "yes" } });
      } catch (error) {
        this.failures.push(error);
        throw error;
      }
      return done;
    });
  }

  /** Deletes all things and creates them again while their reconciles wait, and lets these go on. */
  async recreate(world: World): Promise<void> {
    for (const name of names) await world.delete(Thing, `default/${name}`);
    for (const name of names) await world.create(Thing, { name, spec: { text: "new" } });
    this.go.resolve();
  }

  assertWrittenOnce(world: World): void {
    assertEquals(
      this.failures.map((error) => error instanceof Error && error.name),
      names.map(() => "OwnerChangedError"),
    );
    for (const { metadata, status } of world.list(Thing)) {
      assertEquals(status, { seen: "new", parts: { new: "yes" } }, metadata.name);
    }
    const ofNew = this.seen.filter((one) => one.includes(" new "));
    assert(ofNew.every((one) => !one.endsWith(" old")), "the new object never had the status of the old one");
    assert(ofNew.length >= names.length);
  }
}

test("patchStatus() does not write to an object that was created again under the name", async () => {
  const things = new Things();
  await using world = await World.start({ controllers: [things.controller("one")], cluster: false });
  for (const name of names) await world.create(Thing, { name, spec: { text: "old" } });
  await runTurns(20);
  assertEquals(things.seen.length, names.length);
  await things.recreate(world);
  await world.settled();
  things.assertWrittenOnce(world);
});

test("patchStatus() does not write to an object that was created again in another replica", async () => {
  const things = new Things();
  const unused = controller("none").for(Thing).reconcile(() => Promise.resolve(done));
  await using world = await World.start({ controllers: [unused], cluster: false, access: "unchecked" });
  const { client, clock } = world;
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 100) {
      await runTurns(3);
      await clock.advance(100);
    }
  };
  const stop = new AbortController();
  const running = ["x", "y"].map((replica) => {
    const sharding = { namespace: "default", name: "things", identity: replica, expectedReplicas: 2 };
    const manager = new Manager({ client, clock, random: seededRandom(1), sharding });
    manager.add(things.controller(replica));
    return manager.run(stop.signal);
  });
  for (const name of names) await world.create(Thing, { name, spec: { text: "old" } });
  await pass(5_000);
  assertEquals(things.seen.length, names.length);
  await things.recreate(world);
  await pass(5_000);
  things.assertWrittenOnce(world);
  const replicasOf = (name: string) =>
    new Set(things.seen.filter((one) => one.includes(` ${name} `)).map((one) => one[0]));
  assert(names.some((name) => replicasOf(name).size === 2), "some things have moved to the other replica");
  stop.abort();
  let isOver = false;
  void Promise.all(running).then(() => isOver = true);
  while (!isOver) await pass(100);
});

test("patchStatus() writes a status that the cache does not keep, and the key does not come back for it", async () => {
  let attempts = 0;
  const things = controller("things").for(Thing).reconcile(async (ctx) => {
    attempts++;
    await ctx.patchStatus({ seen: ctx.object.spec.text });
    return done;
  });
  const unused = controller("none").for(Thing).reconcile(() => Promise.resolve(done));
  await using world = await World.start({ controllers: [unused], cluster: false, access: "unchecked" });
  const { client, clock } = world;
  const transform = <T>(object: T): T => Object.assign({}, object, { status: undefined });
  const manager = new Manager({ client, clock, random: seededRandom(1), cacheRules: [{ resource: Thing, transform }] });
  manager.add(things);
  const stop = new AbortController();
  const running = manager.run(stop.signal);
  await world.create(Thing, { name: "a", spec: { text: "old" } });
  await clock.advance(60_000);
  await client.patch(Thing, "default/a", { kind: "merge", value: { spec: { text: "new" } } });
  await clock.advance(60_000);
  assertEquals([world.get(Thing, "default/a").status, attempts], [{ seen: "new" }, 2]);
  stop.abort();
  await running;
});
