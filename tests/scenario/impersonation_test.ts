/** Acting as another user for some requests, through the public surface. */
import { assertEquals, assertRejects, assertThrows, test } from "../testing.ts";
import {
  ConfigMap,
  controller,
  type ControllerDefinition,
  done,
  type ImpersonationRules,
  isForbidden,
  requeueAfter,
  Role,
  RoleBinding,
} from "../../src/mod.ts";
import { controllerAccess, simulateController, World } from "../../src/testing.ts";
import type { ImpersonatedUser } from "../../src/client.ts";

const deployer: ImpersonatedUser = { serviceAccount: "shop/deployer" };

/** Creates the ConfigMap "installed" beside each ConfigMap "wanted", as the user. */
function installer(user: ImpersonatedUser, rules: ImpersonationRules, errors: unknown[] = []): ControllerDefinition {
  return controller("installer").for(ConfigMap).impersonates(rules).reconcile(async (ctx) => {
    const { name, namespace = "" } = ctx.object.metadata;
    if (name !== "wanted") return done;
    const desired = { metadata: { name: "installed", namespace }, data: { from: name } };
    try {
      await ctx.as(user).apply(ConfigMap, desired, { fieldManager: "installer", signal: ctx.signal });
      return done;
    } catch (error) {
      errors.push(error);
      return requeueAfter(60_000);
    }
  });
}

async function grant(
  world: World,
  subject: { readonly kind: string; readonly name: string; readonly namespace?: string },
) {
  const rules = [{ apiGroups: [""], resources: ["configmaps"], verbs: ["create", "patch"] }];
  await world.create(Role, { name: "tenant", namespace: "shop", rules });
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "tenant" };
  await world.create(RoleBinding, { name: "tenant", namespace: "shop", roleRef, subjects: [subject] });
}

test("ctx.as() writes with the permissions of a ServiceAccount, and not with those of the controller", async () => {
  const errors: unknown[] = [];
  const controllers = [installer(deployer, { serviceAccounts: "all" }, errors)];
  await using world = await World.start({ controllers, cluster: false });
  await world.client.raw("/api/v1/namespaces", {
    method: "POST",
    body: JSON.stringify({ metadata: { name: "shop" } }),
  });
  await world.create(ConfigMap, { name: "wanted", namespace: "shop", data: {} });
  await world.settled();
  assertEquals(world.find(ConfigMap, "shop/installed"), undefined);
  assertEquals([errors.length, errors.every(isForbidden)], [1, true]);
  assertEquals(String(errors[0]).includes("system:serviceaccount:shop:deployer"), true);
  await grant(world, { kind: "ServiceAccount", name: "deployer", namespace: "shop" });
  await world.clock.advance(60_000);
  await world.settled();
  assertEquals(world.get(ConfigMap, "shop/installed").data, { from: "wanted" });
});

test("ctx.as() sends the groups of a user", async () => {
  const user = { user: "jane", groups: ["developers", "operators"] };
  const controllers = [installer(user, { users: ["jane"], groups: ["developers", "operators"] })];
  await using world = await World.start({ controllers, cluster: false });
  await world.client.raw("/api/v1/namespaces", {
    method: "POST",
    body: JSON.stringify({ metadata: { name: "shop" } }),
  });
  await grant(world, { kind: "Group", name: "operators" });
  await world.create(ConfigMap, { name: "wanted", namespace: "shop", data: {} });
  await world.settled();
  assertEquals(world.get(ConfigMap, "shop/installed").data, { from: "wanted" });
});

test("ctx.as() refuses a user, a ServiceAccount or a group that is not declared, before a request is sent", async () => {
  const cases: readonly (readonly [ImpersonatedUser, ImpersonationRules, RegExp])[] = [
    [
      { user: "jane" },
      {},
      /^TypeError: Cannot act as user "jane": .* Declare \.impersonates\(\{ users: \["jane"\] \}\)/,
    ],
    [deployer, { users: "all" }, /Declare \.impersonates\(\{ serviceAccounts: \["shop\/deployer"\] \}\)/],
    [{ user: "system:serviceaccount:shop:deployer" }, { users: "all" }, /serviceAccounts: \["shop\/deployer"\]/],
    [{ user: "jane", groups: ["system:masters"] }, { users: "all" }, /groups: \["system:masters"\]/],
    [{ user: "jane", uid: "7" }, { users: "all" }, /uids: \["7"\]/],
    [
      { user: "jane", extra: { scopes: ["view"] } },
      { users: "all", extra: { scopes: ["edit"] } },
      /"scopes": \["view"\]/,
    ],
    [{ user: "jane", groups: ["a,b"] }, { users: "all" }, /"a,b" has a comma, so it cannot be sent in a header/],
    [{ user: "" }, { users: "all" }, /the name "" cannot be sent/],
    [{ serviceAccount: "deployer" }, { serviceAccounts: "all" }, /"deployer": it is not namespace\/name/],
  ];
  for (const [user, rules, expected] of cases) {
    const errors: unknown[] = [];
    await using world = await World.start({ controllers: [installer(user, rules, errors)], cluster: false });
    await world.create(ConfigMap, { name: "wanted", data: {} });
    await world.settled();
    assertEquals(errors.map((error) => expected.test(String(error))), [true], String(errors[0]));
  }
});

