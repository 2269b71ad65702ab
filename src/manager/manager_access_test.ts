import { assert, assertEquals, assertMatch, test } from "../../tests/testing.ts";
import { builtin } from "../api/mod.ts";
import { controller, done, manifest } from "../controller/mod.ts";
import { HealthChecks } from "./health/mod.ts";
import { createTestManager, greeter, namespace } from "./testing/test_manager.ts";

const { Namespace, Secret } = builtin;

test("[16] a controller that may not list a kind is not ready, names the missing rule, and recovers; others are not affected", async () => {
  const secretive = controller("secretive").for(Namespace).owns(Secret).reconcile(async (ctx) => {
    const metadata = { namespace: ctx.object.metadata.name, name: "secretive" };
    await ctx.apply(manifest(Secret, { metadata }));
    return done;
  });
  await using b = createTestManager([secretive, greeter()]);
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

test("[16] a cache that is not synced makes readyz fail and names the resource", async () => {
  const local = { remoteAddress: "127.0.0.1", isTls: false };
  const health = new HealthChecks();
  const secretive = controller("secretive").for(Namespace).owns(Secret).reconcile(() => Promise.resolve(done));
  await using b = createTestManager([secretive]);
  for (const check of b.manager.checks()) health.add(check);
  const get = async (path: string) => await health.respond(new Request(`http://localhost${path}`), local);
  let isAllowed = false;
  const forbidden = { kind: "Status", status: "Failure", code: 403, reason: "Forbidden", message: "no RBAC" };
  b.cluster.intercept = (_, path) =>
    path === "/api/v1/secrets" && !isAllowed ? Response.json(forbidden, { status: 403 }) : undefined;
  b.start();
  await b.until(() => b.manager.checks().some((check) => check.problem()?.includes("forbidden") === true));
  const failed = await get("/readyz/secretive");
  assertEquals(failed.status, 500);
  assertMatch(await failed.text(), /^internal server error: secrets: forbidden to list or watch \(.*no RBAC/);
  isAllowed = true;
  await b.clock.advance(60_000);
  await b.until(() => b.manager.checks().every((check) => check.problem() === undefined));
  assertEquals((await get("/readyz")).status, 200);
});

test("a controller that may not write is not ready, names the missing rule, and recovers; others are not affected", async () => {
  await using b = createTestManager([greeter(), greeter("other")]);
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

test("readiness names the missing rule for finalizers of the owner, and does not report an exceeded quota", async () => {
  await using b = createTestManager([greeter(), greeter("other")]);
  const messages: Readonly<Record<string, string>> = {
    greeter:
      "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: , <nil>",
    other: "exceeded quota: small, requested: configmaps=1",
  };
  const denied = new Set<string>();
  b.cluster.intercept = (request, path) => {
    const name = path.split("/").at(-1) ?? "";
    const message = messages[name];
    if (request.method === "GET" || message === undefined) return undefined;
    denied.add(name);
    return Response.json({ kind: "Status", status: "Failure", code: 403, reason: "Forbidden", message }, {
      status: 403,
    });
  };
  b.cluster.put("/api/v1/namespaces/shop", namespace("shop"));
  b.start();
  await b.until(() => denied.size === 2);
  const problem = (name: string) => b.manager.checks().find((check) => check.name === name)?.problem();
  await b.until(() => problem("greeter") !== undefined);
  assertMatch(problem("greeter") ?? "", /resources: \["namespaces\/finalizers"\], verbs: \["update"\]/);
  assertEquals(problem("other"), undefined);
});

test("a denial that is not repeated is forgotten after 20 minutes", async () => {
  await using b = createTestManager([greeter()]);
  const message = 'User "op" cannot patch resource "configmaps" in API group ""';
  b.cluster.intercept = (request) =>
    request.method === "GET"
      ? undefined
      : Response.json({ kind: "Status", code: 403, reason: "Forbidden", message }, { status: 403 });
  b.cluster.put("/api/v1/namespaces/shop", namespace("shop"));
  b.start();
  const problem = () => b.manager.checks()[0]?.problem();
  await b.until(() => problem()?.includes("configmaps") === true);
  b.cluster.remove("/api/v1/namespaces/shop");
  await b.clock.advance(1_000_000);
  assertMatch(problem() ?? "", /configmaps/);
  await b.clock.advance(1_200_000);
  assertEquals(problem(), undefined);
});

test("[security 7] a strict Manager rejects requests that a controller did not declare", async () => {
  const sneaky = controller("sneaky").for(Namespace).reconcile(async (ctx) => {
    await ctx.client.delete(Secret, "shop/a", { signal: ctx.signal }).catch((error: Error) =>
      errors.push(error.message)
    );
    return done;
  });
  const errors: string[] = [];
  await using b = createTestManager([sneaky], { strictAccess: true });
  b.cluster.put("/api/v1/namespaces/shop", namespace("shop"));
  b.start();
  await b.until(() => errors.length === 1);
  assertMatch(errors[0] ?? "", /controller "sneaky" did not declare delete on secrets/);
});

test("workers start within the jitter, each at a different time", async () => {
  const startedAt: number[] = [];
  const jittery = controller("jittery", { maxConcurrentReconciles: 4 }).for(Namespace).reconcile(async (ctx) => {
    startedAt.push(b.clock.monotonic());
    await new Promise((_, reject) => ctx.signal.addEventListener("abort", () => reject(ctx.signal.reason)));
    return done;
  });
  await using b = createTestManager([jittery], { workerJitterMs: 10_000, gracefulShutdownTimeoutMs: 0 });
  for (const name of ["a", "b", "c", "d"]) b.cluster.put(`/api/v1/namespaces/${name}`, namespace(name));
  b.start();
  await b.until(() => b.manager.caches.findInformer(Namespace)?.hasSynced === true);
  assertEquals(startedAt, []);
  for (let second = 0; second < 10; second++) await b.clock.advance(1_000);
  assertEquals([startedAt.length, new Set(startedAt).size], [4, 4]);
  assert(startedAt.every((at) => at > 0 && at <= 10_000), startedAt.join());
});
