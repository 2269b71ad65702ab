/**
 * Attacks by promises that never settle: functions of a controller, and an API server, that neither answer nor obey their
 * signal. A generator picks the place, the request after which the server goes silent, and the moment of the stop.
 *
 * The rules: after one signal `run` ends within the grace period and some seconds, by the clock alone, with an exit code and
 * words that name what did not end; it is never a defect (70).
 */
import { builtin } from "../../src/api/mod.ts";
import { seededRandom } from "../../src/async/mod.ts";
import { createProcess, startCommandLine } from "../../src/cli/testing/run_command.ts";
import { emptyList } from "../../src/cli/testing/test_kinds.ts";
import { controller, done } from "../../src/controller/mod.ts";
import { type OperatorController, withFlags } from "../../src/manager/mod.ts";
import { z } from "../../src/schema/mod.ts";
import type { Transport } from "../../src/client/mod.ts";
import { nextTurn } from "../../src/runtime/mod.ts";
import { FakeCluster } from "../fakes/cluster.ts";
import { assert, assertEquals, assertMatch, test } from "../testing.ts";

const graceMs = 3_000;
const never = () => new Promise<never>(() => {});

function clusterWithMap(): FakeCluster {
  const cluster = new FakeCluster();
  const map = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { namespace: "shop", name: "a", finalizers: ["x.dev/f"] },
  };
  cluster.put("/api/v1/namespaces/shop/configmaps/a", map);
  cluster.intercept = ({ method, url }, path) => {
    if (path === "/version") return Response.json({ gitVersion: "v1.36.3" });
    return method === "GET" && url.includes("limit=1") ? Response.json(emptyList) : undefined;
  };
  return cluster;
}

/** Runs until `stopAfterMs`, sends one signal, and gives the rest of the time. */
async function stopped(operatorController: OperatorController, transport: Transport, options: {
  readonly stopAfterMs: number;
  readonly args?: readonly string[];
  /** @default true */
  readonly sendsRequests?: boolean;
}): Promise<{ readonly code: number | undefined; readonly err: string }> {
  const words = ["run", "--all", "--graceful-shutdown-timeout", `${graceMs}ms`, ...options.args ?? []];
  const process = createProcess(words, { transport });
  const operator = { name: "op", version: "1.0.0", controllers: [operatorController] };
  let code: number | undefined;
  let requests = 0;
  const counting: Transport = (request) => {
    requests++;
    return transport(request);
  };
  startCommandLine(operator, process, counting).then((ended) => code = ended);
  // Files and modules are read in real time, while the clock stands still.
  const turnsUntil = async (isDone: () => boolean) => {
    for (let turn = 0; turn < 50_000 && !isDone(); turn++) await nextTurn();
  };
  if (options.sendsRequests ?? true) await turnsUntil(() => requests > 0);
  const pass = async (ms: number) => {
    for (let left = ms; left > 0 && code === undefined; left -= 100) {
      for (let turn = 0; turn < 20; turn++) await nextTurn();
      await process.clock.advance(100);
    }
  };
  await pass(options.stopAfterMs);
  if (code === undefined) assert(process.signal("SIGTERM"), "there is no listener for signals");
  // The grace period, a second for each of the parts that are aborted, and a renewal of the Lease.
  await pass(graceMs + 10_000);
  await turnsUntil(() => code !== undefined);
  return { code, err: process.err };
}

const plain = controller("plain").for(builtin.ConfigMap);
const places: Readonly<Record<string, () => OperatorController>> = {
  "a reconcile": () => plain.reconcile(never),
  "a reconcile of a key": () => plain.reconcileKey(never),
  "the function that configures a controller": () =>
    withFlags(plain.reconcileKey(() => Promise.resolve(done)), z.object({}), never),
};

for (const [place, make] of Object.entries(places)) {
  test(`[60] run ends although ${place} never settles, and says why`, async () => {
    const sendsRequests = place.startsWith("a reconcile");
    for (const args of [[], ["--once"]]) {
      const { code, err } = await stopped(make(), clusterWithMap().transport, {
        stopAfterMs: 5_000,
        args,
        sendsRequests,
      });
      assert(code === 0 || code === 1, `${code}: ${err}`);
      if (sendsRequests) {
        assertEquals(code, 1, err);
        assertMatch(err, /op: Cannot .*\n?/);
      }
    }
  });
}

test("[60] run ends although the API server goes silent after any request, and never obeys an abort", async () => {
  const random = seededRandom(60);
  for (let round = 0; round < 60; round++) {
    const cluster = clusterWithMap();
    const silentAfter = Math.floor(random.next() * 12);
    let requests = 0;
    const transport: Transport = (request) => requests++ < silentAfter ? cluster.transport(request) : never();
    const controllers = plain.owns(builtin.Service).reconcile(async (ctx) => {
      const { namespace, name = "" } = ctx.object.metadata;
      await ctx.apply({
        apiVersion: "v1",
        kind: "Service",
        metadata: { namespace, name },
        spec: { clusterIP: "None" },
      });
      return done;
    });
    const args = random.next() < 0.5 ? ["--leader-elect", "--leader-election-namespace", "shop"] : [];
    const stopAfterMs = Math.floor(random.next() * 30_000);
    const { code, err } = await stopped(controllers, transport, { stopAfterMs, args });
    const label = `silent after ${silentAfter} requests, stopped after ${stopAfterMs} ms, ${args}: ${
      err.slice(-2_000)
    }`;
    assert(code !== undefined, `it runs on: ${label}`);
    assert([0, 1, 5, 7].includes(code), `${code}: ${label}`);
  }
});
