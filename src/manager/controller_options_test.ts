/** The options of controllers in a Manager: namespace, reporting controller of Events, dropped keys, indices. */
import { FakeCluster } from "../../tests/fakes/cluster.ts";
import { assert, assertEquals, assertMatch, test } from "../../tests/testing.ts";
import { builtin, type KubeObject } from "../api/mod.ts";
import { drain, seededRandom, VirtualClock } from "../async/mod.ts";
import { Client } from "../client/mod.ts";
import { controller, type ControllerDefinition, done, type Toolbox } from "../controller/mod.ts";
import { Manager } from "./manager.ts";

const { ConfigMap, Node } = builtin;

const hourMs = 3_600_000;

function configMap(namespace: string, data = {}): KubeObject & { readonly data: unknown } {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace, name: "a" }, data };
}

function pathOf(namespace: string): string {
  return `/api/v1/namespaces/${namespace}/configmaps/a`;
}

/** Runs controllers until `condition` is true, and then for one minute. */
async function run(
  definitions: readonly ControllerDefinition[],
  cluster: FakeCluster,
  condition: () => boolean,
): Promise<void> {
  const clock = new VirtualClock();
  const manager = new Manager({ client: new Client(cluster.transport, { clock }), clock, random: seededRandom(1) });
  for (const definition of definitions) manager.add(definition);
  const stop = new AbortController();
  const running = manager.run(stop.signal);
  for (let turn = 0; turn < 2_000 && !condition(); turn++) await drain();
  await clock.advance(60_000);
  stop.abort();
  await running;
  assert(condition(), "the condition did not become true");
}

/** A controller that records the keys it reconciles. */
function recording(name: string, seen: Set<string>, namespace?: string): ControllerDefinition {
  return controller(name, { namespace }).for(ConfigMap).reconcileKey(({ key }, toolbox) => {
    seen.add(`${key} of ${toolbox.list(ConfigMap).length}`);
    return Promise.resolve(done);
  });
}

test("a controller with a namespace neither reconciles nor lists objects of other namespaces", async () => {
  const cluster = new FakeCluster();
  const [one, all, paths] = [new Set<string>(), new Set<string>(), new Set<string>()];
  cluster.intercept = (_, path) => void paths.add(path);
  for (const namespace of ["x", "y"]) cluster.put(pathOf(namespace), configMap(namespace));
  await run([recording("one", one, "x")], cluster, () => one.size > 0);
  assertEquals([[...one], [...paths]], [["x/a of 1"], ["/api/v1/namespaces/x/configmaps"]]);
  one.clear();
  await run([recording("one", one, "x"), recording("all", all)], cluster, () => one.size + all.size >= 3);
  assertEquals([[...one], [...all].sort()], [["x/a of 1"], ["x/a of 2", "y/a of 2"]]);
});

interface WrittenEvent {
  readonly reason: string;
  readonly type: string;
  readonly note: string;
  readonly reportingController: string;
}

function eventsIn(cluster: FakeCluster): readonly WrittenEvent[] {
  return cluster.writes.filter(({ path }) => path.endsWith("/events")).map(({ body }) => body as WrittenEvent);
}

test("a dropped key leads to an Event with the droppedReason and its own reporting controller, unless Events are off", async () => {
  const failing = () => Promise.reject(new Error("Cannot go on: it is broken"));
  const reporting = controller("reporting", {
    maxRetries: 2,
    droppedReason: "GivenUp",
    eventComponent: "my-controller",
  })
    .for(ConfigMap).reconcileKey(failing);
  const usual = controller("usual", { maxRetries: 2 }).for(ConfigMap).reconcileKey(failing);
  const silent = controller("silent", { maxRetries: 2, recordsEvents: false }).for(ConfigMap).reconcileKey(failing);
  const cluster = new FakeCluster();
  cluster.put(pathOf("x"), configMap("x"));
  await run([reporting, usual, silent], cluster, () => true);
  const [event, second, ...more] = eventsIn(cluster).toSorted((a, b) => a.reason < b.reason ? -1 : 1);
  assertEquals([event?.reason, event?.type, event?.reportingController], ["GivenUp", "Warning", "my-controller"]);
  assertMatch(event?.note ?? "", /^Given up after 2 retries, until something changes: .*it is broken/);
  assertEquals([second?.reason, second?.reportingController], ["NotRetrying", "pintle/usual"]);
  assertEquals(more, []);
});

