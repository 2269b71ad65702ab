import { assertEquals, assertMatch, assertThrows, test } from "../../../tests/testing.ts";
import { builtin } from "../../api/mod.ts";
import { controller, done } from "../../controller/mod.ts";
import { selectControllers } from "./select_controllers.ts";
import { UsageError } from "../flags/commander_options.ts";

const controllers = ["foo", "pods", "ecsbinding", "nodepool"].map((name) =>
  controller(name).for(builtin.ConfigMap).reconcile(() => Promise.resolve(done))
);
const operator = { name: "controller", controllers };

test("selectControllers() returns each controller once, in the order of the operator", () => {
  assertEquals(selectControllers(operator, ["pods", "foo", "pods"]).map(({ name }) => name), ["foo", "pods"]);
  assertEquals(selectControllers(operator, []), []);
});

test("[84] the error for an unknown name lists the known names and suggests a similar one", () => {
  const error = assertThrows(() => selectControllers(operator, ["foo", "nodepol"]));
  assertEquals(error.message, 'Cannot find controller "nodepol": there are foo, pods, ecsbinding, nodepool');
  assertEquals(error instanceof UsageError ? error.advice : undefined, "Did you mean nodepool?");
  const far = assertThrows(() => selectControllers(operator, ["__proto__"]));
  assertMatch(far.message, /"__proto__": there are foo/);
  assertEquals(far instanceof UsageError ? far.advice : "", undefined);
});
