import { FakeCluster } from "../../../tests/fakes/cluster.ts";
import { assert, assertEquals, assertRejects, test } from "../../../tests/testing.ts";
import { builtin } from "../../api/mod.ts";
import { VirtualClock } from "../../async/mod.ts";
import { Client, type ImpersonatedUser } from "../../client/mod.ts";
import { controller, done } from "../../controller/mod.ts";
import { declaredTransport, UndeclaredAccessError } from "./declared_transport.ts";
import { PermissionDenials } from "./permission_denials.ts";

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

test("a request as another user needs the declaration of each part of the user, and none for what the user does", async () => {
  const cluster = new FakeCluster();
  const acting = controller("acting").for(Namespace)
    .impersonates({ serviceAccounts: ["shop/deployer"], users: ["jane"], groups: ["dev"], extra: { scopes: ["view"] } })
    .reconcile(() => Promise.resolve(done));
  const client = new Client(declaredTransport(cluster.transport, acting));
  const create = (user: ImpersonatedUser, name: string) =>
    client.as(user).create(Secret, { metadata: { namespace: "shop", name } });
  await create({ serviceAccount: "shop/deployer" }, "a");
  await create({ user: "jane", groups: ["dev"], extra: { scopes: ["view"] } }, "b");
  assertEquals(cluster.writes.length, 2);
  const refused: readonly ImpersonatedUser[] = [
    { serviceAccount: "web/deployer" },
    { user: "joe" },
    { user: "jane", groups: ["dev", "ops"] },
    { user: "jane", uid: "7" },
    { user: "jane", extra: { scopes: ["edit"] } },
  ];
  for (const user of refused) {
    await assertRejects(() => create(user, "c"), /may not impersonate .*\. Declare it with \.impersonates/);
  }
  assertEquals(cluster.writes.length, 2);
});

test("what another user may not do is not a permission that the controller lacks, but being that user is", async () => {
  const cluster = new FakeCluster();
  const denials = new PermissionDenials(Namespace, new VirtualClock());
  const client = new Client(denials.wrap(cluster.transport)).as({ user: "jane" });
  const answer = (text: string) => {
    const status = { kind: "Status", status: "Failure", code: 403, reason: "Forbidden", message: text };
    cluster.intercept = () => Response.json(status, { status: 403 });
  };
  answer('User "jane" cannot get resource "secrets" in API group "" in the namespace "shop"');
  await assertRejects(() => client.get(Secret, "shop/a"), /jane/);
  assertEquals(denials.missingRules, []);
  answer('User "greeter" cannot impersonate resource "users" in API group "" at the cluster scope');
  await assertRejects(() => client.get(Secret, "shop/a"), /greeter/);
  assertEquals(denials.missingRules, ['{apiGroups: [""], resources: ["users"], verbs: ["impersonate"]}']);
});
