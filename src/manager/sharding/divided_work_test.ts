import { builtin } from "../../api/mod.ts";
import { controller, type ControllerOptions, done } from "../../controller/mod.ts";
import { assertEquals, test } from "../../../tests/testing.ts";
import { dividedWork, type WorkScope } from "./divided_work.ts";

const named = (name: string, options: ControllerOptions = {}) =>
  controller(name, options).for(builtin.ConfigMap).reconcile(() => Promise.resolve(done));

test("dividedWork() tells apart what replicas must have in common, in any order", () => {
  const selector = { matchLabels: { app: "web" } };
  const work = (options: ControllerOptions, scope: WorkScope = {}) =>
    dividedWork([named("b", options), named("a")], scope);
  assertEquals(work({}), "a by uid, b by uid");
  assertEquals(dividedWork([named("a"), named("b")], {}), work({}));
  assertEquals(work({ shardKey: "namespace", selector }), "a by uid, b by namespace of app=web");
  assertEquals(work({ shardKey: { label: "tenant" }, namespace: "c" }), "a by uid, b by label tenant in c");
  assertEquals(work({ shardKey: () => "x" }), "a by uid, b by a function");
  assertEquals(work({}, { namespaces: ["y", "x", "y"] }), "a by uid, b by uid in x, y");
  assertEquals(work({}, { namespaceSelector: selector }), "a by uid, b by uid in namespaces with app=web");
});
