import { assertEquals, test } from "../../../../tests/testing.ts";
import type { JsonObject } from "../../model/mod.ts";
import { conditionOf, isConditionTrue, namesInUse, withAcceptedNames, withCondition } from "./definition_conditions.ts";

const [noon, later] = ["2026-01-01T12:00:00Z", "2026-01-01T13:00:00Z"];

function definition(plural: string, names: JsonObject = {}): JsonObject {
  return {
    metadata: { name: `${plural}.example.com` },
    spec: { group: "example.com", names: { plural, kind: "Foo", listKind: "FooList", singular: "foo", ...names } },
  };
}

const ready = { type: "Established", status: "True", reason: "R", message: "m" } as const;

test("the timestamp of a condition changes only with its status", () => {
  const first = withCondition(definition("foos"), ready, noon);
  assertEquals(isConditionTrue(first, "Established"), true);
  const same = withCondition(first, { ...ready, message: "other" }, later);
  assertEquals(conditionOf(same, "Established")?.lastTransitionTime, noon);
  const changed = withCondition(same, { ...ready, status: "False" }, later);
  assertEquals(conditionOf(changed, "Established")?.lastTransitionTime, later);
});

test("free names are accepted", () => {
  const accepted = withAcceptedNames(definition("foos"), namesInUse([]), noon);
  assertEquals(isConditionTrue(accepted, "NamesAccepted"), true);
});

test("a kind that another definition uses is a conflict", () => {
  const first = withAcceptedNames(definition("foos"), namesInUse([]), noon);
  const second = withAcceptedNames(
    definition("others", { singular: "other", listKind: "OtherList" }),
    namesInUse([first]),
    noon,
  );
  const condition = conditionOf(second, "NamesAccepted");
  assertEquals([condition?.status, condition?.reason], ["False", "KindConflict"]);
});
