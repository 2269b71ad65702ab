/**
 * Tests that a controller may do in a World what the roles of `manifests` allow, and nothing else. Each test is one controller
 * that makes a request and keeps the error.
 */
import { assert, assertEquals, assertMatch, assertRejects, test } from "../../tests/testing.ts";
import { builtin } from "../api/mod.ts";
import { ApiError, type Client } from "../client/mod.ts";
import { controller, type ControllerOptions, done, manifest, notCached } from "../controller/mod.ts";
import { allow, validating } from "../webhook/mod.ts";
import { withWebhooks } from "../manager/mod.ts";
import { World } from "./world.ts";

const { ClusterRole, ClusterRoleBinding, ConfigMap, Deployment, Event, Namespace, Node, Pod, Secret } = builtin;

type Act = (client: Client, namespace: string) => Promise<unknown>;

/** A controller for Namespaces that acts once for the Namespace "shop". */
function acting(act: Act, options: ControllerOptions = {}) {
  const outcome = Promise.withResolvers<unknown>();
  const start = controller("greeter", options).for(Namespace).owns(ConfigMap).watches(Node, { to: () => [] });
  const definition = start.reconcile(async (ctx) => {
    const { name = "" } = ctx.object.metadata;
    if (name === "shop") {
      await act(ctx.client, name).then(() => outcome.resolve(undefined), (error: unknown) => outcome.resolve(error));
    }
    return done;
  });
  return { definition, outcome: outcome.promise };
}

/** The message of the 403 that the request of a controller got; undefined when it was allowed. */
async function denial(act: Act, options: ControllerOptions = {}): Promise<string | undefined> {
  const { definition, outcome } = acting(act, options);
  await using world = await World.start({ controllers: [definition], cluster: false });
  await world.create(ConfigMap, { name: "a" });
  await world.create(Secret, { name: "a" });
  await world.create(Namespace, { name: "shop" });
  await world.settled();
  const error = await outcome;
  if (error === undefined) return undefined;
  assert(error instanceof ApiError, String(error));
  assertEquals([error.code, error.reason], [403, "Forbidden"]);
  return error.status.message;
}

const noChange = { kind: "merge", value: {} } as const;
const body = (client: Client, path: string, method: "POST" | "DELETE", value: object = {}) =>
  client.raw(path, { method, body: JSON.stringify(value) });

const denied: readonly (readonly [what: string, act: Act, declaration: string])[] = [
  ["get a kind that is not declared", (client) => client.get(Secret, "default/a"), '.uses(Secret, ["get"])'],
  ["list it", (client) => client.list(Secret, { namespace: "default" }), '.uses(Secret, ["list"])'],
  ["read it with client.raw", (client) => client.raw("/api/v1/namespaces/default/secrets/a"), '.uses(Secret, ["get"])'],
  ["watch it", (client) => client.raw("/api/v1/secrets?watch=true"), '.uses(Secret, ["watch"])'],
  [
    "watch it by the deprecated path",
    (client) => client.raw("/api/v1/watch/namespaces/default/secrets"),
    '.uses(Secret, ["watch"])',
  ],
  ["delete a dependent", (client) => client.delete(ConfigMap, "default/a"), ".owns(ConfigMap, { deletes: true })"],
  [
    "delete all dependents",
    (client) => body(client, "/api/v1/namespaces/default/configmaps", "DELETE"),
    '.uses(ConfigMap, ["deletecollection"])',
  ],
  [
    "update a dependent",
    async (client) => await client.update(ConfigMap, await client.get(ConfigMap, "default/a")),
    '.uses(ConfigMap, ["update"])',
  ],
  ["patch a watched kind", (client) => client.patch(Node, "n", noChange), ".watches(Node, { ..., writes: true })"],
  [
    "patch a subresource",
    (client) => client.patch(Namespace, "shop", noChange, { subresource: "status" }),
    ".for(Namespace, { writesStatus: true })",
  ],
  [
    "call an action",
    (client) => body(client, "/api/v1/namespaces/default/pods/a/eviction", "POST"),
    '.uses(Pod, ["create"], "eviction")',
  ],
  [
    "record an Event about a cluster-scoped object in another namespace",
    (client) => client.create(Event, { metadata: { namespace: "shop", name: "e" } } as never),
    '.uses(Event, ["create"])',
  ],
  [
    "create a kind that this library does not know",
    (client) => body(client, "/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers", "POST"),
    '.uses(HorizontalPodAutoscaler, ["create"])',
  ],
];

