import { assert, assertEquals, test } from "../../tests/testing.ts";
import { builtin } from "../api/mod.ts";
import { seededRandom } from "../async/mod.ts";
import { controller, done, inHub, manifest } from "../controller/mod.ts";
import { FleetWorld } from "./fleet_world.ts";
import type { ServerFault } from "./server_link.ts";

const { ConfigMap, Namespace } = builtin;

const Settings = inHub(ConfigMap);
/** Copies settings of the hub into each Namespace of each member, with the name of the cluster. */
const copier = controller("copier").for(Namespace).owns(ConfigMap)
  .watches(Settings, { to: (_, caches) => caches.list(Namespace, {}).map(({ metadata }) => metadata.name ?? "") })
  .reconcile(async (ctx) => {
    const text = ctx.find(Settings, "default/settings")?.data?.text ?? "none";
    const metadata = { namespace: ctx.object.metadata.name, name: "copy" };
    await ctx.apply(manifest(ConfigMap, { metadata, data: { text, cluster: ctx.cluster?.name ?? "" } }));
    return done;
  });

const names = ["a", "b", "c"];

async function start(seed = 1): Promise<FleetWorld> {
  return await FleetWorld.start({ controllers: [copier], members: names, seed, maxConcurrentReconciles: 1 });
}

async function createNamespace(world: FleetWorld, member: string, name: string): Promise<void> {
  await world.member(member).create(Namespace, { name });
}

/** Virtual milliseconds until the copy of a new Namespace is there. */
async function latency(world: FleetWorld, member: string, name: string): Promise<number> {
  const startedAt = world.clock.monotonic();
  await createNamespace(world, member, name);
  while (world.member(member).find(ConfigMap, `${name}/copy`) === undefined) {
    assert(world.clock.monotonic() - startedAt < 10_000, `no copy in ${member}/${name}`);
    await world.clock.advance(1);
  }
  return world.clock.monotonic() - startedAt;
}

test("settings of the hub reach all members, and each member gets its own objects only", async () => {
  await using world = await start();
  for (const name of names) await createNamespace(world, name, `of-${name}`);
  await world.hub.create(ConfigMap, { name: "settings", data: { text: "x" } });
  await world.settled();
  for (const name of names) {
    assertEquals(world.member(name).get(ConfigMap, `of-${name}/copy`).data, { text: "x", cluster: name });
    for (const other of names.filter((one) => one !== name)) {
      assertEquals(world.member(name).find(ConfigMap, `of-${other}/copy`), undefined);
    }
  }
});

test("a disengaged member is not written any more, and an engaged one catches up", async () => {
  await using world = await start();
  world.disengage("b");
  await world.settled();
  await createNamespace(world, "b", "late");
  const { revision } = world.member("b");
  await world.clock.advance(600_000);
  assertEquals(world.member("b").revision, revision);
  world.engage("b");
  await world.settled();
  assertEquals(world.member("b").get(ConfigMap, "late/copy").data?.cluster, "b");
});

test("a member that is lost for good delays neither the others nor the stop", async () => {
  await using world = await start();
  await world.settled();
  world.member("b").setFault({ kind: "lost" });
  await createNamespace(world, "b", "unseen");
  assertEquals(await latency(world, "a", "seen"), await latency(world, "c", "seen"));
  await world.clock.advance(3_600_000);
  await world.settled();
  assertEquals(world.member("b").find(ConfigMap, "unseen/copy"), undefined);
  assert(world.clusters().find(({ name }) => name === "b")?.problem !== undefined);
});

/** A fault, and how long it lasts. */
function randomFault(random: () => number): { readonly fault: ServerFault; readonly forMs: number } {
  const faults: readonly ServerFault[] = [
    { kind: "lost" },
    { kind: "silent" },
    { kind: "lying" },
    { kind: "slow", delayMs: 1 + Math.floor(random() * 20_000) },
  ];
  const fault = faults[Math.floor(random() * faults.length)] ?? { kind: "lost" };
  return { fault, forMs: Math.floor(random() * 120_000) };
}

/**
 * Invariants: a member without a fault is as fast as in a run without faults; when all faults are over, every member has what
 * its objects ask for; no member has an object of another one; a disengaged member is not written.
 */
test("storms on one member: the others do not notice, and it has everything when the storm is over", async () => {
  const usual = await (async () => {
    await using world = await start();
    await world.settled();
    return await latency(world, "a", "first");
  })();
  for (let seed = 1; seed <= 25; seed++) {
    const { next } = seededRandom(seed);
    const random = () => next();
    await using world = await start(seed);
    await world.settled();
    const victim = world.member("b");
    for (let step = 0; step < 6; step++) {
      const { fault, forMs } = randomFault(random);
      victim.setFault(fault);
      for (let index = 0; index < 3; index++) await createNamespace(world, "b", `b-${step}-${index}`);
      const isDisengaged = random() < 0.2;
      if (isDisengaged) world.disengage("b");
      await world.clock.advance(Math.floor(random() * 30_000));
      for (const healthy of ["a", "c"]) {
        assertEquals(
          await latency(world, healthy, `${healthy}-${step}`),
          usual,
          `seed ${seed}, step ${step}, ${fault.kind}`,
        );
      }
      await world.clock.advance(forMs);
      if (isDisengaged) world.engage("b");
      if (random() < 0.7) victim.setFault({ kind: "none" });
    }
    victim.setFault({ kind: "none" });
    await world.clock.advance(120_000);
    await world.settled();
    for (const name of names) {
      const member = world.member(name);
      const wanted = member.list(Namespace).map(({ metadata }) => `${metadata.name}/${name}`).sort();
      const copies = member.list(ConfigMap).map(({ metadata, data }) => `${metadata.namespace}/${data?.cluster}`)
        .sort();
      assertEquals(copies, wanted, `seed ${seed}, member ${name}`);
    }
  }
});
