/** Runs label tracking, pruning and ordered dependents under crashes, old caches and changes by other users. */
import { builtin, type UntypedObject } from "../api/mod.ts";
import { controller, dependent, dependents, done, manifest } from "../controller/mod.ts";
import type { Workload } from "../manager/mod.ts";
import { assertEquals, test } from "../../tests/testing.ts";
import type { FaultKind } from "./fault_plan.ts";
import { simulate } from "./simulate.ts";

const { ConfigMap, Secret } = builtin;

const secret: UntypedObject = {
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: "team", namespace: "default", labels: { names: "a-b-c" } },
};
const name = { apiVersion: "v1", kind: "Secret", name: "team", namespace: "default" };

/** The faults that can make a controller delete, keep or create again what it should not. */
const kinds = new Set<FaultKind>(["crash", "stale", "actor"]);

/** Creates the Secret, names less, then more, and deletes it. */
const workload: Workload = {
  name: "names",
  steps: [
    { kind: "create", object: secret },
    { kind: "patch", object: name, patch: { metadata: { labels: { names: "b" } } } },
    { kind: "patch", object: name, patch: { metadata: { labels: { names: "b-c" } } } },
    { kind: "delete", object: name },
  ],
};

const namesOf = (object: { readonly metadata: { readonly labels?: Readonly<Record<string, string>> } }) =>
  (object.metadata.labels?.names ?? "").split("-").filter((text) => text !== "");

const inNamespace = (namespace: string, object: Parameters<typeof namesOf>[0]) =>
  namesOf(object).map((text) => manifest(ConfigMap, { metadata: { namespace, name: text }, data: { text } }));

const pruned = controller("pruned").for(Secret).owns(ConfigMap, { prunes: true }).reconcile(async (ctx) => {
  for (const desired of inNamespace("default", ctx.object)) await ctx.apply(desired);
  await ctx.prune();
  return done;
});

const tracked = controller("tracked").for(Secret).owns(ConfigMap, { prunes: true, track: "labels" }).reconcile(
  async (ctx) => {
    for (const desired of inNamespace("kube-public", ctx.object)) await ctx.apply(desired);
    await ctx.prune();
    return done;
  },
);

const step = (text: string, after: readonly ReturnType<typeof dependent>[] = []) =>
  dependent(text, ConfigMap, {
    of: Secret,
    after,
    propagationPolicy: "Background",
    when: ({ object }) => namesOf(object).includes(text),
    readyWhen: (live) => live.data?.text === text,
    desired: () => manifest(ConfigMap, { metadata: { namespace: "default", name: text }, data: { text } }),
  });
const b = step("b");
const c = step("c", [b]);
const a = step("a", [b, c]);
const ordered = controller("ordered").for(Secret).dependents(dependents([b, c, a])).reconcile(async (ctx) =>
  (await ctx.applyDependents()).result()
);

for (const definition of [pruned, tracked, ordered]) {
  test(`[97, 98, 100] the controller "${definition.name}" keeps all invariants under crashes, old caches and other users`, async () => {
    const { findings } = await simulate({
      controller: definition,
      workloads: [workload],
      kinds,
      storms: 3,
      maxFindings: 1,
    });
    assertEquals(findings.map(({ violations, plan, timeline }) => ({ violations, plan, timeline })), []);
  });
}
