import { assert, assertEquals, test } from "../../../tests/testing.ts";
import { seededRandom, VirtualClock } from "../../async/mod.ts";
import { kubernetesApi } from "../mod.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

const pods = "/api/v1/namespaces/default/pods";
const budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";

/** A server with a namespace that takes Pods. */
class Site implements Disposable {
  readonly #server = kubernetesApi({ clock: new VirtualClock(), random: seededRandom(1) }).server;

  static async start(): Promise<Site> {
    const site = new Site();
    await site.send("POST", "/api/v1/namespaces/default/serviceaccounts", { metadata: { name: "default" } });
    return site;
  }

  async send(method: string, path: string, body?: unknown): Promise<{ readonly code: number; readonly body: Any }> {
    const isPatch = method === "PATCH";
    const type = isPatch ? "application/merge-patch+json" : "application/json";
    const request = new Request(`http://in.memory${path}`, {
      method,
      ...(body === undefined ? {} : { headers: { "content-type": type }, body: JSON.stringify(body) }),
    });
    const response = await this.#server.fetch(request);
    const text = await response.text();
    return { code: response.status, body: text.startsWith("{") ? JSON.parse(text) : text };
  }

  /** @param status what a kubelet would say of it */
  async pod(name: string, spec: object = {}, status?: object): Promise<void> {
    const containers = [{ name: "main", image: "example.invalid/main" }];
    await this.send("POST", pods, { metadata: { name, labels: { app: "web" } }, spec: { containers, ...spec } });
    if (status !== undefined) await this.send("PATCH", `${pods}/${name}/status`, { status });
  }

  /** @param status what the controller of budgets would say of it */
  async budget(name: string, spec: object, status: object): Promise<void> {
    const selector = { matchLabels: { app: "web" } };
    await this.send("POST", budgets, { metadata: { name }, spec: { selector, ...spec } });
    await this.send("PATCH", `${budgets}/${name}/status`, { status: { observedGeneration: 1, ...status } });
  }

  evict(name: string, rest: object = {}, query = "") {
    return this.send("POST", `${pods}/${name}/eviction${query}`, { metadata: { name }, ...rest });
  }

  bind(name: string, node: string, metadata: object = {}) {
    const target = { kind: "Node", name: node };
    return this.send("POST", `${pods}/${name}/binding`, { metadata: { name, ...metadata }, target });
  }

  [Symbol.dispose](): void {
    this.#server[Symbol.dispose]();
  }
}

const ready = { phase: "Running", conditions: [{ type: "Ready", status: "True" }] };

test("a binding assigns a Pod to a node and sets PodScheduled", async () => {
  using site = await Site.start();
  await site.pod("a");
  assertEquals((await site.bind("a", "node-a", { annotations: { chosen: "yes" } })).code, 201);
  const { body } = await site.send("GET", `${pods}/a`);
  assertEquals([body.spec.nodeName, body.metadata.annotations], ["node-a", { chosen: "yes" }]);
  assertEquals(body.status.conditions, [{
    type: "PodScheduled",
    status: "True",
    lastProbeTime: null,
    lastTransitionTime: "2026-01-01T00:00:00Z",
  }]);
});

test("a Pod is bound only once, and only with matching preconditions", async () => {
  using site = await Site.start();
  await site.pod("a");
  assertEquals((await site.bind("a", "node-a", { uid: "other" })).code, 409);
  assertEquals((await site.bind("a", "node-a")).code, 201);
  const again = await site.bind("a", "node-b");
  assertEquals(
    [again.code, again.body.message],
    [409, 'Operation cannot be fulfilled on pods/binding "a": pod a is already assigned to node "node-a"'],
  );
  assertEquals((await site.bind("b", "node-a")).code, 404);
});

test("a Pod with scheduling gates is not bound", async () => {
  using site = await Site.start();
  await site.pod("a", { schedulingGates: [{ name: "example.com/wait" }] });
  const { code, body } = await site.bind("a", "node-a");
  assertEquals(code, 409);
  assert(body.message.endsWith("pod a has non-empty .spec.schedulingGates"));
});

test("a dry run of a binding changes nothing", async () => {
  using site = await Site.start();
  await site.pod("a");
  const target = { name: "node-a" };
  assertEquals(
    (await site.send("POST", `${pods}/a/binding?dryRun=All`, { metadata: { name: "a" }, target })).code,
    201,
  );
  assertEquals((await site.send("GET", `${pods}/a`)).body.spec.nodeName, undefined);
});

test("evictions use up the budget, and no more than it allows", async () => {
  using site = await Site.start();
  for (const name of ["a", "b"]) await site.pod(name, {}, ready);
  await site.budget("web", { minAvailable: 1 }, { disruptionsAllowed: 1, currentHealthy: 2, desiredHealthy: 1 });
  assertEquals((await site.evict("a")).code, 201);
  const { body } = await site.send("GET", `${budgets}/web`);
  assertEquals([body.status.disruptionsAllowed, body.status.disruptedPods], [0, { a: "2026-01-01T00:00:00Z" }]);
  const second = await site.evict("b");
  assertEquals([second.code, second.body.reason], [429, "TooManyRequests"]);
  assertEquals((await site.send("GET", `${pods}/b`)).code, 200);
});

