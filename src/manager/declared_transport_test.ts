import { FakeCluster } from "../../tests/fakes/cluster.ts";
import { assert, assertEquals, assertRejects, test } from "../../tests/testing.ts";
import { builtin } from "../api/mod.ts";
import { Client } from "../client/mod.ts";
import { controller, done } from "../controller/mod.ts";
import { declaredTransport, isUndeclared } from "./declared_transport.ts";

const { ConfigMap, Event, Namespace, Secret } = builtin;

const definition = controller("greeter").for(Namespace).watches(ConfigMap, { to: () => [] })
  .uses(ConfigMap, ["get", "patch"]).reconcile(() => Promise.resolve(done));

function bench() {
  const cluster = new FakeCluster();
  cluster.put("/api/v1/namespaces/shop/configmaps/a", {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { namespace: "shop", name: "a" },
  });
  return { cluster, client: new Client(declaredTransport(cluster.transport, definition)) };
}

test("[security 7] what was declared passes, and so does what is no resource", async () => {
  const { cluster, client } = bench();
  assertEquals((await client.get(ConfigMap, "shop/a")).metadata.name, "a");
  await client.patch(ConfigMap, "shop/a", { kind: "merge", value: { data: { a: "b" } } });
  assertEquals(cluster.writes.length, 1);
  await assertRejects(() => client.raw("/version"), /NotFound/);
});

test("[security 7] what was not declared is refused before it is sent, and says what is missing", async () => {
  const { cluster, client } = bench();
  const error = await assertRejects(
    () => client.delete(ConfigMap, "shop/a"),
    /controller "greeter" did not declare delete on configmaps; see uses\(\)/,
  );
  assert(isUndeclared(error));
  await assertRejects(() => client.get(Secret, "shop/a"), /did not declare get on secrets/);
  await assertRejects(
    () => client.patch(ConfigMap, "shop/a", { kind: "merge", value: {} }, { subresource: "status" }),
    /did not declare patch on configmaps\/status/,
  );
  assertEquals(cluster.writes, []);
});

test("[security 7] an apply that creates needs to have declared that it does", async () => {
  const { client } = bench();
  const apply = (name: string) =>
    client.apply(ConfigMap, { metadata: { namespace: "shop", name } }, { fieldManager: "greeter" });
  await apply("a");
  await assertRejects(() => apply("b"), /did not declare create on configmaps/);
});

test("Events about what lives in no namespace may be written to `default` alone", async () => {
  const { client } = bench();
  const record = (namespace: string) => client.create(Event, { metadata: { namespace, name: "e" } } as never);
  await record("default");
  await assertRejects(() => record("shop"), /did not declare create on events/);
});
