import { builtin } from "../api/mod.ts";
import { controller, done } from "../controller/mod.ts";
import { assertEquals, test } from "../../tests/testing.ts";
import { CanonicalNames } from "./_canonical_names.ts";
import type { SummaryChange } from "./_server_changes.ts";
import { changesOnlyTiming, creationsByRole, surplusIn } from "./_surplus_creations.ts";
import { learnReference } from "./schedule_checker.ts";

const { ConfigMap, Secret } = builtin;

/** A change of a Pod that was created with a generated name for the owner `web`. */
function podChange(kind: "added" | "deleted", revision: number, name: string): SummaryChange {
  const ownerReferences = [{ apiVersion: "v1", kind: "ReplicaSet", name: "web", uid: "owner", controller: true }];
  const metadata = { namespace: "default", name, generateName: "web-", uid: name, ownerReferences };
  const object = { apiVersion: "v1", kind: "Pod", metadata };
  return { collection: "pods", change: { kind, revision, current: { key: `default/${name}`, object } } };
}

function ownerChange(kind: "added" | "deleted", revision: number): SummaryChange {
  const object = {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    metadata: { namespace: "default", name: "web", uid: "owner" },
  };
  return { collection: "replicasets.apps", change: { kind, revision, current: { key: "default/web", object } } };
}

function counted(...changes: readonly SummaryChange[]) {
  const all = changes.map(({ collection, change }) => ({ collection, object: change.current.object as never }));
  return creationsByRole(changes, new CanonicalNames(all, []));
}

test("creations are counted by role, but not those for an owner that is deleted", () => {
  const few = counted(ownerChange("added", 1), podChange("added", 2, "web-a"), podChange("added", 3, "web-b"));
  assertEquals([...few.values()], [2]);
  const late = counted(
    ownerChange("added", 1),
    podChange("added", 2, "web-a"),
    podChange("added", 3, "web-b"),
    ownerChange("deleted", 4),
    podChange("added", 5, "web-c"),
  );
  assertEquals(surplusIn(late, few), []);
});

test("a surplus is what one run created more than another one", () => {
  const [few, many] = [
    counted(podChange("added", 2, "web-a")),
    counted(podChange("added", 2, "web-a"), podChange("deleted", 3, "web-a"), podChange("added", 4, "web-b")),
  ];
  assertEquals(surplusIn(many, few).map(({ created, needed }) => [created, needed]), [[2, 1]]);
  assertEquals(surplusIn(few, many), []);
});

test("delays need no further object, lost responses may", () => {
  const isOnlyTiming = (fault: Parameters<typeof changesOnlyTiming>[0]["faults"][number]) =>
    changesOnlyTiming({ faults: [fault] });
  assertEquals(isOnlyTiming({ kind: "event", event: 1, action: "stall", forMs: 5_000 }), true);
  assertEquals(isOnlyTiming({ kind: "reset", write: 1, committed: true }), false);
});

test("runs without faults that create different numbers of objects are a violation", async () => {
  let runs = 0;
  const create = (count: number) =>
    controller("makes").for(Secret).owns(ConfigMap).uses(ConfigMap, ["create"]).reconcile(async (ctx) => {
      const { namespace } = ctx.object.metadata;
      if (ctx.list(ConfigMap, { namespace }).some(({ data }) => data?.["for"] === "a")) return done;
      for (let made = 0; made < count; made++) {
        const metadata = { namespace, generateName: "a-" };
        await ctx.client.create(ConfigMap, { metadata, data: { for: "a" } }, { signal: ctx.signal });
      }
      return done;
    });
  const object = { apiVersion: "v1", kind: "Secret", metadata: { name: "a", namespace: "default" } };
  const workload = { name: "create", steps: [{ kind: "create", object }] } as const;
  const reference = await learnReference({
    controllers: [{ ...create(1), create: () => create(runs++ === 0 ? 1 : 2) }],
    workload,
  });
  const found = reference.violations.filter(({ invariant }) => invariant === "object-lifecycle");
  assertEquals(found.map(({ message }) => message), [
    "configmaps default/a-* differs between runs without faults: 2 were created in one, 1 in another",
  ]);
});
