/** Tests of `replay` with the controllers of this program, recorded in a World. */
import { RecordedWorld } from "../../src/cli/replay/testing/recorded_world.ts";
import { EcsBinding, ecsbindingController } from "../../src/controllers/ecsbinding/mod.ts";
import { Foo, fooController } from "../../src/controllers/foo/mod.ts";
import { ingressController } from "../../src/controllers/ingress/mod.ts";
import { NodePool, nodepoolController } from "../../src/controllers/nodepool/mod.ts";
import { podsController } from "../../src/controllers/pods/mod.ts";
import { Deployment, Ingress, Node, Service } from "../../src/mod.ts";
import type { Transport } from "../../src/client/mod.ts";
import { seededRandom } from "../../src/async/mod.ts";
import type { World } from "../../src/simulation/mod.ts";
import { assert, assertEquals, assertMatch, test } from "../testing.ts";

const all = [fooController, podsController, ecsbindingController, nodepoolController, ingressController];

async function createSamples(world: World): Promise<void> {
  await world.create(Foo, { name: "a", spec: { deploymentName: "web", replicas: 2 } });
  await world.create(Foo, { name: "b", spec: { deploymentName: "api", replicas: 1 } });
  await world.create(Foo, { name: "thief", spec: { deploymentName: "web", replicas: 3 } });
  await world.create(Service, {
    name: "shop",
    annotations: { "ingress/http": "shop.example.com" },
    spec: { ports: [{ port: 80 }] },
  });
  const [node] = world.list(Node);
  assert(node?.metadata.name !== undefined);
  const { name: nodename } = node.metadata;
  await world.create(EcsBinding, { name: "e", spec: { nodename } });
  await world.create(NodePool, { name: "pool", spec: { labels: { disk: "ssd" } } });
  const value = { metadata: { labels: { "node-role.kubernetes.io/pool": "" } } };
  await world.patch(Node, nodename, { kind: "merge", value });
}

test("[136] a recording of all controllers, with hand edits and failures, replays with the same writes", async () => {
  await using recorded = await RecordedWorld.start(all);
  const { world } = recorded;
  await createSamples(world);
  await world.clock.advance(10_000);
  await world.patch(Deployment, "default/web", { kind: "merge", value: { spec: { replicas: 5 } } });
  await world.patch(Foo, "default/b", { kind: "json", operations: [{ op: "remove", path: "/spec/replicas" }] });
  await world.delete(Deployment, "default/api");
  await world.delete(Foo, "default/thief");
  await world.settled();
  await world.delete(Ingress, "default/shop");
  await world.delete(Foo, "default/a");
  await world.delete(NodePool, "pool");
  await recorded.save();
  const { code, out, err } = await recorded.replay(all);
  assertEquals({ code, out }, { code: 0, out: "" }, err);
  assertMatch(err, /op: replay: \d{2,} reconciles do the same\n$/);
  const { entries } = recorded;
  const writers = new Set(entries.flatMap((entry) => entry.kind === "write" ? [entry.controller] : []));
  assertEquals([...writers].toSorted(), ["ecsbinding", "foo", "ingress", "nodepool"]);
  assert(entries.some((entry) => entry.kind === "reconcile-end" && entry.outcome === "failed"));
});

/** Answers some requests with an error of a server, or not at all, before or after they take effect. */
function faulty(seed: number): (transport: Transport) => Transport {
  const random = seededRandom(seed);
  const failures: readonly ((request: Request) => Response)[] = [
    () => status(409, "Conflict", "the object has been modified: please apply your changes to the latest version"),
    () => status(500, "InternalError", "etcdserver: request timed out (5 s)"),
    () => status(403, "Forbidden", "quota exceeded"),
    () => {
      throw new TypeError("connection refused");
    },
    () => new Response("<html>bad gateway</html>", { status: 502 }),
  ];
  return (transport) => async (request) => {
    const isWatch = request.method === "GET" && request.url.includes("watch=");
    const isLease = request.url.includes("/leases");
    if (isWatch || isLease || random.next() > 0.25) return await transport(request);
    const failure = failures[Math.floor(random.next() * failures.length)];
    if (random.next() < 0.5) await (await transport(request)).text();
    return failure?.(request) ?? await transport(request);
  };
}

function status(code: number, reason: string, message: string): Response {
  return Response.json({ kind: "Status", apiVersion: "v1", status: "Failure", code, reason, message }, {
    status: code,
  });
}

test("[136] failures, lost answers and conflicts replay with the same writes and the same errors", async () => {
  const codes = new Set<number | undefined>();
  for (let seed = 1; seed <= 6; seed++) {
    await using recorded = await RecordedWorld.start(all, { wrap: faulty(seed) });
    const { world } = recorded;
    await createSamples(world);
    await world.clock.advance(5_000);
    await world.patch(Deployment, "default/web", { kind: "merge", value: { spec: { replicas: 5 } } }).catch(() => {});
    await world.delete(Foo, "default/thief");
    await world.clock.advance(60_000);
    await world.delete(NodePool, "pool");
    await world.patch(Service, "default/shop", { kind: "merge", value: { metadata: { annotations: null } } } as never);
    await world.clock.advance(120_000);
    await recorded.save();
    const { code, out, err } = await recorded.replay(all);
    assertEquals({ code, out }, { code: 0, out: "" }, `seed ${seed}: ${err}`);
    assertMatch(err, /op: replay: \d{2,} reconciles do the same\n$/);
    for (const entry of recorded.entries) {
      if (entry.kind === "write" && entry.answer.kind === "failed") codes.add(entry.answer.code);
    }
  }
  assertEquals([...codes].toSorted(), [403, 409, 500, 502, undefined]);
});
