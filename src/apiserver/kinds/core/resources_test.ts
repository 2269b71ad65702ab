import { assertEquals, test } from "../../../../tests/testing.ts";
import { created, kindNamed, updated } from "../testing/kinds_testing.ts";

const budgets = kindNamed("PodDisruptionBudget", "policy/v1");

const quotas = kindNamed("ResourceQuota", "v1");

const ranges = kindNamed("LimitRange", "v1");

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

const scopes: readonly (readonly [what: string, spec: object, problems: readonly string[]])[] = [
  ["no scope", { hard: { secrets: "1" } }, []],
  ["a scope for Pods", { hard: { pods: "1" }, scopes: ["BestEffort"] }, []],
  ["a scope that does not fit", { hard: { secrets: "1" }, scopes: ["BestEffort"] }, [
    'spec.scopes: Invalid value: ["BestEffort"]: unsupported scope applied to resource',
  ]],
  ["scopes that exclude each other", { hard: { pods: "1" }, scopes: ["Terminating", "NotTerminating"] }, [
    'spec.scopes: Invalid value: ["Terminating","NotTerminating"]: conflicting scopes',
  ]],
  [
    "a scope selector without values",
    { hard: { pods: "1" }, scopeSelector: { matchExpressions: [{ scopeName: "PriorityClass", operator: "In" }] } },
    [
      "spec.scopeSelector.matchExpressions.values: Required value: must be at least one value when `operator` is 'In' " +
      "or 'NotIn' for scope selector",
    ],
  ],
  ["half a Pod", { hard: { pods: "0.5" } }, ['spec.hard[pods]: Invalid value: "500m": must be an integer']],
];

for (const [what, spec, problems] of scopes) {
  test(`a ResourceQuota with ${what} has ${problems.length} errors`, () => {
    assertEquals(created(quotas, { spec: { ...spec } }).problems, problems);
  });
}

test("an update of a ResourceQuota must not change its scopes", () => {
  const { object } = created(quotas, { spec: { hard: { pods: "1" }, scopes: ["BestEffort", "Terminating"] } });
  const swapped = { ...object, spec: { ...object.spec, scopes: ["Terminating", "BestEffort"] } };
  assertEquals(updated(quotas, swapped, object).problems, []);
  const fewer = { ...object, spec: { ...object.spec, scopes: ["BestEffort"] } };
  assertEquals(updated(quotas, fewer, object).problems, [
    'spec.scopes: Invalid value: ["BestEffort"]: field is immutable',
  ]);
});

test("a ResourceQuota warns when a request exceeds the limit", () => {
  const { warnings } = created(quotas, { spec: { hard: { memory: "2Gi", "limits.memory": "1024Mi", cpu: "1" } } });
  assertEquals(warnings, ["ResourceQuota memory (2Gi) should be less than limits.memory (1Gi)"]);
});

const limits: readonly (readonly [what: string, limit: object, problems: readonly string[]])[] = [
  ["fills in what follows from the rest", { type: "Container", max: { cpu: "2" } }, []],
  ["has no defaults for Pods", { type: "Pod", default: { cpu: "1" } }, [
    "spec.limits[0].default: Forbidden: may not be specified when `type` is 'Pod'",
  ]],
  ["wants sizes for claims", { type: "PersistentVolumeClaim" }, [
    "spec.limits[0].limits: Required value: either minimum or maximum storage value is required, but neither was provided",
  ]],
  ["knows what can be said of a ratio", {
    type: "Container",
    min: { cpu: "1" },
    max: { cpu: "2" },
    maxLimitRequestRatio: { cpu: "3" },
  }, ['spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: "3": ratio 3 is greater than max/min = 2.000000']],
  ["refuses types it does not know", { type: "Planet" }, [
    'spec.limits[0].type: Invalid value: "Planet": must be a standard limit type or fully qualified',
  ]],
];

for (const [what, limit, problems] of limits) {
  test(`a LimitRange ${what}`, () => {
    assertEquals(created(ranges, { spec: { limits: [{ ...limit }] } }).problems, problems);
  });
}
