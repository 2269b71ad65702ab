/**
 * Shard selectors on a real kube-apiserver with its gate (KEP-5866): its hash is ours, so it sends exactly the objects of
 * the slots that a replica has, in a list and in a watch.
 */
import { builtin, type KubeObject, type ListWatch } from "../../src/api/mod.ts";
import { Client, clusterTransport, loadClusterAccess } from "../../src/client/mod.ts";
import { installCustomResources } from "../../src/cluster/mod.ts";
import { controller, done } from "../../src/controller/mod.ts";
import { allSlots, shardSelector, slotOf } from "../../src/manager/sharding/slots.ts";
import { defineResource, z } from "../../src/schema/mod.ts";
import type { ControlPlane } from "../controlplane/mod.ts";
import { controlPlaneTest, createNamespace } from "../controlplane/test.ts";
import { assert, assertEquals } from "../testing.ts";

const gate = ["--feature-gates=ShardedListAndWatch=true"];
const field = "object.metadata.uid";
const count = 60;
const Thing = defineResource({
  group: "shards.example.dev",
  version: "v1",
  kind: "Thing",
  scope: "Namespaced",
  spec: z.object({ text: z.string().optional() }),
});
const things = controller("things").for(Thing).reconcile(() => Promise.resolve(done));

async function connect(controlPlane: ControlPlane): Promise<{ client: Client } & Disposable> {
  const overrides = { kubeconfig: controlPlane.kubeconfig };
  const transport = clusterTransport(await loadClusterAccess({ environment: {}, overrides, workingDirectory: "/" }));
  return { client: new Client(transport), [Symbol.dispose]: () => transport[Symbol.dispose]() };
}

/** What the server says that it has selected in a list. */
async function selectedIn(listWatch: ListWatch<KubeObject>, selector: string): Promise<string | undefined> {
  const { signal } = new AbortController();
  return (await listWatch.list({ limit: 0, shardSelector: selector }, signal)).shardSelector;
}

/** The names in a list, or in the initial events of a watch. */
async function namesIn(
  listWatch: ListWatch<KubeObject>,
  selector: string | undefined,
  how: "list" | "watch",
): Promise<readonly string[]> {
  const stop = new AbortController();
  const selected = selector === undefined ? {} : { shardSelector: selector };
  if (how === "list") {
    const { items } = await listWatch.list({ limit: 0, ...selected }, stop.signal);
    return items.map(({ metadata }) => metadata.name ?? "").sort();
  }
  const names: string[] = [];
  const options = { sendInitialEvents: true, allowWatchBookmarks: true, timeoutSeconds: 60, ...selected };
  for await (const events of listWatch.watch(options, stop.signal)) {
    for (const event of events) {
      if (event.type === "ADDED") names.push(event.object.metadata.name ?? "");
      if (event.type !== "BOOKMARK") continue;
      stop.abort();
      return names.sort();
    }
  }
  throw new Error("Cannot read the initial events: the watch has ended before its bookmark");
}

controlPlaneTest(
  "the API server selects the objects of slots as this process does, in lists and watches",
  async (controlPlane) => {
    using connection = await connect(controlPlane);
    const { client } = connection;
    const namespace = await createNamespace(controlPlane);
    const created: KubeObject[] = [];
    for (let index = 0; index < count; index++) {
      const metadata = { namespace, name: `map-${index}`, labels: { "example.dev/test": "shards" } };
      created.push(await client.create(builtin.ConfigMap, { metadata }));
    }
    const listWatch = client.listWatch(builtin.ConfigMap, {
      namespace,
      labelSelector: "example.dev/test=shards",
    });
    const parts = [
      new Set([...allSlots].filter((slot) => slot % 3 === 0)),
      new Set([...allSlots].filter((slot) => slot >= 200)),
      new Set<number>(),
      allSlots,
    ];
    for (const slots of parts) {
      const expected = created.filter(({ metadata }) => slots.has(slotOf(metadata.uid ?? "")))
        .map(({ metadata }) => metadata.name ?? "").sort();
      const selector = shardSelector(slots, field);
      assertEquals(await namesIn(listWatch, selector, "list"), expected, `list ${selector}`);
      assertEquals(await namesIn(listWatch, selector, "watch"), expected, `watch ${selector}`);
      if (selector !== undefined) {
        assertEquals(await selectedIn(listWatch, selector), selector, "shardInfo of the list");
      }
      if (slots.size > 0) assert(expected.length > 0);
    }
  },
  { own: { apiServerArgs: gate } },
);

controlPlaneTest(
  "a list of custom resources is selected, but the API server does not say so",
  async (controlPlane) => {
    using connection = await connect(controlPlane);
    const { client } = connection;
    await installCustomResources(client, [things]);
    const namespace = await createNamespace(controlPlane);
    const created: KubeObject[] = [];
    for (let index = 0; index < 20; index++) {
      created.push(await client.create(Thing, { metadata: { namespace, name: `t-${index}` }, spec: {} }));
    }
    const slots = new Set([...allSlots].filter((slot) => slot % 2 === 0));
    const expected = created.filter(({ metadata }) => slots.has(slotOf(metadata.uid ?? "")))
      .map(({ metadata }) => metadata.name ?? "").sort();
    const listWatch = client.listWatch(Thing, { namespace });
    const selector = shardSelector(slots, field) ?? "";
    assertEquals(await namesIn(listWatch, selector, "list"), expected);
    assertEquals(await selectedIn(listWatch, selector), undefined);
  },
  { own: { apiServerArgs: gate } },
);

controlPlaneTest("a server without the gate ignores the selector and sends all objects", async (controlPlane) => {
  using connection = await connect(controlPlane);
  const namespace = await createNamespace(controlPlane);
  const metadata = { namespace, name: "map", labels: { "example.dev/test": "shards" } };
  await connection.client.create(builtin.ConfigMap, { metadata });
  const labelSelector = "example.dev/test=shards";
  const listWatch = connection.client.listWatch(builtin.ConfigMap, { namespace, labelSelector });
  assertEquals(await namesIn(listWatch, shardSelector(new Set(), field), "list"), ["map"]);
  assertEquals(await selectedIn(listWatch, "shardRange(object.metadata.uid, 'no range')"), undefined);
});
