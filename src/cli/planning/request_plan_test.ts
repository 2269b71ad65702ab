import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
  test,
} from "../../../tests/testing.ts";
import { builtin } from "../../api/mod.ts";
import { controller, done, manifest } from "../../controller/mod.ts";
import type { OperatorController } from "../../manager/mod.ts";
import { PlannedWorld, Site, sites } from "../plan/testing/planned_world.ts";
import { answerPlanRequest } from "./plan_worker.ts";
import { type PlanRequestOptions, requestPlan } from "./request_plan.ts";

/** Asks for the plan of these controllers; the worker is this process. @param lines Gets what the worker is sent and answers */
async function planned(
  world: PlannedWorld,
  controllers: readonly OperatorController[],
  options: Partial<PlanRequestOptions> & { readonly lines?: string[] } = {},
) {
  const { lines = [], ...replaced } = options;
  const subject = {
    operator: { name: "op" },
    version: "1.0.0",
    configure: () => Promise.resolve(controllers),
    namespaces: [],
    selector: undefined,
  };
  return await requestPlan({
    ...{ client: world.client, controllers, namespaces: [], operatorName: "op", now: 0, maxKeys: 100 },
    startWorker: () => ({
      request: async (line) => {
        const answer = await answerPlanRequest(line, subject);
        lines.push(line, answer);
        return answer;
      },
      [Symbol.dispose]: () => {},
    }),
    signal: new AbortController().signal,
    ...replaced,
  });
}

async function stoppedWorld(names: readonly string[]): Promise<PlannedWorld> {
  const cluster = await PlannedWorld.start([sites()]);
  for (const name of names) await cluster.world.create(Site, { name, spec: { host: name } });
  await cluster.stopOperator();
  return cluster;
}

test("[138] the plan of a process has the diff of each write with its cause, and only reads", async () => {
  await using cluster = await stoppedWorld(["a", "b"]);
  await cluster.world.patch(Site, "default/a", { kind: "merge", value: { spec: { host: "new" } } });
  const { changes, keys, leftOut, failing, controllers } = await planned(cluster, [sites()]);
  assertEquals(changes.map(({ action, kind, name, by }) => [action, kind, name, by]), [
    ["update", "ConfigMap", "a", ["sites: Site default/a"]],
    ["update", "Site", "a", ["sites: Site default/a"]],
  ]);
  assertEquals(changes[0]?.diff?.filter((line) => /^[-+] /.test(line)), ["-  url: http://a", "+  url: http://new"]);
  assertEquals([keys, leftOut, failing, controllers], [2, [], [], ["sites"]]);
  assertEquals(cluster.writes, []);
});

test("[138] it is the plan that the command computes", async () => {
  await using cluster = await stoppedWorld(["a"]);
  const { out } = await cluster.plan([sites("https")]);
  const { changes } = await planned(cluster, [sites("https")]);
  assertEquals(changes.length, 2);
  for (const { diff = [] } of changes) assertStringIncludes(out, diff.join("\n"));
});

test("[138] keys above the limit are not reconciled, and counted", async () => {
  await using cluster = await stoppedWorld(["a", "b", "c", "d", "e"]);
  const { changes, keys, leftOut } = await planned(cluster, [sites("https")], { maxKeys: 2 });
  assertEquals([keys, leftOut], [2, [{ controller: "sites", keys: 3 }]]);
  assertEquals(new Set(changes.map(({ name }) => name)).size, 2);
});

test("[138] a key that fails is named with its reason, and the other keys are planned", async () => {
  await using cluster = await stoppedWorld(["a", "b"]);
  const failing = controller("sites").for(Site).owns(builtin.ConfigMap).reconcile(async (ctx) => {
    const { namespace, name = "" } = ctx.object.metadata;
    if (name === "a") throw new Error("the host \u2028a\u2029 is unknown");
    await ctx.apply(manifest(builtin.ConfigMap, { metadata: { namespace, name }, data: { url: "other" } }));
    return done;
  });
  const lines: string[] = [];
  const answer = await planned(cluster, [failing], { lines });
  assertEquals(answer.failing, [
    { controller: "sites", key: "default/a", problem: "the host \u2028a\u2029 is unknown" },
  ]);
  assertEquals(answer.changes.map(({ name }) => name), ["b"]);
  // A line ends at these characters, too.
  assertEquals(lines.filter((line) => /[\n\r\u2028\u2029]/.test(line)), []);
});

test("[138] values of Secrets and other secrets do not leave the worker", async () => {
  const secrets = controller("sites").for(Site).owns(builtin.Secret).owns(builtin.ConfigMap).reconcile(async (ctx) => {
    const metadata = { namespace: "default", name: "made" };
    await ctx.apply(manifest(builtin.Secret, { metadata, stringData: { key: "hidden-value" } }));
    await ctx.apply(manifest(builtin.ConfigMap, { metadata, data: { password: "hidden-word", host: "shown" } }));
    return done;
  });
  await using cluster = await stoppedWorld(["a"]);
  const lines: string[] = [];
  const { changes } = await planned(cluster, [secrets], { lines });
  assertEquals(changes.map(({ kind }) => kind).toSorted(), ["ConfigMap", "Secret"]);
  assert(!/hidden-/.test(lines[1] ?? ""));
  assertStringIncludes(lines[1] ?? "", "shown");
});

test("[138] a controller of the plan calls no other system, and the calls of this process go on afterwards", async () => {
  await using cluster = await stoppedWorld(["a"]);
  const calling = controller("sites").for(Site).reconcile(async () => {
    await fetch("http://127.0.0.1:9/");
    return done;
  });
  const { fetch: before } = globalThis;
  const { failing } = await planned(cluster, [calling]);
  assertMatch(failing[0]?.problem ?? "", /Cannot call http:\/\/127\.0\.0\.1:9: a plan calls no other system/);
  assertEquals(globalThis.fetch, before);
});

test("[138] what hinders a plan is an error that says why, and the signal ends the worker", async () => {
  await using cluster = await stoppedWorld(["a"]);
  cluster.intercept = ({ url }) =>
    url.includes("/sites")
      ? Response.json({ kind: "Status", reason: "Forbidden", code: 403 }, { status: 403 })
      : undefined;
  await assertRejects(() => planned(cluster, [sites()]), /Cannot plan controller "sites": this user may not list/);
  cluster.intercept = () => undefined;
  await assertRejects(() => planned(cluster, [sites()], { startWorker: () => undefined }), /cannot start another/);
  const stopping = new AbortController();
  let isDisposed = false;
  const startWorker = () => ({
    request: () => {
      stopping.abort(new Error("the client has left"));
      return new Promise<string>(() => {});
    },
    [Symbol.dispose]: () => void (isDisposed = true),
  });
  const { signal } = stopping;
  await assertRejects(() => planned(cluster, [sites()], { startWorker, signal }), /the client has left/);
  assertEquals(isDisposed, true);
});
