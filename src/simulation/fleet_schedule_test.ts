/** Tests that every invariant is checked in each cluster of a fleet, and what each fault of a member does. */
import { assert, assertEquals, assertMatch, test } from "../../tests/testing.ts";
import { builtin } from "../api/mod.ts";
import { controller, type ControllerDefinition, done, inHub, manifest } from "../controller/mod.ts";
import type { Workload } from "../manager/mod.ts";
import { type Fault, memberStates } from "./fault_plan.ts";
import { recordSchedule } from "./recorded_schedule.ts";
import { compareWithReference } from "./reference.ts";
import { runSchedule } from "./schedule.ts";
import { learnReference } from "./schedule_checker.ts";
import { simulate } from "./simulate.ts";
import { correct, deletesByName, dropWorkload, recreateWorkload, secret } from "./testing/sample_controllers.ts";
import { timelineOf } from "./timeline.ts";
import type { Violation } from "./violation.ts";

const { ConfigMap, Secret } = builtin;

const options = { controllers: [correct], workload: recreateWorkload, members: 2 };

async function violationsUnder(faults: readonly Fault[], how: Partial<typeof options> = {}) {
  const reference = await learnReference({ ...options, ...how });
  assertEquals(reference.violations, []);
  const plan = { faults };
  return compareWithReference(reference, await runSchedule({ ...options, ...how, plan }), plan);
}

/** The names of the invariants, each with the cluster that its message names. */
function placesOf(violations: readonly Violation[]): readonly string[] {
  return [
    ...new Set(violations.map(({ invariant, message }) => `${invariant} ${/^in (\S+):/.exec(message)?.[1] ?? ""}`)),
  ];
}

test("a fleet does in each member what the controller does in one cluster", async () => {
  const [one, fleet] = [await runSchedule({ ...options, members: 0 }), await runSchedule(options)];
  assertEquals([...fleet.others.keys()], ["hub", "member-2"]);
  for (const { violations, outcome, points } of [fleet, ...fleet.others.values()]) {
    assertEquals(violations, []);
    if (points.writes === 0) continue;
    assertEquals(points.writes, one.points.writes);
    assertEquals(outcome.outcomes, one.outcome.outcomes);
  }
});

test("a correct controller breaks no invariant in a fleet, under faults of members and of processes", async () => {
  const { findings, covered } = await simulate({
    ...{ controller: correct, workloads: [recreateWorkload], members: 2, storms: 12, points: 60 },
  });
  assertEquals(findings.map(({ plan, violations }) => ({ plan, violations })), []);
  assert((covered.get("member")?.tested ?? 0) > 0);
  assertEquals(covered.get("pause"), undefined);
});

for (const state of memberStates) {
  test(`a member that is ${state} catches up when that is over, and the other one has not waited`, async () => {
    const fault = { kind: "member", step: 1, state, forMs: 120_000 } as const;
    assertEquals(await violationsUnder([fault]), []);
    const { entries, others, stepWrites } = await recordSchedule({ ...options, plan: { faults: [fault] } });
    assertMatch(timelineOf(entries), new RegExp(`fault member-1 .*the first member is ${state}`));
    assertEquals(others.get("member-2")?.stepWrites[0], { prompt: 2, inTime: 2 });
    // It got its writes later, or with a delay for each request.
    assert((stepWrites[0]?.prompt ?? 0) < 2, "the fault has had no effect");
  });
}

test("a member that is lost for good keeps the fleet from nothing", async () => {
  const plan = { faults: [{ kind: "member", step: 2, state: "lost" }] } as const;
  const { isGone, others, settling } = await runSchedule({ ...options, plan });
  assertEquals([isGone, settling, others.get("member-2")?.isGone], [true, "settled", false]);
  assertEquals(await violationsUnder(plan.faults), []);
});

const Settings = inHub(ConfigMap);
const settings = { namespace: "default", name: "settings" };
/** Copies a ConfigMap of the hub into each member, once there is a Secret. */
const copier: ControllerDefinition = controller("copier").for(Secret).owns(ConfigMap)
  .watches(Settings, { to: (_, caches) => caches.list(Secret, {}).map(({ metadata }) => `default/${metadata.name}`) })
  .reconcile(async (ctx) => {
    const data = ctx.find(Settings, "default/settings")?.data ?? {};
    await ctx.apply(manifest(ConfigMap, { metadata: { namespace: "default", name: "copy" }, data }));
    return done;
  });
