import { assertEquals, test } from "../../../tests/testing.ts";
import { desiredLabels } from "./desired.ts";
import { EcsBinding } from "./resource.ts";

function labels(nodename: string | undefined, hasNode: boolean): readonly unknown[] {
  const binding = EcsBinding.make({ metadata: { name: "a" }, spec: { nodename } });
  return Object.entries(desiredLabels(binding, hasNode));
}

test("desiredLabels() labels every EcsBinding as bound, and names an existing Node whose name fits into a label", () => {
  const [bound, node] = [["hopegi.com/bound", "true"], "hopegi.com/node"];
  assertEquals(labels("n1", true), [bound, [node, "n1"]]);
  assertEquals(labels("n1", false), [bound, [node, null]]);
  assertEquals(labels("", true), [bound, [node, null]]);
  assertEquals(labels(undefined, true), [bound, [node, null]]);
  const bare = EcsBinding.make({ metadata: { name: "a" } });
  assertEquals(Object.entries(desiredLabels(bare, true)), [bound, [node, null]]);
  assertEquals(labels("n".repeat(63), true), [bound, [node, "n".repeat(63)]]);
  assertEquals(labels("n".repeat(64), true), [bound, [node, null]]);
});
