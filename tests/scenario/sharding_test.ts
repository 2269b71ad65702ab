/** Several replicas that divide the keys of a controller, on one server, with the clock of the world. */
import { builtin, keyOf, type KubeObject, type ObjectMeta } from "../../src/api/mod.ts";
import { controller, done, TerminalError } from "../../src/controller/mod.ts";
import { claimAnnotation, debugStateOf, groupLabel, Manager, slotCount, slotOf } from "../../src/manager/mod.ts";
import { configureLogging } from "../../src/observe/mod.ts";
import { World } from "../../src/simulation/mod.ts";
import { assert, assertEquals, assertRejects, assertThrows, test } from "../testing.ts";
import { groupOf } from "./_shard_group.ts";

const { ConfigMap, Lease, Secret } = builtin;

const names = Array.from({ length: 40 }, (_, index) => `${"abcdefgh".charAt(index % 8)}-${index}`);

test("three replicas divide the keys, and each caches its part only", async () => {
  await using group = await groupOf();
  await group.create(names);
  for (const replica of ["a", "b", "c"]) group.start(replica);
  await group.pass(20_000);
  assertEquals(group.world.list(Secret).length, names.length);
  const counts = await group.assertDivided();
  assertEquals(counts.size, 3);
  const cached = [...group.managers.values()].map((manager) => manager.activity()[0]?.objects ?? 0);
  assertEquals(cached.reduce((sum, count) => sum + count, 0), group.world.list(ConfigMap).length);
  assert(group.shardSelectors.some((selector) => selector?.startsWith("shardRange(object.metadata.uid, ") === true));
});

test("a replica that joins takes its part, one that leaves gives it back, and no key is without a replica", async () => {
  await using group = await groupOf();
  await group.create(names);
  group.start("a");
  await group.pass(5_000);
  assertEquals((await group.assertDivided()).size, 1);
  group.start("b");
  await group.pass(8_000);
  assertEquals((await group.assertDivided()).size, 2);
  await group.leave("a");
  await group.pass(5_000);
  assertEquals([...(await group.assertDivided()).keys()], ["b"]);
});

test("a replica that drains keeps its slots until its reconciles have ended", async () => {
  await using group = await groupOf();
  group.reconcileMs = 4_000;
  group.start("a");
  await group.pass(5_000);
  await group.create(names.slice(0, 4));
  await group.pass(500);
  group.start("b");
  await group.pass(30_000); // the reconciler asserts that no other replica reconciles the same object
  assertEquals(group.world.list(Secret).length, 4);
});

test("the keys of a replica that is cut off are taken up within the lease duration and 5 s; it writes nothing more", async () => {
  await using group = await groupOf();
  await group.create(names);
  for (const replica of ["a", "b", "c", "d"]) group.start(replica);
  await group.pass(20_000);
  const before = await group.assertDivided();
  assertEquals(before.size, 4);
  group.cut.add("a");
  await group.pass(20_000);
  const after = await group.assertDivided();
  assertEquals([...after.keys()].sort(), ["b", "c", "d"]);
  group.cut.delete("a");
  await group.pass(5_000);
  const end = await group.leave("a");
  assert(end instanceof Error && end.name === "LeaseLostError", String(end));
});

test("with expectedReplicas, nobody takes anything before the others are there", async () => {
  await using group = await groupOf();
  await group.create(names);
  group.start("a", 2);
  await group.pass(5_000);
  assertEquals(group.world.list(Secret).length, 0);
  group.start("b", 2);
  await group.pass(5_000);
  assertEquals(group.world.list(Secret).length, names.length);
  assertEquals(new Set(group.reconciled.map(({ uid }) => uid)).size, group.reconciled.length, "each key once");
});

for (const shardKey of ["namespace", { label: "tenant" }] as const) {
  test(`objects with the same ${JSON.stringify(shardKey)} are in the same replica, and so are their dependents`, async () => {
    await using group = await groupOf({ shardKey });
    await group.create(names);
    for (const replica of ["a", "b", "c"]) group.start(replica);
    await group.pass(20_000);
    await group.assertDivided();
    const replicaOf = new Map(group.reconciled.map(({ uid, replica }) => [uid, replica]));
    for (const [tenant, maps] of Map.groupBy(group.maps(), ({ metadata }) => metadata.labels?.tenant)) {
      const replicas = new Set(maps.map(({ metadata: { uid = "" } }) => replicaOf.get(uid)));
      assertEquals(replicas.size, 1, `tenant ${tenant}`);
    }
    for (const { metadata } of group.world.list(Secret)) {
      const slot = typeof shardKey === "object" ? String(slotOf(metadata.name?.slice(0, 1) ?? "")) : undefined;
      assertEquals(metadata.labels?.["pintle.dev/slot"], slot);
    }
    // A dependent that is deleted comes back: its replica sees it.
    for (const { metadata } of group.world.list(Secret)) await group.world.delete(Secret, keyOf({ metadata }));
    await group.pass(3_000);
    assertEquals(group.world.list(Secret).length, names.length);
  });
}

