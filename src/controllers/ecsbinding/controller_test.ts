import { FakeCluster } from "../../../tests/fakes/cluster.ts";
import { assert, assertEquals, assertMatch, test } from "../../../tests/testing.ts";
import { createTestToolbox } from "../../../tests/fakes/toolbox.ts";
import { drain } from "../../async/mod.ts";
import { Client, configureLogging, type KubeObject, Manager, seededRandom, VirtualClock } from "../../mod.ts";
import { ecsbindingController } from "./controller.ts";
import { EcsBinding } from "./resource.ts";

type Labels = Readonly<Record<string, string>>;

function binding(nodename: string | undefined, labels?: Labels): KubeObject {
  return EcsBinding.make({ metadata: { name: "m1", uid: "u1", labels }, spec: { nodename } });
}

function node(name: string): KubeObject {
  return { apiVersion: "v1", kind: "Node", metadata: { name } };
}

/** One attempt: what it wrote, and what it told. */
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

test("an EcsBinding is labelled as bound, and with its Node while there is one", async () => {
  assertEquals(await attempt(binding("n1"), node("n1")), [
    patchOf({ "hopegi.com/bound": "true", "hopegi.com/node": "n1" }),
    ['Normal Labelled: Bound to Node "n1"'],
  ]);
  assertEquals(await attempt(binding("n1")), [
    patchOf({ "hopegi.com/bound": "true", "hopegi.com/node": null }),
    ["Normal Labelled: Bound to no Node"],
  ]);
});

test("a label that is wrong is put right, and one of a Node that has gone is taken off", async () => {
  const bound = { "hopegi.com/bound": "true", own: "x" };
  for (const wrong of [{ ...bound, "hopegi.com/node": "n0" }, { ...bound, "hopegi.com/bound": "no" }, { own: "x" }]) {
    const [sent] = await attempt(binding("n1", wrong), node("n1"));
    assertEquals(sent, patchOf({ "hopegi.com/bound": "true", "hopegi.com/node": "n1" }));
  }
  const [sent] = await attempt(binding("n1", { ...bound, "hopegi.com/node": "n1" }));
  assertEquals(sent, patchOf({ "hopegi.com/bound": "true", "hopegi.com/node": null }));
});

test("[65] labels that are right are not written, and nothing is told", async () => {
  assertEquals(await attempt(binding("n1", { "hopegi.com/bound": "true", "hopegi.com/node": "n1" }), node("n1")), [
    [],
    [],
  ]);
  assertEquals(await attempt(binding(undefined, { "hopegi.com/bound": "true" }), node("n1")), [[], []]);
});

test("a Node whose name is too long for a label is told of, not written", async () => {
  const name = "n".repeat(64);
  const [sent, events] = await attempt(binding(name, { "hopegi.com/bound": "true" }), node(name));
  assertEquals([sent, events], [[], [
    "Warning NodeNameTooLong: The name of the Node is too long for a label: 63 characters are the most",
  ]]);
});

test("what goes or has gone is not written", async () => {
  const going = binding("n1");
  const metadata = { ...going.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" };
  assertEquals(await attempt({ ...going, metadata }), [[], []]);
});

test("changes are logged with the name, those that change nothing are not even looked at; Nodes come and go", async () => {
  const [cluster, clock] = [new FakeCluster(), new VirtualClock()];
  let log = "";
  using _logging = configureLogging({ write: (text) => log += text, now: () => clock.now() });
  const until = async (condition: () => boolean) => {
    for (let turn = 0; turn < 2000 && !condition(); turn++) await drain();
    assert(condition(), `it did not come to that\n${log}`);
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
  const held = cluster.get(path);
  assert(held !== undefined);
  cluster.put(path, held);
  cluster.put(path, binding("n1", { ...held.metadata.labels, own: "y" }));
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
