import { assert, assertEquals, test } from "../../tests/testing.ts";
import { type ConditionNow, isConditionTrue, withCondition } from "./condition.ts";

const ready: ConditionNow = { type: "Ready", status: "True", reason: "AllGood", message: "All is well" };
const noon = Date.UTC(2026, 0, 1, 12);
const later = noon + 3_600_000;

test("withCondition() adds a new condition with the given time in whole seconds", () => {
  const [condition] = withCondition(undefined, ready, noon + 250);
  assertEquals(condition, { ...ready, lastTransitionTime: "2026-01-01T12:00:00Z" });
});

test("withCondition() returns the same array for an unchanged condition", () => {
  const first = withCondition(undefined, ready, noon);
  assert(withCondition(first, ready, later) === first);
});

test("another message keeps the time of the transition, another status changes it", () => {
  const first = withCondition(undefined, ready, noon);
  const reworded = withCondition(first, { ...ready, message: "Still well" }, later);
  assertEquals(reworded[0]?.lastTransitionTime, "2026-01-01T12:00:00Z");
  const turned = withCondition(first, { ...ready, status: "False" }, later);
  assertEquals(turned[0]?.lastTransitionTime, "2026-01-01T13:00:00Z");
});

test("other conditions stay unchanged and in their order", () => {
  const both = withCondition(withCondition(undefined, ready, noon), { ...ready, type: "Synced" }, noon);
  const turned = withCondition(both, { ...ready, status: "False" }, later);
  assertEquals(turned.map((condition) => condition.type), ["Ready", "Synced"]);
  assertEquals([isConditionTrue(turned, "Ready"), isConditionTrue(turned, "Synced")], [false, true]);
});
