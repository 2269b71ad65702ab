import { assert, assertEquals, assertMatch, test } from "../../tests/testing.ts";
import { builtin } from "../api/mod.ts";
import { controller, done, manifest } from "../controller/mod.ts";
import { bench, greeter, namespace } from "./_manager_rig.ts";

const { Namespace, Secret } = builtin;

test("a controller without permission degrades alone, names the missing rule, and heals", async () => {
  const secretive = controller("secretive").for(Namespace).owns(Secret).reconcile(async (ctx) => {
    const metadata = { namespace: ctx.object.metadata.name, name: "secretive" };
    await ctx.apply(manifest(Secret, { metadata }));
    return done;
  });
  await using b = bench([secretive, greeter()]);
  let isAllowed = false;
  const forbidden = { kind: "Status", status: "Failure", code: 403, reason: "Forbidden", message: "not allowed" };
  b.cluster.intercept = (_, path) =>
    path === "/api/v1/secrets" && !isAllowed ? Response.json(forbidden, { status: 403 }) : undefined;
  b.cluster.put("/api/v1/namespaces/shop", namespace("shop"));
  b.start();
  await b.until(() => b.cluster.get("/api/v1/namespaces/shop/configmaps/greeter") !== undefined);
  const problems = () => new Map(b.manager.checks().map((check) => [check.name, check.problem()]));
  assertEquals(problems().get("greeter"), undefined);
  const rule = '{apiGroups: [""], resources: ["secrets"], verbs: ["get", "list", "watch"]}';
  assert(problems().get("secretive")?.includes(`missing rule: ${rule}`), problems().get("secretive"));
  isAllowed = true;
  await b.clock.advance(60_000);
  await b.until(() => b.cluster.get("/api/v1/namespaces/shop/secrets/secretive") !== undefined);
  assertEquals(problems().get("secretive"), undefined);
});

test("a controller that may not write degrades alone, names the missing rule, and heals", async () => {
  await using b = bench([greeter(), greeter("other")]);
  let isAllowed = false;
  const message =
    'configmaps is forbidden: User "op" cannot create resource "configmaps" in API group "" in the ns "x"';
  const forbidden = { kind: "Status", status: "Failure", code: 403, reason: "Forbidden", message };
  b.cluster.intercept = (request, path) =>
    path.endsWith("configmaps/greeter") && request.method !== "GET" && !isAllowed
      ? Response.json(forbidden, { status: 403 })
      : undefined;
  b.cluster.put("/api/v1/namespaces/shop", namespace("shop"));
  b.start();
  await b.until(() => b.cluster.get("/api/v1/namespaces/shop/configmaps/other") !== undefined);
  const problem = (name: string) => b.manager.checks().find((check) => check.name === name)?.problem();
  await b.until(() => problem("greeter") !== undefined);
  const rule = '{apiGroups: [""], resources: ["configmaps"], verbs: ["create"]}';
  assertEquals([problem("greeter"), problem("other")], [`it is forbidden; missing rule: ${rule}`, undefined]);
  isAllowed = true;
  await b.clock.advance(60_000);
  await b.until(() => b.cluster.get("/api/v1/namespaces/shop/configmaps/greeter") !== undefined);
  assertEquals(problem("greeter"), undefined);
});

test("a child with an owner that may not be set says which rule on the owner is missing; a quota says nothing", async () => {
  await using b = bench([greeter(), greeter("other")]);
  const messages: Readonly<Record<string, string>> = {
    greeter:
      "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: , <nil>",
    other: "exceeded quota: small, requested: configmaps=1",
  };
  const refused = new Set<string>();
  b.cluster.intercept = (request, path) => {
    const name = path.split("/").at(-1) ?? "";
    const message = messages[name];
    if (request.method === "GET" || message === undefined) return undefined;
    refused.add(name);
    return Response.json({ kind: "Status", status: "Failure", code: 403, reason: "Forbidden", message }, {
      status: 403,
    });
  };
  b.cluster.put("/api/v1/namespaces/shop", namespace("shop"));
  b.start();
  await b.until(() => refused.size === 2);
  const problem = (name: string) => b.manager.checks().find((check) => check.name === name)?.problem();
  await b.until(() => problem("greeter") !== undefined);
  assertMatch(problem("greeter") ?? "", /resources: \["namespaces\/finalizers"\], verbs: \["update"\]/);
  assertEquals(problem("other"), undefined);
});

test("a refusal of what nobody tries any more is forgotten after 20 minutes", async () => {
  await using b = bench([greeter()]);
  const message = 'User "op" cannot patch resource "configmaps" in API group ""';
  b.cluster.intercept = (request) =>
    request.method === "GET"
      ? undefined
      : Response.json({ kind: "Status", code: 403, reason: "Forbidden", message }, { status: 403 });
  b.cluster.put("/api/v1/namespaces/shop", namespace("shop"));
  b.start();
  const problem = () => b.manager.checks()[0]?.problem();
  await b.until(() => problem() !== undefined);
  b.cluster.remove("/api/v1/namespaces/shop");
  await b.clock.advance(1_000_000);
  assert(problem() !== undefined);
  await b.clock.advance(1_200_000);
  assertEquals(problem(), undefined);
});

test("[security 7] a strict Manager refuses what a controller did not declare", async () => {
  const sneaky = controller("sneaky").for(Namespace).reconcile(async (ctx) => {
    await ctx.client.delete(Secret, "shop/a", { signal: ctx.signal }).catch((error: Error) =>
      errors.push(error.message)
    );
    return done;
  });
  const errors: string[] = [];
  await using b = bench([sneaky], { strictAccess: true });
  b.cluster.put("/api/v1/namespaces/shop", namespace("shop"));
  b.start();
  await b.until(() => errors.length === 1);
  assertMatch(errors[0] ?? "", /controller "sneaky" did not declare delete on secrets/);
});

test("workers begin within the jitter, each at a moment of its own", async () => {
  const begun: number[] = [];
  const jittery = controller("jittery", { maxConcurrentReconciles: 4 }).for(Namespace).reconcile(async (ctx) => {
    begun.push(b.clock.monotonic());
    await new Promise((_, reject) => ctx.signal.addEventListener("abort", () => reject(ctx.signal.reason)));
    return done;
  });
  await using b = bench([jittery], { workerJitterMs: 10_000, gracefulShutdownTimeoutMs: 0 });
  for (const name of ["a", "b", "c", "d"]) b.cluster.put(`/api/v1/namespaces/${name}`, namespace(name));
  b.start();
  await b.until(() => b.manager.caches.findInformer(Namespace)?.hasSynced === true);
  assertEquals(begun, []);
  for (let second = 0; second < 10; second++) await b.clock.advance(1_000);
  assertEquals([begun.length, new Set(begun).size], [4, 4]);
  assert(begun.every((at) => at > 0 && at <= 10_000), begun.join());
});
