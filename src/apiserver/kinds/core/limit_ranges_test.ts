import { assertEquals, test } from "../../../../tests/testing.ts";
import { created, kindNamed } from "../testing/kinds_testing.ts";

const ranges = kindNamed("LimitRange", "v1");

const limits: readonly (readonly [what: string, limit: object, problems: readonly string[]])[] = [
  ["sets defaults from the other amounts", { type: "Container", max: { cpu: "2" } }, []],
  ["rejects defaults for Pods", { type: "Pod", default: { cpu: "1" } }, [
    "spec.limits[0].default: Forbidden: may not be specified when `type` is 'Pod'",
  ]],
  ["requires sizes for claims", { type: "PersistentVolumeClaim" }, [
    "spec.limits[0].limits: Required value: either minimum or maximum storage value is required, but neither was provided",
  ]],
  ["checks the ratio against max and min", {
    type: "Container",
    min: { cpu: "1" },
    max: { cpu: "2" },
    maxLimitRequestRatio: { cpu: "3" },
  }, ['spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: "3": ratio 3 is greater than max/min = 2.000000']],
  ["rejects unknown types", { type: "Planet" }, [
    'spec.limits[0].type: Invalid value: "Planet": must be a standard limit type or fully qualified',
  ]],
];

for (const [what, limit, problems] of limits) {
  test(`a LimitRange ${what}`, () => {
    assertEquals(created(ranges, { spec: { limits: [{ ...limit }] } }).problems, problems);
  });
}