test("the verb impersonate is declared for exactly the parts of the users", () => {
  const definition = installer(deployer, {
    serviceAccounts: ["shop/deployer", "web/deployer", "shop/other"],
    users: "all",
    groups: ["developers"],
    extra: { Scopes: ["view"] },
  });
  const rules = controllerAccess(definition).filter(({ verbs }) => verbs.includes("impersonate"));
  assertEquals(
    rules.map(({ group, resource, namespace, names }) => [group, resource, namespace, names]),
    [
      ["", "serviceaccounts", "shop", ["deployer", "other"]],
      ["", "serviceaccounts", "web", ["deployer"]],
      ["", "users", undefined, undefined],
      ["", "groups", undefined, ["developers"]],
      ["authentication.k8s.io", "userextras/scopes", undefined, ["view"]],
    ],
  );
});

test("the server refuses a raw client that acts as a user whom the controller did not declare", async () => {
  const errors: unknown[] = [];
  const sneaky = controller("sneaky").for(ConfigMap).reconcile(async (ctx) => {
    const admin = ctx.client.as({ user: "admin", groups: ["system:masters"] });
    errors.push(await admin.delete(ConfigMap, "default/wanted").catch((error: unknown) => error));
    return done;
  });
  await using world = await World.start({ controllers: [sneaky], cluster: false });
  await world.create(ConfigMap, { name: "wanted", data: {} });
  await world.settled();
  assertEquals(errors.every(isForbidden), true);
  assertEquals(String(errors[0]).includes("Declare it with .impersonates({ ... })"), true, String(errors[0]));
  assertEquals(world.find(ConfigMap, "default/wanted") !== undefined, true);
});

test("all groups cannot be declared, because that includes system:masters", () => {
  const declare = (rules: object) => () => controller("a").for(ConfigMap).impersonates(rules);
  assertThrows(declare({ groups: ["*"] }), /includes system:masters/);
  assertThrows(declare({ groups: "all" }), /includes system:masters/);
  assertThrows(declare({ serviceAccounts: ["deployer"] }), /"deployer" is not namespace\/name/);
});

test("the last user counts when one client acts as several", async () => {
  await using world = await World.start({ controllers: [], cluster: false });
  const both = world.client.as({ user: "first", groups: ["developers"] }).as({ user: "second" });
  const review = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
  const path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
  const answer = JSON.parse(await both.raw(path, { method: "POST", body: JSON.stringify(review) }));
  assertEquals(answer.status.userInfo, { username: "second", groups: ["system:authenticated"] });
  await assertRejects(() => both.get(ConfigMap, "default/a"), /"second"/);
});

test("simulate finds nothing wrong with a controller that acts as a tenant", async () => {
  const metadata = (name: string) => ({ name, namespace: "default" });
  const rbac = "rbac.authorization.k8s.io";
  const rules = [{ apiGroups: [""], resources: ["configmaps"], verbs: ["create", "patch"] }];
  const roleRef = { apiGroup: rbac, kind: "Role", name: "tenant" };
  const subjects = [{ kind: "ServiceAccount", name: "deployer", namespace: "default" }];
  const objects = [
    { apiVersion: `${rbac}/v1`, kind: "Role", metadata: metadata("tenant"), rules },
    { apiVersion: `${rbac}/v1`, kind: "RoleBinding", metadata: metadata("tenant"), roleRef, subjects },
    { apiVersion: "v1", kind: "ConfigMap", metadata: metadata("wanted"), data: {} },
  ];
  const workload = { name: "tenant", steps: objects.map((object) => ({ kind: "create", object }) as const) };
  const user = { serviceAccount: "default/deployer" };
  const { findings } = await simulateController(() => installer(user, { serviceAccounts: [user.serviceAccount] }), {
    workloads: [workload],
    storms: 10,
  });
  assertEquals(findings.map(({ violations }) => violations), []);
});
