/** Tests that the simulation finds typical defects of controllers and reports them so that they can be run again. */
import { assert, assertEquals, assertStringIncludes, test } from "../../tests/testing.ts";
import { defaultWorkloads } from "./default_workloads.ts";
import type { Fault, FaultKind } from "./fault_plan.ts";
import type { Violation } from "./violation.ts";
import { replay, shrink, simulate } from "./simulate.ts";
import {
  allocatesNumbers,
  assumesSecondWrite,
  changesForeignObject,
  correct,
  deletesByName,
  deletesUndeclared,
  dropWorkload,
  neverSettles,
  numberedWorkload,
  recreateWorkload,
  secret,
} from "./testing/sample_controllers.ts";

const create = { name: "create", steps: recreateWorkload.steps.slice(0, 1) };

test("simulate() finds a controller that assumes its second write, by a crash between both", async () => {
  const { findings, covered } = await simulate({
    controller: assumesSecondWrite,
    workloads: [create],
    kinds: new Set<FaultKind>(["crash"]),
  });
  const [found] = findings;
  assert(found !== undefined);
  assertEquals(found.violations[0]?.invariant, "end-state");
  assertStringIncludes(found.violations[0]?.message ?? "", "configmaps default/welcome");
  assertStringIncludes(found.timeline, "the process is killed");
  assert((covered.get("crash")?.all ?? 0) > 0);
  const again = await replay(assumesSecondWrite, create, found);
  assertEquals(again?.timeline, found.timeline);
});

test("simulate() finds a controller that deletes by name, by a foreign object with that name", async () => {
  const { findings: [found] } = await simulate({
    controller: deletesByName,
    workloads: [dropWorkload],
    kinds: new Set<FaultKind>(["actor"]),
  });
  assertEquals(found?.plan.faults, [{ kind: "actor", write: 2, act: "replace" }]);
  assertEquals(found?.violations[0], {
    invariant: "foreign-objects",
    message: "/api/v1/namespaces/default/configmaps/hello was deleted while it was a foreign object",
    consequence: "The ConfigMap default/hello, which belongs to someone else, was deleted.",
    object: "configmaps default/hello",
  });
});

test("simulate() finds a controller that changes a foreign object with the name of its dependent", async () => {
  const { findings: [found] } = await simulate({
    controller: changesForeignObject,
    workloads: [create],
    kinds: new Set<FaultKind>(["actor"]),
  });
  assertEquals(found?.plan.faults, [{ kind: "actor", write: 1, act: "replace" }]);
  assertEquals(found?.violations[0]?.invariant, "foreign-objects");
});

test("simulate() finds a controller whose own writes trigger it again, without any fault", async () => {
  const { findings } = await simulate({ controller: neverSettles, workloads: [create] });
  assertEquals(findings[0]?.plan, { faults: [] });
  assert(findings[0]?.violations.some(({ invariant }) => invariant === "starved-key") === true);
});

test("numbers that are allocated from a cached list stay unique under every fault that does not restart the process", async () => {
  const kinds: readonly FaultKind[] = ["event", "reset", "answer", "slow", "partition"];
  const { findings, schedules } = await simulate({
    controller: allocatesNumbers,
    workloads: [numberedWorkload],
    kinds: new Set(kinds),
  });
  const isUnique = ({ invariant }: Violation) => !["quiescence", "own-writes", "starved-key"].includes(invariant);
  assertEquals(findings.filter(({ violations }) => !violations.every(isUnique)), []);
  assert(schedules > 20, `only ${schedules} schedules`);
});

test("[security 7] simulate() finds a request that is not declared, also one whose denial the controller ignores", async () => {
  const { findings } = await simulate({ controller: deletesUndeclared, workloads: [create] });
  assertEquals(findings.map(({ plan, violations }) => [plan.faults, violations]), [[[], [{
    invariant: "declared-access",
    message: 'controller "deletes-undeclared" did not declare delete on configmaps. ' +
      "Declare .owns(ConfigMap, { deletes: true })",
  }]]]);
});

test("points limits the single faults, spread over the kinds, and the report says how many there are", async () => {
  const countOf = async (points: number | undefined) => {
    const { covered } = await simulate({ controller: correct, workloads: [create], points });
    const counts = [...covered.values()];
    const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0);
    return {
      tested: sum(counts.map(({ tested }) => tested)),
      all: sum(counts.map(({ all }) => all)),
      kinds: counts.filter(({ tested }) => tested > 0).length,
    };
  };
  const all = await countOf(undefined);
  assertEquals(all.tested, all.all);
  const some = await countOf(10);
  assertEquals([some.tested, some.all], [10, all.all]);
  assert(some.kinds > 3, `${some.kinds}`);
  assertEquals((await countOf(0)).tested, 0);
});

test("storms find nothing in a correct controller, also with several replicas", async () => {
  const { findings, schedules } = await simulate({
    controller: correct,
    workloads: [recreateWorkload],
    singles: false,
    storms: 8,
  });
  assertEquals(findings, []);
  assert(schedules >= 11);
});

test("shrink() keeps only the faults that are needed", async () => {
  const faults = [1, 2, 3, 4].map((write): Fault => ({ kind: "slow", write, forMs: 1 }));
  const needs = (plan: { readonly faults: readonly Fault[] }) =>
    [2, 4].every((write) => plan.faults.some((fault) => fault.kind === "slow" && fault.write === write));
  const { faults: left } = await shrink({ faults }, (plan) => Promise.resolve(needs(plan)));
  assertEquals(left, faults.filter((_, index) => index % 2 === 1));
});

test("defaultWorkloads() creates and deletes the samples of a controller without workloads", () => {
  assertEquals(defaultWorkloads(correct), []);
  const [workload] = defaultWorkloads({ ...correct, samples: [secret] });
  assertEquals(workload?.steps.map(({ kind }) => kind), ["create", "delete", "create"]);
});
