/** That what is wrong with a controller is found, and said so that a person can see it again. */
import { assert, assertEquals, assertStringIncludes, test } from "../../tests/testing.ts";
import { blunt, careful, careless, churn, dropped, restless, secret, trusting } from "./_careful_rig.ts";
import { defaultWorkloads } from "./default_workloads.ts";
import type { Fault } from "./fault_plan.ts";
import { shrink } from "./shrink.ts";
import { replay, simulate } from "./simulate.ts";

const create = { name: "create", steps: churn.steps.slice(0, 1) };

test("a crash between two writes finds a controller that takes the second for granted", async () => {
  const { findings, covered } = await simulate({
    controller: careless,
    workloads: [create],
    kinds: new Set<Fault["kind"]>(["crash"]),
  });
  const [found] = findings;
  assert(found !== undefined);
  assertEquals(found.violations[0]?.invariant, "end state");
  assertStringIncludes(found.violations[0]?.message ?? "", "configmaps default/welcome");
  assertStringIncludes(found.timeline, "the process ends");
  assert((covered.get("crash")?.all ?? 0) > 0);
  const again = await replay(careless, create, found);
  assertEquals(again?.timeline, found.timeline);
});

test("a controller that deletes by name is found by who puts an object of their own in that place", async () => {
  const { findings: [found] } = await simulate({
    controller: blunt,
    workloads: [dropped],
    kinds: new Set<Fault["kind"]>(["actor"]),
  });
  assertEquals(found?.plan.faults, [{ kind: "actor", write: 2, act: "replace" }]);
  assertEquals(found?.violations[0], {
    invariant: "strangers",
    message: "/api/v1/namespaces/default/configmaps/hello was deleted while it was somebody else's",
  });
});

test("a controller that takes what has the name for its own is found by who takes the name first", async () => {
  const { findings: [found] } = await simulate({
    controller: trusting,
    workloads: [create],
    kinds: new Set<Fault["kind"]>(["actor"]),
  });
  assertEquals(found?.plan.faults, [{ kind: "actor", write: 1, act: "replace" }]);
  assertEquals(found?.violations[0]?.invariant, "strangers");
});

test("a controller whose own writes keep it busy is found without any fault", async () => {
  const { findings } = await simulate({ controller: restless, workloads: [create] });
  assertEquals(findings[0]?.plan, { faults: [] });
  assert(findings[0]?.violations.some(({ invariant }) => invariant === "starved key") === true);
});

test("storms of a careful controller find nothing, also with several replicas", async () => {
  const { findings, schedules } = await simulate({
    controller: careful,
    workloads: [churn],
    singles: false,
    storms: 8,
  });
  assertEquals(findings, []);
  assert(schedules >= 11);
});

test("a plan is shrunk to the faults that matter", async () => {
  const faults = [1, 2, 3, 4].map((write): Fault => ({ kind: "slow", write, forMs: 1 }));
  const needs = (plan: { readonly faults: readonly Fault[] }) =>
    [2, 4].every((write) => plan.faults.some((fault) => fault.kind === "slow" && fault.write === write));
  const { faults: left } = await shrink({ faults }, (plan) => Promise.resolve(needs(plan)));
  assertEquals(left, faults.filter((_, index) => index % 2 === 1));
});

test("samples come and go where nobody wrote a workload", () => {
  assertEquals(defaultWorkloads(careful), []);
  const [comeAndGo] = defaultWorkloads({ ...careful, samples: [secret] });
  assertEquals(comeAndGo?.steps.map(({ kind }) => kind), ["create", "delete", "create"]);
});