test("an object that the shard key fails for is reconciled, and delays no other one", async () => {
  const shardKey = ({ labels }: ObjectMeta): string => {
    if (labels?.["tenant"] === "a") throw new Error("tenant a has no key");
    return labels?.["tenant"] === "b" ? (undefined as unknown as string) : labels?.["tenant"] ?? "";
  };
  await using group = await groupOf({ shardKey });
  await group.create(names);
  for (const replica of ["a", "b"]) group.start(replica, 2);
  await group.pass(10_000);
  assertEquals(group.world.list(Secret).length, names.length);
  assertEquals((await group.assertDivided()).size, 2);
});

test("a name of the group that is too long for a label divides the keys as well", async () => {
  await using group = await groupOf();
  await group.create(names);
  const lengths = [63, 64, 200, 253];
  for (const [at, length] of lengths.entries()) {
    group.name = `operator-${at}.`.padEnd(length, "n");
    for (const replica of ["a", "b"]) group.start(replica, 2);
    await group.pass(5_000);
    assertEquals((await group.assertDivided()).size, 2, `${length} characters`);
    for (const replica of ["a", "b"]) await group.leave(replica);
  }
  const labels = group.world.list(Lease).map(({ metadata }) => metadata.labels?.[groupLabel]);
  assertEquals(new Set(labels).size, lengths.length);
});

test("a replica that gets no slot, because there are too many replicas, is ready", async () => {
  await using group = await groupOf();
  const claim = "0".repeat(64);
  for (let other = 0; other < 600; other++) {
    await group.world.client.create(Lease, {
      metadata: {
        namespace: "default",
        name: `other-${other}`,
        labels: { [groupLabel]: "copies" },
        annotations: { [claimAnnotation]: claim },
      },
      spec: { holderIdentity: "other", leaseDurationSeconds: 15 },
    });
  }
  group.start("a");
  const problems = () => group.managers.get("a")?.checks().flatMap(({ problem }) => problem() ?? []) ?? [];
  assertEquals(problems().length, 1, "it has not joined");
  await group.pass(3_000);
  assertEquals([group.heldSlots(), problems()], [[], []]);
  await group.pass(6_000);
  // The others are silent, so it has all slots.
  assertEquals([group.heldSlots().length, problems()], [slotCount, []]);
});

test("a replica warns once of each other one that divides other work", async () => {
  await using group = await groupOf();
  const warnings: string[] = [];
  const write = (text: string) => void warnings.push(...text.split("\n").filter((line) => line.includes("other work")));
  using _logging = configureLogging({ write, format: "json", level: "warn" });
  group.start("a");
  group.start("b");
  await group.pass(10_000);
  assertEquals(warnings, []);
  group.start("c", 1, { shardKey: "namespace" });
  await group.pass(10_000);
  const told = warnings.map((line) => JSON.parse(line)).map(({ member, work, own }) => [member, work, own].join(": "));
  const [byUid, byNamespace] = ["copies by uid", "copies by namespace"];
  // The log leaves out what both say of c in the same words.
  assertEquals(told.toSorted(), [
    `copies-a: ${byUid}: ${byNamespace}`,
    `copies-b: ${byUid}: ${byNamespace}`,
    `copies-c: ${byNamespace}: ${byUid}`,
  ]);
});

test("a Lease that a user deletes ends its replica, and the others wait for the lease duration", async () => {
  await using group = await groupOf();
  await group.create(names);
  for (const replica of ["a", "b"]) group.start(replica);
  await group.pass(10_000);
  assertEquals((await group.assertDivided()).size, 2);
  const [lease] = group.world.list(Lease).filter(({ spec }) => spec?.holderIdentity === "a");
  assertEquals(lease?.metadata.labels?.[groupLabel], "copies");
  await group.world.delete(Lease, keyOf(lease as KubeObject));
  await group.pass(22_000);
  assertEquals([...(await group.assertDivided()).keys()], ["b"]);
  assert((await group.leave("a")) instanceof Error);
});

test("a replica whose Lease loses its label stays in the group, and nobody takes its slots", async () => {
  await using group = await groupOf();
  for (const replica of ["a", "bb", "ccc"]) group.start(replica, 3);
  await group.pass(10_000);
  for (const label of [null, "another-group"]) {
    await group.editLease("a", { metadata: { labels: { [groupLabel]: label } } });
    await group.passWithoutSharedSlots(25_000);
    assertEquals(group.heldSlots().length, slotCount);
    const lease = group.world.get(Lease, "default/copies-a");
    assertEquals([lease.metadata.labels?.[groupLabel], lease.spec.holderIdentity], ["copies", "a"]);
  }
});

