import { FakeCluster } from "../../../tests/fakes/cluster.ts";
import { assert, assertEquals, assertRejects, test } from "../../../tests/testing.ts";
import { builtin } from "../../api/mod.ts";
import { Client } from "../../client/mod.ts";
import { controller, done } from "../../controller/mod.ts";
import { declaredTransport, UndeclaredAccessError } from "./declared_transport.ts";

const { ConfigMap, Event, Namespace, Secret } = builtin;

const definition = controller("greeter").for(Namespace).watches(ConfigMap, { to: () => [] })
  .uses(ConfigMap, ["get", "patch"]).reconcile(() => Promise.resolve(done));

function createClient() {
  const cluster = new FakeCluster();
  cluster.put("/api/v1/namespaces/shop/configmaps/a", {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { namespace: "shop", name: "a" },
  });
  return { cluster, client: new Client(declaredTransport(cluster.transport, definition)) };
}

test("[security 7] declared requests are sent, and requests that are not about a resource too", async () => {
  const { cluster, client } = createClient();
  assertEquals((await client.get(ConfigMap, "shop/a")).metadata.name, "a");
  await client.patch(ConfigMap, "shop/a", { kind: "merge", value: { data: { a: "b" } } });
  assertEquals(cluster.writes.length, 1);
  await assertRejects(() => client.raw("/version"), /NotFound/);
});

test("[security 7] an undeclared request is rejected before it is sent, and the error names what is missing", async () => {
  const { cluster, client } = createClient();
  const error = await assertRejects(
    () => client.delete(ConfigMap, "shop/a"),
    /controller "greeter" did not declare delete on configmaps\. Declare \.uses\(ConfigMap, \["delete"\]\)/,
  );
  assert(error instanceof Error && error.cause instanceof UndeclaredAccessError);
  await assertRejects(() => client.get(Secret, "shop/a"), /did not declare get on secrets/);
  await assertRejects(
    () => client.patch(ConfigMap, "shop/a", { kind: "merge", value: {} }, { subresource: "status" }),
    /did not declare patch on configmaps\/status/,
  );
  assertEquals(cluster.writes, []);
});

test("[security 7] an apply that creates an object requires the declaration of create", async () => {
  const { client } = createClient();
  const apply = (name: string) =>
    client.apply(ConfigMap, { metadata: { namespace: "shop", name } }, { fieldManager: "greeter" });
  await apply("a");
  await assertRejects(() => apply("b"), /did not declare create on configmaps/);
});

test("Events about cluster-scoped objects may be written only to the namespace `default`", async () => {
  const { client } = createClient();
  const record = (namespace: string) => client.create(Event, { metadata: { namespace, name: "e" } } as never);
  await record("default");
  await assertRejects(() => record("shop"), /controller "greeter" may create events in the namespace "default" only/);
});
