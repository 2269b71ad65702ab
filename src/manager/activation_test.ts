/** What a Manager says of a kind that is watched under a condition. */
import { assert, assertEquals, test } from "../../tests/testing.ts";
import { builtin } from "../api/mod.ts";
import { controller, type ControllerDefinition, done, whenObject } from "../controller/mod.ts";
import { debugStateOf } from "./mod.ts";
import { createTestManager, namespace } from "./testing/test_manager.ts";

const { ConfigMap, Namespace, Secret } = builtin;

const whenOn = whenObject(ConfigMap, "shop/features", (map) => map?.data?.secrets === "on");

function watching(name = "watching"): ControllerDefinition {
  return controller(name).for(Namespace)
    .watches(Secret, { activation: whenOn, to: () => [] })
    .reconcile(() => Promise.resolve(done));
}

function features(secrets: string) {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "shop", name: "features" }, data: { secrets } };
}

const path = "/api/v1/namespaces/shop/configmaps/features";

test("a Manager is ready while a condition does not hold, and its debug state names the kind and why", async () => {
  await using test = createTestManager([watching()]);
  const { cluster, manager } = test;
  cluster.put("/api/v1/namespaces/shop", namespace("shop"));
  const state = debugStateOf(manager);
  const problem = () => manager.checks()[0]?.problem();
  assert(problem() !== undefined);
  void test.start();
  await test.until(() => problem() === undefined);
  assertEquals(state.controllerStates()[0]?.inactive, [
    'secrets is not active: ConfigMap "shop/features" does not meet the condition',
  ]);
  assertEquals(state.caches().map(({ name }) => name).filter((name) => name.startsWith("secrets")), []);

  cluster.put(path, features("on"));
  await test.until(() => state.controllerStates()[0]?.inactive === undefined);
  assertEquals(state.caches().map(({ name }) => name).filter((name) => name.startsWith("secrets")), ["secrets"]);
  assertEquals(problem(), undefined);

  cluster.put(path, features("off"));
  await test.until(() => state.controllerStates()[0]?.inactive !== undefined);
  assertEquals([state.caches().some(({ name }) => name === "secrets"), problem()], [false, undefined]);
});

test("the objects of a kind that two controllers watch under a condition are shown once, and in one cache", async () => {
  await using test = createTestManager([watching("one"), watching("two")]);
  const { cluster, manager } = test;
  const metadata = { namespace: "shop", name: "tls" };
  cluster.put("/api/v1/namespaces/shop/secrets/tls", { apiVersion: "v1", kind: "Secret", metadata });
  cluster.put(path, features("on"));
  const state = debugStateOf(manager);
  void test.start();
  const secrets = () => state.objects(10).filter(({ kind }) => kind === "Secret");
  await test.until(() => secrets().length > 0 && manager.isIdle());
  assertEquals([secrets().length, state.caches().filter(({ name }) => name === "secrets").length], [1, 1]);
});

test("a condition that may not be read keeps a Manager from being ready, with the rule that is missing", async () => {
  await using test = createTestManager([watching()]);
  const { cluster, manager } = test;
  cluster.intercept = (_request, path) =>
    path.includes("configmaps")
      ? Response.json({ kind: "Status", code: 403, reason: "Forbidden" }, { status: 403 })
      : undefined;
  void test.start();
  const problem = () => manager.checks()[0]?.problem() ?? "";
  await test.until(() => problem().includes("missing rule"));
  const rule =
    '{apiGroups: [""], resources: ["configmaps"], resourceNames: ["features"], verbs: ["get", "list", "watch"]}';
  assert(problem().includes(`missing rule: ${rule}`), problem());
});