for (const [what, act, declaration] of denied) {
  test(`[security 7] in a World, a controller that did not declare it cannot ${what}`, async () => {
    const message = await denial(act);
    assert(message?.includes('User "system:serviceaccount:world-system:world-greeter" cannot '), message);
    assert(message?.endsWith(`Declare ${declaration}`), message);
  });
}

test("[security 7] in a World, an apply that would create needs the declaration of create, and stores nothing", async () => {
  let error: unknown;
  const patching = controller("patching").for(Namespace).uses(Secret, ["patch"]).reconcile(async (ctx) => {
    const secret = { metadata: { namespace: "default", name: "new" } };
    await ctx.client.apply(Secret, secret, { fieldManager: "patching" }).catch((reason: unknown) => error = reason);
    return done;
  });
  await using world = await World.start({ controllers: [patching], cluster: false });
  await world.settled();
  assertMatch(String(error), /did not declare create on secrets. Declare \.uses\(Secret, \["create"\]\) \(403/);
  assertEquals(world.find(Secret, "default/new"), undefined);
});

test("in a World, a path without a declaration is denied, and discovery and reviews of oneself are allowed", async () => {
  assertMatch(await denial((client) => client.raw("/metrics")) ?? "", /may not get the path \/metrics/);
  assertEquals(await denial((client) => client.raw("/version")), undefined);
  assertEquals(await denial((client) => client.raw("/apis/apps/v1")), undefined);
  const review = async (client: Client, resource: string) => {
    const spec = { resourceAttributes: { verb: "list", resource } };
    const path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    const object = { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectAccessReview", spec };
    return JSON.parse(await body(client, path, "POST", object)).status.allowed;
  };
  const answers: boolean[] = [];
  const ask: Act = async (client) => answers.push(await review(client, "configmaps"), await review(client, "secrets"));
  assertEquals([await denial(ask), answers], [undefined, [true, false]]);
});

test("in a World, what is declared is allowed", async () => {
  assertEquals(await denial((client) => client.get(ConfigMap, "default/a")), undefined);
  assertEquals(await denial((client) => client.patch(ConfigMap, "default/a", noChange)), undefined);
  assertEquals(await denial((client) => client.list(Node)), undefined);
});

test("[security 7] a controller of one namespace is denied the others, and the whole cluster", async () => {
  const messages: string[] = [];
  const keep = (error: unknown) => messages.push(String(error));
  const local = controller("local", { namespace: "shop" }).for(ConfigMap).uses(Pod, ["list"]).reconcile(async (ctx) => {
    await ctx.client.list(Pod, { namespace: "shop", signal: ctx.signal });
    await ctx.client.list(Pod, { namespace: "default", signal: ctx.signal }).catch(keep);
    await ctx.client.list(Pod, { signal: ctx.signal }).catch(keep);
    return done;
  });
  await using world = await World.start({ controllers: [local], cluster: false });
  await world.create(Namespace, { name: "shop" });
  await world.create(ConfigMap, { name: "a", namespace: "shop" });
  await world.settled();
  assertEquals(messages.length, 2);
  assertMatch(
    messages[0] ?? "",
    /in the namespace "default": controller "local" may list pods in the namespace "shop"/,
  );
  assertMatch(messages[1] ?? "", /at the cluster scope: controller "local" may list pods in the namespace "shop" only/);
});

test("[security 7] two controllers of a World have only their own access", async () => {
  const errors = new Map<string, unknown>();
  const named = (name: string, kind: typeof ConfigMap | typeof Secret, other: typeof ConfigMap | typeof Secret) =>
    controller(name).for(Namespace).watches(kind, { to: () => [] }).reconcileKey(async ({ key }, toolbox) => {
      if (key !== "shop") return done;
      toolbox.list(kind);
      try {
        toolbox.list(other);
      } catch (error) {
        errors.set(`${name} cached`, error);
      }
      await toolbox.client.list(other).catch((error: unknown) => errors.set(name, error));
      return done;
    });
  const controllers = [named("one", ConfigMap, Secret), named("two", Secret, ConfigMap)];
  await using world = await World.start({ controllers, cluster: false });
  await world.create(Namespace, { name: "shop" });
  await world.settled();
  assertMatch(String(errors.get("one")), /controller "one" did not declare list on secrets/);
  assertMatch(String(errors.get("two")), /controller "two" did not declare list on configmaps/);
  assertMatch(String(errors.get("one cached")), /Cannot read Secret from the cache: controller "one" did not declare/);
  assertMatch(String(errors.get("two cached")), /Declare \.watches\(ConfigMap, \.\.\.\)$/);
});

test("a World is not settled while a controller is denied, and the error names the declaration", async () => {
  const careless = controller("careless").for(Namespace).owns(ConfigMap).reconcile(async (ctx) => {
    const { name = "" } = ctx.object.metadata;
    await ctx.apply(manifest(ConfigMap, { metadata: { namespace: name, name: "greeting" } }));
    await ctx.client.create(Secret, { metadata: { namespace: name, name: "extra" } }, { signal: ctx.signal });
    return done;
  });
  await using world = await World.start({ controllers: [careless], cluster: false });
  await assertRejects(
    () => world.settled(),
    /controller careless still retries .*Declare \.uses\(Secret, \["create"\]\)/,
  );
});

test('access "unchecked" is the way to let a controller do everything', async () => {
  const { definition, outcome } = acting((client) => client.get(Secret, "default/a"));
  await using world = await World.start({ controllers: [definition], cluster: false, access: "unchecked" });
  await world.create(Secret, { name: "a" });
  await world.create(Namespace, { name: "shop" });
  await world.settled();
  assertEquals(await outcome, undefined);
});

test("a stored binding grants a controller of a World more, as in a cluster", async () => {
  const { definition, outcome } = acting((client) => client.get(Secret, "default/a"));
  await using world = await World.start({ controllers: [definition], cluster: false });
  const account = { kind: "ServiceAccount", name: "world-greeter", namespace: "world-system" };
  const rules = [{ apiGroups: [""], resources: ["secrets"], verbs: ["get"] }];
  await world.create(ClusterRole, { name: "more", rules } as never);
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "more" };
  await world.create(ClusterRoleBinding, { name: "more", roleRef, subjects: [account] } as never);
  await world.create(Secret, { name: "a" });
  await world.create(Namespace, { name: "shop" });
  await world.settled();
  assertEquals(await outcome, undefined);
});

test("[security 7] a controller of a World cannot send a request as another user", async () => {
  const { definition } = acting(() => Promise.resolve());
  const codes: number[] = [];
  await using world = await World.start({
    controllers: [definition],
    cluster: false,
    wrap: (transport) => async (request) => {
      if (codes.length === 0) {
        const { url, signal } = request;
        const sent = async (headers: Record<string, string>) =>
          codes.push((await transport(new Request(new URL("/api/v1/secrets", url), { headers, signal }))).status);
        codes.push(0);
        await sent({ "impersonate-user": "system:admin", "impersonate-group": "system:masters" });
        await sent({ authorization: "Bearer invented" });
        await sent({ authorization: "Basic c3lzdGVtOmFkbWlu" });
        await sent({});
      }
      return await transport(request);
    },
  });
  await world.settled();
  assertEquals(codes, [0, 403, 401, 401, 403]);
});

test("requests of the test itself are those of an administrator, and webhooks see the controller's user", async () => {
  const users: string[] = [];
  const watching = controller("watching").for(Namespace).owns(ConfigMap).uses(notCached(Secret), ["get"])
    .reconcile(async (ctx) => {
      const { name = "" } = ctx.object.metadata;
      if (name === "shop") await ctx.apply(manifest(ConfigMap, { metadata: { namespace: name, name: "a" } }));
      return done;
    });
  const seen = validating(ConfigMap, {
    create: (_, { request }) => {
      users.push(request.userInfo.username ?? "");
      return allow();
    },
  });
  await using world = await World.start({ controllers: [withWebhooks(watching, [seen])] });
  await world.create(Namespace, { name: "shop" });
  await world.settled();
  await world.create(Deployment, {
    name: "web",
    spec: { selector: { matchLabels: { a: "b" } }, template: { metadata: { labels: { a: "b" } } } },
  } as never).catch(() => undefined);
  await world.create(ConfigMap, { name: "mine" });
  assert(users.includes("system:serviceaccount:world-system:world-watching"), users.join());
  assert(users.includes("system:admin"), users.join());
});
