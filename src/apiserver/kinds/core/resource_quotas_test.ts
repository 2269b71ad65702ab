import { assertEquals, test } from "../../../../tests/testing.ts";
import { created, kindNamed, updated } from "../testing/kinds_testing.ts";

const quotas = kindNamed("ResourceQuota", "v1");

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
