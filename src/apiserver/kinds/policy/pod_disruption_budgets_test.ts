import { assertEquals, test } from "../../../../tests/testing.ts";
import { created, kindNamed, updated } from "../testing/kinds_testing.ts";

const budgets = kindNamed("PodDisruptionBudget", "policy/v1");

test("a PodDisruptionBudget has minAvailable or maxUnavailable, at most 100%", () => {
  const { problems } = created(budgets, { spec: { minAvailable: "101%", maxUnavailable: -1 } });
  assertEquals(problems, [
    'spec: Invalid value: {"MinAvailable":"101%","Selector":null,"MaxUnavailable":-1,' +
    '"UnhealthyPodEvictionPolicy":null}: minAvailable and maxUnavailable cannot be both set',
    'spec.minAvailable: Invalid value: "101%": must not be greater than 100%',
    "spec.maxUnavailable: Invalid value: -1: must be greater than or equal to 0",
  ]);
});

test("an update of the status of a PodDisruptionBudget keeps the spec and checks the conditions", () => {
  const { object } = created(budgets, { spec: { minAvailable: 1 } });
  const status = { expectedPods: -1, conditions: [{ type: "A b", status: "Maybe", reason: "1" }] };
  const next = updated(budgets, { ...object, spec: {}, status }, object, "status");
  assertEquals(next.object.spec, object.spec);
  assertEquals(next.problems.map((problem) => problem.split(":")[0]), [
    "status.conditions[0].type",
    "status.conditions[0].status",
    "status.conditions[0].lastTransitionTime",
    "status.conditions[0].reason",
    "status.expectedPods",
  ]);
});
