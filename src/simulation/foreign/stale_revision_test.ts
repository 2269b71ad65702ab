/** Tests of the revisions that a stale start names. */
import { kubernetesApi } from "../../apiserver/mod.ts";
import { Client } from "../../client/mod.ts";
import { builtin } from "../../api/mod.ts";
import { seededRandom, VirtualClock } from "../../async/mod.ts";
import { assertEquals, test } from "../../../tests/testing.ts";
import type { FaultOf } from "../fault_plan.ts";
import { namedChanges, revisionOf } from "./stale_revision.ts";

/** A server on which a ConfigMap was created, marked for deletion, deleted, and created again. */
async function serverWithChanges() {
  const clock = new VirtualClock();
  const { server } = kubernetesApi({ clock, random: seededRandom(1) });
  const client = new Client(server.fetch, { clock });
  await client.raw("/readyz");
  const firstRevision = server.storage.revision;
  const metadata = { namespace: "default", name: "a", finalizers: ["example.com/hold"] };
  await client.create(builtin.ConfigMap, { metadata });
  await client.delete(builtin.ConfigMap, "default/a");
  await client.patch(builtin.ConfigMap, "default/a", {
    kind: "merge",
    value: { metadata: { labels: { seen: "yes" } } },
  });
  await client.patch(builtin.ConfigMap, "default/a", { kind: "merge", value: { metadata: { finalizers: [] } } });
  await client.create(builtin.ConfigMap, { metadata: { namespace: "default", name: "a" } });
  return { server, firstRevision };
}

const stale: FaultOf<"stale"> = { kind: "stale", step: 1, back: 0, thawMs: 1 };

test("namedChanges() tells the change that sets the deletionTimestamp from others", async () => {
  const { server, firstRevision } = await serverWithChanges();
  using _ending = server;
  const changes = namedChanges(server.storage, firstRevision);
  assertEquals(changes.map(({ verb }) => verb), ["ADDED", "DELETING", "MODIFIED", "DELETED", "ADDED"]);
  assertEquals(new Set(changes.map(({ resource, name }) => `${resource} ${name}`)), new Set(["configmaps default/a"]));
});

test("revisionOf() finds a change by its name and occurrence, and shows the newest state for one that did not come", async () => {
  const { server, firstRevision } = await serverWithChanges();
  using _ending = server;
  const { storage } = server;
  const revision = (verb: string, occurrence: number) =>
    revisionOf({ ...stale, at: { verb, resource: "configmaps", name: "default/a", occurrence } }, {
      storage,
      firstRevision,
    });
  const changes = namedChanges(storage, firstRevision);
  assertEquals(revision("DELETING", 1), changes[1]?.revision);
  assertEquals(revision("ADDED", 2), changes[4]?.revision);
  assertEquals(revision("ADDED", 3), storage.revision);
});

test("revisionOf() goes back by changes, but not before the first step", async () => {
  const { server, firstRevision } = await serverWithChanges();
  using _ending = server;
  const { storage } = server;
  assertEquals(revisionOf({ ...stale, back: 2 }, { storage, firstRevision }), storage.revision - 2);
  assertEquals(revisionOf({ ...stale, back: 1_000 }, { storage, firstRevision }), firstRevision);
});