const settingsName = { apiVersion: "v1", kind: "ConfigMap", ...settings };
const hubWorkload: Workload = {
  name: "settings of the hub",
  steps: [
    {
      kind: "create",
      object: { apiVersion: "v1", kind: "ConfigMap", metadata: settings, data: { text: "a" } },
      inHub: true,
    },
    { kind: "create", object: secret },
    { kind: "patch", object: settingsName, patch: { data: { text: "b" } }, inHub: true },
  ],
};

test("a controller that reads in the hub and writes in the members breaks no invariant", async () => {
  const how = { controllers: [copier], workload: hubWorkload, members: 2 };
  const { others, outcome } = await runSchedule(how);
  const copies = [outcome, others.get("member-2")?.outcome].map((one) =>
    one?.objects.find(({ object }) => object.metadata.name === "copy")?.object
  );
  assertEquals(copies.map((copy) => Reflect.get(copy ?? {}, "data")), [{ text: "b" }, { text: "b" }]);
  const { findings } = await simulate({
    controller: copier,
    workloads: [hubWorkload],
    members: 2,
    storms: 10,
    points: 40,
  });
  assertEquals(findings.map(({ plan, violations }) => ({ plan, violations })), []);
});

test("a report in the hub about a member waits for that member, and breaks no invariant", async () => {
  const reporter = controller("reporter").for(Secret).owns(ConfigMap).uses(Settings, ["create", "patch"]).reconcile(
    async (ctx) => {
      const { namespace, name = "" } = ctx.object.metadata;
      await ctx.apply(manifest(ConfigMap, { metadata: { namespace, name }, data: {} }));
      const report = manifest(ConfigMap, { metadata: { namespace, name: `${ctx.cluster?.name}-${name}` }, data: {} });
      await ctx.hub.client.apply(ConfigMap, report, { fieldManager: "reporter" });
      return done;
    },
  );
  const { findings } = await simulate({
    ...{ controller: reporter, workloads: [{ name: "create", steps: [{ kind: "create", object: secret }] }] },
    ...{ members: 2, kinds: new Set(["slow"] as const) },
  });
  assertEquals(findings.map(({ plan, violations }) => ({ plan, violations })), []);
});

test("without a fleet, the hub of a workload is the cluster itself", async () => {
  const { outcome } = await runSchedule({ controllers: [copier], workload: hubWorkload });
  assertEquals(outcome.outcomes, ["done", "done", "done"]);
});

test("a fault in one member that breaks an invariant is reported for that member only", async () => {
  const { findings } = await simulate({
    ...{ controller: deletesByName, workloads: [dropWorkload], members: 2, kinds: new Set(["actor"] as const) },
  });
  assertEquals(findings.flatMap(({ violations }) => placesOf(violations)).slice(0, 1), ["foreign-objects "]);
});

test("a lock that all clusters share is found: a member that does not respond makes the other one wait", async () => {
  let last: Promise<unknown> = Promise.resolve();
  const locking = controller("locking").for(Secret).owns(ConfigMap).reconcile(async (ctx) => {
    const before = last;
    const { promise, resolve } = Promise.withResolvers<void>();
    last = promise;
    await before;
    try {
      await ctx.apply(manifest(ConfigMap, { metadata: { namespace: "default", name: "hello" }, data: {} }));
    } finally {
      resolve();
    }
    return done;
  });
  const workload = { name: "create", steps: [{ kind: "create", object: secret }] } as const;
  const { findings } = await simulate({
    ...{ controller: locking, workloads: [workload], members: 2, kinds: new Set(["slow"] as const) },
  });
  assertEquals(placesOf(findings[0]?.violations ?? []), ["isolation member-2"]);
});

test("memory that does not distinguish the clusters is found without a fault", async () => {
  const forgetful = (): ControllerDefinition => {
    const seen = new Set<string>();
    return controller("forgetful").for(Secret).owns(ConfigMap).reconcile(async (ctx) => {
      if (seen.has(ctx.object.metadata.name ?? "")) return done;
      await ctx.apply(manifest(ConfigMap, { metadata: { namespace: "default", name: "hello" }, data: {} }));
      seen.add(ctx.object.metadata.name ?? "");
      return done;
    });
  };
  const workload = { name: "create", steps: [{ kind: "create", object: secret }] } as const;
  const { findings } = await simulate({
    ...{ controller: { ...forgetful(), create: forgetful }, workloads: [workload], members: 2, points: 0 },
  });
  assert(findings.some(({ violations }) => placesOf(violations).includes("end-state member-2")), "it is not found");
});
