/** Tests the steps of a workload on a simulated cluster. */
import { builtin } from "../../api/mod.ts";
import { kubernetesApi } from "../../apiserver/mod.ts";
import { VirtualClock } from "../../async/mod.ts";
import { Client } from "../../client/mod.ts";
import { assertEquals, test } from "../../../tests/testing.ts";
import { World } from "../world.ts";
import type { StepAction } from "./foreign_workload.ts";
import { StepRunner } from "./perform_step.ts";

const template = {
  metadata: { labels: { app: "web" } },
  spec: { containers: [{ name: "main", image: "main:1" }] },
};
const deployment = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web" },
  spec: { replicas: 2, selector: { matchLabels: { app: "web" } }, template },
};
const web = { kind: "deploy", name: "web" };

async function start() {
  const world = await World.start({ controllers: [] });
  const restarts: number[] = [];
  const { client, clock } = world;
  const runner = new StepRunner({
    client,
    clock,
    namespace: "default",
    restartOperator: () => {
      restarts.push(restarts.length + 1);
      return Promise.resolve();
    },
  });
  const { signal } = new AbortController();
  /** Performs a step while the time of the world passes. */
  const perform = async (step: StepAction) => {
    let isOver = false;
    const outcome = runner.perform(step, signal).finally(() => isOver = true);
    for (let round = 0; round < 400 && !isOver; round++) await clock.advance(100);
    return await outcome;
  };
  return { world, client, perform, restarts, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() };
}

test("steps apply, scale, patch, delete and wait as kubectl does", async () => {
  await using run = await start();
  const { client, perform } = run;
  const done = { kind: "done" };
  const available = { kind: "condition", type: "Available", status: "True" } as const;
  assertEquals(await perform({ kind: "apply", objects: [deployment] }), done);
  assertEquals(await perform({ kind: "wait", target: web, until: available, timeoutMs: 30_000 }), done);
  assertEquals(await perform({ kind: "scale", target: web, replicas: 3 }), done);
  const ready = { kind: "jsonpath", path: ".status.readyReplicas", value: "3" } as const;
  assertEquals(await perform({ kind: "wait", target: web, until: ready, timeoutMs: 30_000 }), done);
  const patch = { kind: "merge", value: { metadata: { labels: { edited: "yes" } } } } as const;
  const child = { kind: "ReplicaSet", owner: { kind: "Deployment", name: "web" } };
  assertEquals(await perform({ kind: "patch", target: child, patch }), done);
  const [set] = (await client.list(builtin.ReplicaSet)).items;
  assertEquals(set?.metadata.labels?.edited, "yes");
  assertEquals(await perform({ kind: "delete", target: web }), done);
  const pods = { kind: "pods", labels: "app=web" };
  assertEquals(await perform({ kind: "wait", target: pods, until: { kind: "deleted" }, timeoutMs: 120_000 }), done);
});

test("a rejected step, an unknown kind and a missing object are outcomes", async () => {
  await using run = await start();
  const { perform } = run;
  const invalid = { ...deployment, spec: { ...deployment.spec, replicas: -1 } };
  const rejected = await perform({ kind: "apply", objects: [invalid] });
  assertEquals([rejected.kind, "code" in rejected && rejected.code], ["rejected", 422]);
  const missing = await perform({ kind: "scale", target: web, replicas: 1 });
  assertEquals([missing.kind, "code" in missing && missing.code], ["rejected", 404]);
  assertEquals(await perform({ kind: "delete", target: { kind: "Zoo", name: "a" } }), {
    kind: "notFound",
    message: "Cannot find Zoo: the server does not know the kind. Add its CRD to --crds",
  });
  assertEquals(await perform({ kind: "delete", target: { kind: "Pod", labels: "app=none" } }), {
    kind: "notFound",
    message: "Cannot find Pod with app=none: nothing is selected",
  });
});

test("a wait ends at its time limit and says what it waited for", async () => {
  await using run = await start();
  assertEquals(await run.perform({ kind: "wait", target: web, until: { kind: "exists" }, timeoutMs: 1_000 }), {
    kind: "timedOut",
    message: "Cannot wait for deploy web to exist: it does not exist after 1000 ms",
  });
});

test("restart restarts the operator", async () => {
  await using run = await start();
  assertEquals(await run.perform({ kind: "restart" }), { kind: "done" });
  assertEquals(run.restarts, [1]);
});

test("a CRD of a step is known in the next one", async () => {
  await using run = await start();
  const crd = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "zoos.example.dev" },
    spec: {
      group: "example.dev",
      scope: "Namespaced",
      names: { plural: "zoos", kind: "Zoo" },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
    },
  };
  const zoo = { apiVersion: "example.dev/v1", kind: "Zoo", metadata: { name: "a" } };
  await run.perform({ kind: "delete", target: { kind: "Zoo", name: "a" } });
  assertEquals(await run.perform({ kind: "apply", objects: [crd] }), { kind: "done" });
  const established = { kind: "condition", type: "Established", status: "True" } as const;
  const target = { kind: "crd", name: "zoos.example.dev" };
  await run.perform({ kind: "wait", target, until: established, timeoutMs: 10_000 });
  assertEquals(await run.perform({ kind: "apply", objects: [zoo] }), { kind: "done" });
});

test("a step that a webhook cannot answer is tried again", async () => {
  const clock = new VirtualClock();
  const failures = [webhookDown, webhookDown];
  const requests: string[] = [];
  const client = new Client((request) => {
    if (request.method === "GET") return server.fetch(request);
    requests.push(request.method);
    const failure = failures.shift();
    return failure === undefined ? server.fetch(request) : Promise.resolve(Response.json(failure, { status: 500 }));
  }, { clock });
  const { server } = kubernetesApi({ clock });
  using _server = server;
  const restartOperator = () => Promise.resolve();
  const runner = new StepRunner({ client, clock, namespace: "default", restartOperator });
  const outcome = runner.perform({ kind: "apply", objects: [map] }, new AbortController().signal);
  for (let round = 0; round < 10; round++) await clock.advance(100);
  assertEquals(await outcome, { kind: "done" });
  assertEquals(requests.length, 3);
});

const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } };
const webhookDown = {
  apiVersion: "v1",
  kind: "Status",
  status: "Failure",
  code: 500,
  reason: "InternalError",
  message: 'Internal error occurred: failed calling webhook "zoo.example.dev": connection refused',
};