test("a user who empties the holder of a Lease ends its replica, and the others wait for the lease duration", async () => {
  await using group = await groupOf();
  for (const replica of ["a", "bb", "ccc"]) {
    group.start(replica, 3);
    await group.pass(530); // They read the Leases at different times.
  }
  await group.pass(10_000);
  await group.editLease("a", { spec: { holderIdentity: "" } });
  await group.passWithoutSharedSlots(20_000);
  assertEquals(group.heldSlots().length, slotCount);
  assert((await group.leave("a")) instanceof Error);
});

test("a claim that was refused is not written later, when its slots have their replica again", async () => {
  await using group = await groupOf();
  for (const replica of ["a", "bb"]) {
    group.start(replica, 2);
    await group.pass(530); // They read the Leases at different times.
  }
  await group.pass(10_000);
  // For a moment "a" does not see the other replica, and cannot claim its slots.
  group.refused.add("a");
  await group.editLease("bb", { metadata: { labels: { [groupLabel]: null } } });
  await group.pass(3_000);
  group.refused.delete("a");
  await group.pass(5_000);
  assertEquals(await group.leave("bb"), undefined);
  group.start("bb");
  await group.pass(5_000);
  assertEquals(new Set(group.heldSlots()).size, slotCount);
});

test("a replica that gives keys away no longer counts them as failing, and does not list them", async () => {
  await using group = await groupOf();
  group.errorOf = (name) => /[02468]$/.test(name) ? new TerminalError("it is even") : new Error("it is odd");
  await group.create(names);
  group.start("a");
  await group.pass(10_000);
  const failing = async (replica: string) => {
    const ask = group.debugClient(replica);
    const { controllers: [{ failing, waiting }] } = await ask("/debug/controllers");
    const { keys } = await ask("/debug/keys?state=stopped");
    return { failing, stoppedOrWaiting: waiting + keys.length };
  };
  const all = { failing: names.length, stoppedOrWaiting: names.length };
  assertEquals(await failing("a"), all);
  group.start("b");
  await group.pass(10_000);
  const [a, b] = [await failing("a"), await failing("b")];
  assert(a.failing < all.failing, `${a.failing} keys fail`);
  for (const key of ["failing", "stoppedOrWaiting"] as const) assertEquals(a[key] + b[key], all[key]);
});

test('a controller with replicas: "one" needs leader election', async () => {
  await using world = await World.start({ controllers: [], cluster: false });
  const sharding = { namespace: "default", name: "copies", identity: "a" };
  const manager = new Manager({ client: world.client, clock: world.clock, sharding });
  manager.add(controller("single", { replicas: "one" }).for(ConfigMap).reconcile(() => Promise.resolve(done)));
  await assertRejects(() => manager.run(new AbortController().signal), /Set leaderElection as well/);
});

test("[130] a replica says which one reconciles an object that it does not have", async () => {
  await using group = await groupOf();
  await group.create(names);
  for (const replica of ["a", "b"]) group.start(replica, 2);
  await group.pass(10_000);
  assertEquals((await group.assertDivided()).size, 2);
  const [reconciled] = group.reconciled.filter(({ replica }) => replica === "b");
  const map = group.maps().find(({ metadata: { uid } }) => uid === reconciled?.uid);
  const key = `${map?.metadata.namespace}/${map?.metadata.name}`;
  const slot = slotOf(reconciled?.uid ?? "");
  const a = group.debugClient("a");
  const { group: name, replica, replicas, slots } = await a("/debug/shards");
  assertEquals([name, replica, replicas.map((one: { name: string }) => one.name)], [
    "copies",
    "copies-a",
    ["copies-a", "copies-b"],
  ]);
  assertEquals(replicas[0].slots, slots);
  assert(replicas[1].slots.includes(slot));
  const here = `replica copies-b reconciles slot ${slot} of ConfigMap ${key}; this process is replica copies-a`;
  assertEquals((await a(`/debug/why?kind=configmaps&key=${key}`)).notes.at(-1), here);
  const [reason] = (await a(`/debug/why?kind=configmaps&key=${key}&not`)).reasons;
  assertEquals([reason.kind, reason.text], ["other-replica", here]);
  const facts = debugStateOf(group.managers.get("a") as Manager).facts({
    resource: "configmaps",
    kind: "ConfigMap",
    key,
  });
  assertEquals(facts.leaderOnly, []);
  const { notes } = await group.debugClient("b")(`/debug/why?kind=configmaps&key=${key}`);
  assertEquals(notes.at(-1), `this process, replica copies-b, reconciles slot ${slot} of ConfigMap ${key}`);
});

for (
  const timing of [{ leaseDurationMs: 10_000 }, { renewDeadlineMs: 2_400 }, { retryPeriodMs: 0 }, {
    renewDeadlineMs: NaN,
  }]
) {
  test(`[46] sharding with the times ${JSON.stringify(timing)} is rejected`, async () => {
    await using world = await World.start({ controllers: [], cluster: false });
    const sharding = { namespace: "default", name: "copies", identity: "a", ...timing };
    assertThrows(
      () => new Manager({ client: world.client, clock: world.clock, sharding }),
      /Cannot shard controllers: .* > 0 does not hold/,
    );
  });
}
