import { assert, assertEquals, assertMatch, test } from "../../../tests/testing.ts";
import { FakeCluster } from "../../../tests/fakes/cluster.ts";
import { builtin } from "../../api/mod.ts";
import {
  controller,
  type ControllerDefinition,
  done,
  manifest,
  requeueAfter,
  TerminalError,
} from "../../controller/mod.ts";
import { emptyList } from "../testing/test_kinds.ts";
import { type CommandResult, createProcess, endOf, runCommandLine, startCommandLine } from "../testing/run_command.ts";

const maps = "/api/v1/namespaces/shop/configmaps";

/** A cluster with ConfigMaps of these names. */
function clusterWith(...names: readonly string[]): FakeCluster {
  const cluster = new FakeCluster();
  for (const name of names) {
    const metadata = { namespace: "shop", name };
    cluster.put(`${maps}/${name}`, { apiVersion: "v1", kind: "ConfigMap", metadata });
  }
  cluster.intercept = ({ method, url }, path) => {
    if (path === "/version") return Response.json({ gitVersion: "v1.36.3" });
    return method === "GET" && url.includes("limit=1") ? Response.json(emptyList) : undefined;
  };
  return cluster;
}

type Step = (name: string, retries: number) => void;

/** Creates a Service for each ConfigMap, unless `step` throws. */
function exposing(step: Step = () => {}): ControllerDefinition {
  return controller("exposer").for(builtin.ConfigMap).owns(builtin.Service).reconcile(async (ctx) => {
    const { namespace, name = "" } = ctx.object.metadata;
    step(name, ctx.retries);
    await ctx.apply(manifest(builtin.Service, { metadata: { namespace, name }, spec: { clusterIP: "None" } }));
    return requeueAfter(3_600_000);
  });
}

/** Labels each Service. The Services exist only after the other controller created them. */
const labelling = controller("labeller").for(builtin.Service).uses(builtin.Service, ["patch"]).reconcile(
  async (ctx) => {
    await ctx.patch(builtin.Service, ctx.object, { kind: "merge", value: { metadata: { labels: { seen: "yes" } } } });
    return done;
  },
);

async function once(
  cluster: FakeCluster,
  controllers: readonly ControllerDefinition[],
  args = "",
): Promise<CommandResult> {
  const words = `run --all --once --graceful-shutdown-timeout 1s ${args}`.trimEnd().split(" ");
  return await runCommandLine({ name: "op", version: "1.0.0", controllers }, words, { transport: cluster.transport });
}

test("run --once reconciles everything, including objects that controllers create, and ends with 0", async () => {
  const cluster = clusterWith("a", "b", "c");
  const { code, out, err } = await once(cluster, [exposing(), labelling]);
  assertEquals([code, out], [0, ""], err);
  assertMatch(err, /INFO +cli +converged +objects=6\n/);
  for (const name of ["a", "b", "c"]) {
    assertEquals(cluster.get(`/api/v1/namespaces/shop/services/${name}`)?.metadata.labels, { seen: "yes" });
  }
});

test("run --once writes nothing on a converged cluster", async () => {
  const cluster = clusterWith();
  const { code, err } = await once(cluster, [exposing()]);
  assertEquals([code, cluster.writes], [0, []], err);
  assertMatch(err, /converged +objects=0/);
});

test("run --once retries failures, and reports none that succeeds later", async () => {
  const step: Step = (name, retries) => {
    if (name === "b" && retries < 3) throw new Error("Cannot reach the registry: not yet");
  };
  const { code, err } = await once(clusterWith("a", "b"), [exposing(step)]);
  assertEquals(code, 0, err);
  assertMatch(err, /converged +objects=2/);
});

test("run --once ends with 1 and names the objects that failed finally", async () => {
  const step: Step = (name) => {
    if (name === "b") throw new Error("Cannot reach the registry: it is down");
    if (name === "c") throw new TerminalError("Cannot serve c: it has no port");
  };
  const cluster = clusterWith("a", "b", "c");
  const { code, err } = await once(cluster, [exposing(step)]);
  assertEquals(code, 1);
  assertMatch(
    err,
    /\nop: Cannot reconcile everything: 2 of 3 objects failed: [^\n]+ Correct these objects, then run it again\n$/,
  );
  assertMatch(err, /exposer shop\/b: Cannot reach the registry: it is down/);
  assertMatch(err, /exposer shop\/c: Cannot serve c: it has no port/);
  assert(cluster.get("/api/v1/namespaces/shop/services/a") !== undefined);
});

test("run --once ends when one controller cannot run", async () => {
  const cluster = clusterWith("a");
  const { intercept } = cluster;
  cluster.intercept = (request, path) => {
    if (!path.startsWith("/api/v1/services")) return intercept(request, path);
    return Response.json({ kind: "Status", code: 404, reason: "NotFound" }, { status: 404 });
  };
  const { code, err } = await once(cluster, [exposing(), labelling]);
  assertEquals(code, 6);
  assertMatch(err, /the server does not know services in v1/);
});

test("run --once ends with 1 when a signal interrupts it, and names an object that still failed", async () => {
  const step: Step = () => {
    throw new Error("Cannot do it: never");
  };
  const cluster = clusterWith("a");
  const process = createProcess(["run", "--all", "--once"], { transport: cluster.transport });
  const operator = { name: "op", version: "1.0.0", controllers: [exposing(step)] };
  const ending = startCommandLine(operator, process, cluster.transport);
  while (!process.err.includes("reconcile failed")) await process.clock.advance(1);
  assert(process.signal("SIGTERM"));
  assertEquals(await endOf(ending, process, 10), 1);
  assertMatch(
    process.err,
    /everything: a signal ended the run before, and exposer shop\/a still failed: Cannot do it: never/,
  );
});

test("run --dry-run logs each write and the response of the server", async () => {
  const cluster = clusterWith("a", "b");
  const { intercept } = cluster;
  cluster.intercept = (request, path) => {
    if (request.method !== "PATCH") return intercept(request, path);
    assert(request.url.includes("dryRun=All"));
    const name = new URL(request.url).pathname.split("/").at(-1);
    const response = { apiVersion: "v1", kind: "Service", metadata: { namespace: "shop", name }, spec: {} };
    return Response.json(response, { status: 201 });
  };
  const { code, err } = await once(cluster, [exposing()], "--dry-run");
  assertEquals(code, 0, err);
  assertMatch(err, /INFO +dry-run +would write +action=apply resource=services object=shop\/a\n/);
  assertMatch(err, /INFO +dry-run +would write +action=apply resource=services object=shop\/b\n/);
  assert(!err.includes("clusterIP"));
});

test("[29] run --freeze-cache freezes cached objects, and run alone does not", async () => {
  const careless = controller("careless").for(builtin.ConfigMap).reconcile((ctx) => {
    (ctx.object.metadata as { seen?: boolean }).seen = true;
    return Promise.resolve(done);
  });
  assertEquals((await once(clusterWith("a"), [careless])).code, 0);
  const { code, err } = await once(clusterWith("a"), [careless], "--freeze-cache");
  assertEquals(code, 1);
  assertMatch(err, /careless shop\/a: .*extensible/);
});