test("the reporting controller of Events is the Manager's name and the controller's by default", async () => {
  const recordEvent = (_: unknown, toolbox: Toolbox) => {
    toolbox.event({ regarding: configMap("x"), type: "Normal", reason: "Seen", note: "there it is" });
    return Promise.resolve(done);
  };
  const cluster = new FakeCluster();
  cluster.put(pathOf("x"), configMap("x"));
  await run(
    [controller("reporter").for(ConfigMap).reconcileKey(recordEvent)],
    cluster,
    () => eventsIn(cluster).length > 0,
  );
  assertEquals(eventsIn(cluster)[0]?.reportingController, "pintle/reporter");
});

test("a mapping finds the objects that refer to a new object through an index, in any order of arrival", async () => {
  const cluster = new FakeCluster();
  const seen: string[] = [];
  const definition = controller("finder")
    .for(ConfigMap, { indices: { node: ({ data = {} }) => data.node === undefined ? [] : [data.node] } })
    .watches(Node, {
      to: (node, caches) => {
        const found = caches.list(ConfigMap, { index: { name: "node", value: node.metadata.name ?? "" } });
        return found.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
      },
    })
    .reconcileKey(({ key }, { causes }) => {
      seen.push(...causes.map(({ source, change }) => `${key}: ${source} ${change}`));
      return Promise.resolve(done);
    });
  cluster.put(pathOf("x"), configMap("x", { node: "n1" }));
  cluster.put(pathOf("y"), configMap("y", { node: "n2" }));
  let isThere = false;
  await run([definition], cluster, () => {
    if (seen.length >= 2 && !isThere) {
      isThere = true;
      cluster.put("/api/v1/nodes/n2", { apiVersion: "v1", kind: "Node", metadata: { name: "n2" } });
    }
    return seen.length >= 3;
  });
  assertEquals(seen.toSorted(), ["x/a: configmaps added", "y/a: configmaps added", "y/a: nodes added"]);
});

/** The keys of noisy namespaces and of a quiet one, in the order in which one worker reconciles them. */
async function orderWith(fairness?: "namespace" | "none"): Promise<readonly string[]> {
  const cluster = new FakeCluster();
  const order: string[] = [];
  for (let n = 0; n < 20; n++) {
    const metadata = { namespace: "noisy", name: `m${n}` };
    cluster.put(`/api/v1/namespaces/noisy/configmaps/m${n}`, { apiVersion: "v1", kind: "ConfigMap", metadata });
  }
  cluster.put(pathOf("quiet"), configMap("quiet"));
  const definition = controller("fair", { fairness }).for(ConfigMap).reconcileKey(({ key }) => {
    order.push(key);
    return Promise.resolve(done);
  });
  await run([definition], cluster, () => order.length === 21);
  return order;
}

test("[42] namespaces take turns in the queue of a controller, unless it asks for first in, first out", async () => {
  assertEquals((await orderWith()).indexOf("quiet/a"), 1);
  assertEquals((await orderWith("namespace")).indexOf("quiet/a"), 1);
  assertEquals((await orderWith("none")).indexOf("quiet/a"), 20);
});

test("[37] a controller is resynced every ten hours by default, at its own period if it has one, and never for 0", async () => {
  const cluster = new FakeCluster();
  cluster.put(pathOf("x"), configMap("x"));
  const seen: string[] = [];
  const counting = (name: string, resyncMs?: number) =>
    controller(name, { resyncMs }).for(ConfigMap).reconcileKey((_, { causes }) => {
      seen.push(...causes.map(({ change }) => `${name}: ${change}`));
      return Promise.resolve(done);
    });
  const clock = new VirtualClock();
  const manager = new Manager({ client: new Client(cluster.transport, { clock }), clock, random: seededRandom(1) });
  for (const definition of [counting("usual"), counting("daily", 24 * hourMs), counting("never", 0)]) {
    manager.add(definition);
  }
  const stop = new AbortController();
  const running = manager.run(stop.signal);
  for (let turn = 0; turn < 2_000 && seen.length < 3; turn++) await drain();
  await clock.advance(10 * hourMs - 1);
  assertEquals(seen.splice(0).sort(), ["daily: added", "never: added", "usual: added"]);
  await clock.advance(1 * hourMs);
  assertEquals(seen, ["usual: updated"]);
  stop.abort();
  await running;
});
