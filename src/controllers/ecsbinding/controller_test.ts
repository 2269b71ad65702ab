import { FakeCluster } from "../../../tests/fakes/cluster.ts";
import { assert, assertEquals, assertMatch, test } from "../../../tests/testing.ts";
import { createTestToolbox } from "../../../tests/fakes/toolbox.ts";
import { drain } from "../../async/mod.ts";
import { Client } from "../../client.ts";
import { configureLogging, type KubeObject, Manager } from "../../mod.ts";
import { seededRandom, VirtualClock } from "../../testing.ts";
import { ecsbindingController } from "./controller.ts";
import { EcsBinding } from "./resource.ts";

type Labels = Readonly<Record<string, string>>;

function binding(nodename: string | undefined, labels?: Labels): KubeObject {
  return EcsBinding.make({ metadata: { name: "m1", uid: "u1", labels }, spec: { nodename } });
}

function node(name: string): KubeObject {
  return { apiVersion: "v1", kind: "Node", metadata: { name } };
}

/** Reconciles once. Returns the writes and the Events. */
async function attempt(...cached: readonly KubeObject[]): Promise<readonly unknown[]> {
  const responses = [Response.json(cached[0])];
  const { toolbox, sent, events } = createTestToolbox({ key: "m1", cached, responses, fieldManager: "ecsbinding" });
  await ecsbindingController.reconciler(toolbox.request, toolbox);
  return [
    sent.map(({ method, url, body }) => [method, url.pathname.split("/").at(-1), body]),
    events.map(({ type, reason, note }) => `${type} ${reason}: ${note}`),
  ];
}

function patchOf(labels: Readonly<Record<string, string | null>>): unknown {
  return [["PATCH", "m1", { metadata: { uid: "u1", labels } }]];
}

test("an EcsBinding is labelled as bound, and with its Node while the Node exists", async () => {
  assertEquals(await attempt(binding("n1"), node("n1")), [
    patchOf({ "hopegi.com/bound": "true", "hopegi.com/node": "n1" }),
    ['Normal Labelled: Bound to Node "n1"'],
  ]);
  assertEquals(await attempt(binding("n1")), [
    patchOf({ "hopegi.com/bound": "true", "hopegi.com/node": null }),
    ["Normal Labelled: Bound to no Node"],
  ]);
});

test("a wrong label is corrected, and the label of a deleted Node is removed", async () => {
  const bound = { "hopegi.com/bound": "true", own: "x" };
  for (const wrong of [{ ...bound, "hopegi.com/node": "n0" }, { ...bound, "hopegi.com/bound": "no" }, { own: "x" }]) {
    const [sent] = await attempt(binding("n1", wrong), node("n1"));
    assertEquals(sent, patchOf({ "hopegi.com/bound": "true", "hopegi.com/node": "n1" }));
  }
  const [sent] = await attempt(binding("n1", { ...bound, "hopegi.com/node": "n1" }));
  assertEquals(sent, patchOf({ "hopegi.com/bound": "true", "hopegi.com/node": null }));
});

test("[65] correct labels cause no write and no Event", async () => {
  assertEquals(await attempt(binding("n1", { "hopegi.com/bound": "true", "hopegi.com/node": "n1" }), node("n1")), [
    [],
    [],
  ]);
  assertEquals(await attempt(binding(undefined, { "hopegi.com/bound": "true" }), node("n1")), [[], []]);
});

test("a Node whose name is too long for a label is reported and not written", async () => {
  const name = "n".repeat(64);
  const [sent, events] = await attempt(binding(name, { "hopegi.com/bound": "true" }), node(name));
  assertEquals([sent, events], [[], [
    "Warning NodeNameTooLong: The name of the Node is too long for a label: the limit is 63 characters",
  ]]);
});

test("an EcsBinding that is being deleted is not written", async () => {
  const going = binding("n1");
  const metadata = { ...going.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" };
  assertEquals(await attempt({ ...going, metadata }), [[], []]);
});

test("changes are logged with the name, updates without a change are dropped, and labels follow the Nodes", async () => {
  const [cluster, clock] = [new FakeCluster(), new VirtualClock()];
  let log = "";
  using _logging = configureLogging({ write: (text) => log += text, now: () => clock.now() });
  const until = async (condition: () => boolean) => {
    for (let turn = 0; turn < 2000 && !condition(); turn++) await drain();
    assert(condition(), `the condition was not met\n${log}`);
  };
  const client = new Client(cluster.transport, { clock });
  const manager = new Manager({ client, clock, random: seededRandom(1), strictAccess: true });
  manager.add(ecsbindingController);
  const stop = new AbortController();
  const running = manager.run(stop.signal);
  const path = "/apis/hopegi.com/v1/ecsbinding/m1";
  const labelled = (value: string | undefined) => cluster.get(path)?.metadata.labels?.["hopegi.com/node"] === value;
  cluster.put(path, binding("n1"));
  await until(() => cluster.writes.length > 0);
  cluster.put("/api/v1/nodes/n1", { ...node("n1"), apiVersion: "meta.k8s.io/v1", kind: "PartialObjectMetadata" });
  await until(() => labelled("n1"));
  assertMatch(log, /EcsBinding added +key=m1/);
  const updates = () => log.match(/EcsBinding updated/g)?.length ?? 0;
  await clock.advance(1_000);
  const before = updates();
  const live = cluster.get(path);
  assert(live !== undefined);
  cluster.put(path, live);
  cluster.put(path, binding("n1", { ...live.metadata.labels, own: "y" }));
  await until(() => updates() > before);
  assertEquals(updates(), before + 1);
  cluster.remove("/api/v1/nodes/n1");
  await until(() => !labelled("n1"));
  cluster.remove(path);
  await until(() => /EcsBinding deleted +key=m1/.test(log));
  stop.abort();
  await running;
  const events = cluster.writes.filter(({ path }) => path.endsWith("/events"));
  const reporters = new Set(events.map(({ body }) => (body as { reportingController?: string }).reportingController));
  assertEquals([...reporters], ["ecsbinding-controller"]);
});
