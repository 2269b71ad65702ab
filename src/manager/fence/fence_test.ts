import { assert, assertEquals, assertRejects, test } from "../../../tests/testing.ts";
import { builtin } from "../../api/mod.ts";
import { drain, seededRandom, VirtualClock } from "../../async/mod.ts";
import { Client, sendGuardOf, type Transport } from "../../client/mod.ts";
import { writeAction } from "../access/mod.ts";
import { LeaderElector, type Leadership } from "../election/mod.ts";
import { FakeLeaseServer, type Link, pass, perfectLink } from "../testing/fake_lease_server.ts";
import { SkewedClock } from "../testing/skewed_clock.ts";
import { FencedError, fencedTransport, isFenced } from "./fence.ts";

interface FencedLeader {
  readonly base: VirtualClock;
  readonly clock: SkewedClock;
  readonly link: Link;
  readonly elector: LeaderElector;
  readonly leadership: Leadership;
  readonly server: FakeLeaseServer;
  /** A client with the fence. */
  readonly client: Client;
  /** The requests that reached the API server, as method and time. */
  readonly sent: (readonly [method: string, at: number])[];
  end(): Promise<void>;
}

const storeObject: Transport = async (request) => {
  const body = request.method === "GET" ? {} : JSON.parse(await request.text());
  return Response.json({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", namespace: "shop" }, ...body });
};

/** A leader, and a client with its fence in front of the API server `respond`. */
async function fencedLeader(respond: Transport = storeObject): Promise<FencedLeader> {
  const base = new VirtualClock();
  const clock = new SkewedClock(base);
  const server = new FakeLeaseServer();
  const link = perfectLink();
  const random = seededRandom(1);
  const leaseClient = new Client(server.over(link, { base, clock, random }), { clock });
  const parts = { client: leaseClient, namespace: "shop", name: "operator", identity: "a", clock, random };
  const elector = new LeaderElector(parts);
  const acquiring = elector.acquire(new AbortController().signal);
  await pass(base, 0);
  const leadership = await acquiring;
  const sent: [string, number][] = [];
  const transport: Transport = (request) => {
    sent.push([request.method, base.monotonic()]);
    return respond(request);
  };
  const client = new Client(fencedTransport(transport, elector), { clock });
  const end = async () => {
    const released = leadership.release();
    await pass(base, 10_000);
    await released;
  };
  return { base, clock, link, elector, leadership, server, client, sent, end };
}

const configMap = { metadata: { namespace: "shop", name: "a" }, data: { key: "value" } };

test("[52] a leader writes; after the renew deadline no write leaves the process, and the error names the Lease", async () => {
  const { base, client, link, sent, leadership, end } = await fencedLeader();
  await client.create(builtin.ConfigMap, configMap);
  assertEquals(sent.map(([method]) => method), ["POST"]);
  const { renewedAt } = leadership;
  link.isDisconnected = true;
  await pass(base, renewedAt + 10_000 - base.monotonic());
  const error = await assertRejects(() => client.create(builtin.ConfigMap, configMap));
  assert(error instanceof FencedError);
  assertEquals(
    error.message,
    'Cannot create configmaps in namespace "shop": this process does not hold Lease "shop/operator"',
  );
  assertEquals(error.wasSent, false);
  assertEquals(sent.length, 1);
  await end();
});

test("[52] a process that does not lead can read, and every kind of write is rejected", async () => {
  const { client, sent, elector, end } = await fencedLeader();
  await end();
  assertEquals(elector.leadership, undefined);
  await client.get(builtin.ConfigMap, "shop/a");
  const options = { fieldManager: "test" };
  const writes: readonly (() => Promise<unknown>)[] = [
    () => client.create(builtin.ConfigMap, configMap),
    () => client.update(builtin.ConfigMap, { apiVersion: "v1", kind: "ConfigMap", ...configMap }),
    () => client.patch(builtin.ConfigMap, "shop/a", { kind: "merge", value: { data: { a: "b" } } }),
    () => client.apply(builtin.ConfigMap, configMap, options),
    () => client.delete(builtin.ConfigMap, "shop/a"),
    () => client.deleteCollection(builtin.ConfigMap, { namespace: "shop" }),
    () => client.evict("shop/pod"),
    () => client.dryRunClient().create(builtin.ConfigMap, configMap),
  ];
  for (const write of writes) assert(isFenced(await assertRejects(write)));
  assertEquals(sent.map(([method]) => method), ["GET"]);
});

test("[52, 116] a process that does not lead starts no program in a container, although the request is a GET", async () => {
  const b = await fencedLeader();
  const start = () => b.client.exec("shop/web-0", { command: ["rm", "-r", "/data"] });
  await assertRejects(start, /does not switch to WebSocket/); // it was sent
  assertEquals(b.sent.length, 1);
  await b.end();
  assert(isFenced(await assertRejects(start)));
  assertEquals(b.sent.length, 1);
});

test("[48, 52] a running write is aborted when leadership is lost, and its error says that it was sent", async () => {
  let signal: AbortSignal | undefined;
  const { base, client, link, end } = await fencedLeader((request) => {
    signal = request.signal;
    return new Promise((_, reject) => request.signal.addEventListener("abort", () => reject(new Error("cut"))));
  });
  await pass(base, 9_000);
  link.isDisconnected = true;
  const writing = assertRejects(() => client.create(builtin.ConfigMap, configMap));
  await pass(base, 12_000);
  const error = await writing;
  assert(error instanceof FencedError, String(error));
  assertEquals([error.wasSent, signal?.aborted], [true, true]);
  assertEquals(
    error.message,
    'Cannot create configmaps in namespace "shop": this process lost Lease "shop/operator" while sending',
  );
  await end();
});

for (const kind of ["stopped", "suspended"] as const) {
  test(`[53] after the process was ${kind} for 8 s, the first write waits for a renewal; after 60 s it is rejected`, async () => {
    const { base, clock, client, link, sent, server, elector, end } = await fencedLeader();
    clock.pause(kind);
    await pass(base, 8_000);
    clock.resume();
    link.latencyMs = 500;
    const before = server.requests.length;
    const writing = client.create(builtin.ConfigMap, configMap);
    await drain();
    assertEquals(sent.length, 0);
    await pass(base, 1_000);
    await writing;
    assertEquals([server.requests.length > before, sent.length], [true, 1]);

    clock.pause(kind);
    await pass(base, 20_000);
    server.edit({ holderIdentity: "b" });
    await pass(base, 40_000);
    clock.resume();
    const rejected = assertRejects(() => client.create(builtin.ConfigMap, configMap));
    await pass(base, 1_000);
    assert(isFenced(await rejected));
    assertEquals([sent.length, elector.state.kind], [1, "lost"]);
    await end();
  });
}

test("[53] after the wall clock jumps an hour ahead, each write waits for a renewal and is then sent", async () => {
  const { base, clock, client, link, sent, end } = await fencedLeader();
  link.latencyMs = 300;
  clock.jump(3_600_000);
  const writing = Promise.all([1, 2, 3].map(() => client.create(builtin.ConfigMap, configMap)));
  await drain();
  assertEquals(sent.length, 0);
  await pass(base, 700);
  await writing;
  assertEquals(sent.length, 3);
  await end();
});

test("a write that is aborted by its caller rejects with the caller's reason", async () => {
  const { client, end } = await fencedLeader((request) =>
    new Promise((_, reject) => request.signal.addEventListener("abort", () => reject(request.signal.reason)))
  );
  const abort = new AbortController();
  const writing = assertRejects(
    () => client.create(builtin.ConfigMap, configMap, { signal: abort.signal }),
    /changed my mind/,
  );
  await drain();
  abort.abort(new Error("changed my mind"));
  await writing;
  await end();
});

test("[52] a retry below the fence is checked again before it is sent", async () => {
  const sends: string[] = [];
  const retry = Promise.withResolvers<void>();
  // As clusterTransport does after a 429 with Retry-After.
  const { base, link, client, end } = await fencedLeader(async (request) => {
    for (const send of ["first", "second"]) {
      sendGuardOf(request)?.();
      sends.push(send);
      if (send === "first") await retry.promise;
    }
    return await storeObject(request);
  });
  const writing = client.create(builtin.ConfigMap, configMap).then(() => undefined, (error: unknown) => error);
  await drain();
  link.isDisconnected = true;
  await pass(base, 11_000);
  retry.resolve();
  const error = await writing;
  assert(isFenced(error), String(error));
  assertEquals(sends, ["first"]);
  await end();
});

for (
  const [method, path, action] of [
    ["POST", "/api/v1/namespaces/shop/pods", 'create pods in namespace "shop"'],
    ["POST", "/api/v1/namespaces", "create namespaces"],
    ["DELETE", "/api/v1/namespaces/shop", 'delete namespaces "shop"'],
    ["PATCH", "/apis/apps/v1/namespaces/shop/deployments/web?force=true", 'patch deployments.apps "shop/web"'],
    ["PUT", "/apis/a.dev/v1/namespaces/shop/foos/a%20b/status", 'update the status of foos.a.dev "shop/a b"'],
    ["POST", "/api/v1/namespaces/shop/pods/a/eviction", 'create the eviction of pods "shop/a"'],
    ["DELETE", "/apis/a.dev/v1/foos", "delete foos.a.dev"],
    ["POST", "/version", 'create "/version"'],
    ["POST", "/api/v1/namespaces/%ff/pods", 'create pods in namespace "%ff"'],
  ] as const
) {
  test(`writeAction() of ${method} ${path} is: ${action}`, () => {
    assertEquals(writeAction({ method, url: `https://kubernetes.invalid${path}` }), action);
  });
}