test("a dry run of an eviction does not use the budget", async () => {
  using site = await Site.start();
  await site.pod("a", {}, ready);
  await site.budget("web", { minAvailable: 0 }, { disruptionsAllowed: 1, currentHealthy: 1, desiredHealthy: 0 });
  assertEquals((await site.evict("a", {}, "?dryRun=All")).code, 201);
  assertEquals((await site.evict("a", { deleteOptions: { dryRun: ["All"] } })).code, 201);
  assertEquals((await site.send("GET", `${budgets}/web`)).body.status.disruptionsAllowed, 1);
  assertEquals((await site.send("GET", `${pods}/a`)).body.metadata.deletionTimestamp, undefined);
});

/** Pods that a budget of nothing does not protect. */
const exempt: readonly (readonly [what: string, status: object, spec: object])[] = [
  ["has not started", { phase: "Pending" }, {}],
  ["has ended", { phase: "Failed" }, {}],
  ["is not ready, where the budget says so", { phase: "Running" }, { unhealthyPodEvictionPolicy: "AlwaysAllow" }],
];
for (const [what, status, spec] of exempt) {
  test(`a Pod that ${what} is evicted regardless of the budget`, async () => {
    using site = await Site.start();
    await site.pod("a", {}, status);
    const nothing = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 1 };
    await site.budget("web", { minAvailable: 1, ...spec }, nothing);
    assertEquals((await site.evict("a")).code, 201);
  });
}

test("an unready Pod is evicted when enough others are healthy", async () => {
  using site = await Site.start();
  await site.pod("a", {}, { phase: "Running" });
  await site.budget("web", { minAvailable: 1 }, { disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1 });
  assertEquals((await site.evict("a")).code, 201);
  assertEquals((await site.send("GET", `${budgets}/web`)).body.status.disruptedPods, undefined);
});

test("a budget that was not processed yet gives a 429 with Retry-After", async () => {
  using site = await Site.start();
  await site.pod("a", {}, ready);
  await site.budget("web", { minAvailable: 1 }, { observedGeneration: 0, disruptionsAllowed: 1 });
  const { code, body } = await site.evict("a");
  assertEquals([code, body.details.retryAfterSeconds], [429, 10]);
});

test("a Pod with two budgets cannot be evicted", async () => {
  using site = await Site.start();
  await site.pod("a", {}, ready);
  for (const name of ["one", "two"]) await site.budget(name, { minAvailable: 0 }, { disruptionsAllowed: 1 });
  const { code, body } = await site.evict("a");
  assertEquals(code, 500);
  assert(body.message.startsWith("This pod has more than one PodDisruptionBudget"));
});

test("an eviction with preconditions applies only to a matching Pod", async () => {
  using site = await Site.start();
  await site.pod("a", {}, ready);
  const stale = { deleteOptions: { preconditions: { resourceVersion: "1" } } };
  assertEquals((await site.evict("a", stale)).code, 409);
  const { resourceVersion } = (await site.send("GET", `${pods}/a`)).body.metadata;
  assertEquals((await site.evict("a", { deleteOptions: { preconditions: { resourceVersion } } })).code, 201);
});

test("an evicted Pod on a node keeps its grace period and gets the condition DisruptionTarget", async () => {
  using site = await Site.start();
  await site.pod("a", { terminationGracePeriodSeconds: 9 });
  await site.bind("a", "node-a");
  await site.send("PATCH", `${pods}/a/status`, { status: { phase: "Running" } });
  assertEquals((await site.evict("a")).code, 201);
  const { body } = await site.send("GET", `${pods}/a`);
  assertEquals(body.metadata.deletionGracePeriodSeconds, 9);
  const said = body.status.conditions.find(({ type }: Any) => type === "DisruptionTarget");
  assertEquals([said.status, said.reason], ["True", "EvictionByEvictionAPI"]);
});

test("the log of a Pod is empty without a node, one line with a node, and validates the container", async () => {
  using site = await Site.start();
  await site.pod("a");
  assertEquals((await site.send("GET", `${pods}/a/log`)).code, 204);
  await site.bind("a", "node-a");
  const { code, body } = await site.send("GET", `${pods}/a/log`);
  assertEquals([code, String(body).includes("simulated")], [200, true]);
  assertEquals((await site.send("GET", `${pods}/a/log?container=constructor`)).code, 400);
  await site.pod("b", { containers: ["x", "y"].map((name) => ({ name, image: "i" })) });
  const choice = await site.send("GET", `${pods}/b/log`);
  assertEquals(choice.body.message, "a container name must be specified for pod b, choose one of: [x y]");
});

test("a deleted namespace is removed with its last finalizer", async () => {
  using site = await Site.start();
  const all = "/api/v1/namespaces";
  await site.send("POST", all, { metadata: { name: "n" } });
  await site.send("PUT", `${all}/n/finalize`, { metadata: { name: "n" }, spec: { finalizers: ["example.com/x"] } });
  assertEquals((await site.send("DELETE", `${all}/n`)).body.status.phase, "Terminating");
  assertEquals((await site.send("GET", `${all}/n`)).body.spec.finalizers, ["example.com/x"]);
  await site.send("PUT", `${all}/n/finalize`, { metadata: { name: "n" }, spec: {} });
  assertEquals((await site.send("GET", `${all}/n`)).code, 404);
});
