/** What replicas reconcile when slots come to them: only the keys of these slots, and first those that need work. */
import { builtin, keyOf } from "../../src/api/mod.ts";
import { assert, assertEquals, test } from "../testing.ts";
import { type Group, groupOf } from "./_shard_group.ts";

const { Secret } = builtin;

const replicas = ["a", "b", "c", "d"];
const names = Array.from({ length: 100 }, (_, index) => `map-${index}`);

async function startAll(group: Group): Promise<void> {
  await group.create(names);
  for (const replica of replicas) group.start(replica, replicas.length);
}

/** How often each UID was reconciled since the last call. */
function takeCounts(group: Group): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { uid } of group.reconciled.splice(0)) counts.set(uid, (counts.get(uid) ?? 0) + 1);
  return counts;
}

/** What a replica has reconciled since {@link takeCounts}. */
function uidsOf(group: Group, replica: string): ReadonlySet<string> {
  return new Set(group.reconciled.filter((one) => one.replica === replica).map(({ uid }) => uid));
}

test("a slot that moves brings each of its keys to its new replica once, and no other key", async () => {
  await using group = await groupOf();
  await startAll(group);
  await group.pass(10_000);
  const replicaOf = new Map(group.reconciled.map(({ uid, replica }) => [uid, replica]));
  assertEquals([...takeCounts(group).values()], names.map(() => 1));
  const assertOnlyMoved = () => {
    for (const { uid, replica } of group.reconciled) {
      assert(replicaOf.get(uid) !== replica, `${replica} had ${uid} already`);
      replicaOf.set(uid, replica);
    }
    assertEquals([...takeCounts(group).values()].filter((count) => count !== 1), []);
  };
  group.kill("a");
  await group.pass(25_000);
  assertOnlyMoved();
  assert(![...replicaOf.values()].includes("a"), "the others have taken all keys of the killed replica");
  group.start("e");
  await group.pass(10_000);
  assertOnlyMoved();
  assert([...replicaOf.values()].includes("e"));
});

test("a resync delays no key that a replica has not looked at yet, after a start and after a kill", async () => {
  await using group = await groupOf({ resyncMs: 10_000 });
  group.reconcileMs = 2_000; // about 50 s for the part of a replica
  await startAll(group);
  const longestPart = 2 * 40 * 1.1;
  await group.pass(longestPart * 1_000);
  assertEquals(group.world.list(Secret).length, names.length, "each key was reconciled while others were resynced");

  const part = uidsOf(group, "a");
  const lost = group.maps().filter(({ metadata: { uid = "" } }) => part.has(uid)).slice(0, 6);
  group.kill("a");
  for (const { metadata } of lost) await group.world.delete(Secret, keyOf({ metadata }));
  assertEquals(group.world.list(Secret).length, names.length - lost.length);
  takeCounts(group);
  await group.pass(20_000); // the Lease and 5 s: the slots are held again
  await group.pass(2_000 * (lost.length + 2)); // as if one replica had gained them all
  assertEquals(group.world.list(Secret).length, names.length);
  const counts = takeCounts(group);
  assert(
    Math.max(...counts.values()) <= 3,
    "a key is reconciled again only by resyncs, while nothing else is to be done",
  );
});

for (const betweenMs of [1_000, 14_000, 17_000]) {
  test(`two replicas that are killed ${betweenMs} ms apart: all slots are held 20 s after the second one`, async () => {
    await using group = await groupOf();
    await startAll(group);
    await group.pass(10_000);
    group.kill("a");
    await group.pass(betweenMs);
    group.kill("b");
    await group.pass(20_000); // the Lease and 5 s
    assertEquals([...(await group.assertDivided()).keys()].sort(), ["c", "d"]);
  });
}
