/** Lists and watches of a client by shards, on an embedded API server with and without the gate ShardedListAndWatch. */
import { builtin, type KubeObject, type ListWatch } from "../../src/api/mod.ts";
import { type FeatureGate, kubernetesApi } from "../../src/apiserver/mod.ts";
import { Client } from "../../src/client/mod.ts";
import { installCustomResources } from "../../src/cluster/mod.ts";
import { controller, done } from "../../src/controller/mod.ts";
import { allSlots, shardSelector, slotOf } from "../../src/manager/sharding/slots.ts";
import { defineResource, z } from "../../src/schema/mod.ts";
import { assert, assertEquals, test } from "../testing.ts";

const { ConfigMap } = builtin;
const { signal } = new AbortController();
const field = "object.metadata.uid";
const parts = [0, 1, 2].map((part) => new Set([...allSlots].filter((slot) => slot % 3 === part)));

const Thing = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Thing",
  scope: "Namespaced",
  spec: z.object({ text: z.string().optional() }),
});

interface Served extends Disposable {
  readonly client: Client;
  readonly maps: readonly KubeObject[];
}

async function serve(features: readonly FeatureGate[]): Promise<Served> {
  const { server } = kubernetesApi({ features });
  const client = new Client(server.fetch);
  const maps: KubeObject[] = [];
  for (let index = 0; index < 30; index++) {
    maps.push(await client.create(ConfigMap, { metadata: { namespace: "default", name: `map-${index}` } }));
  }
  return { client, maps, [Symbol.dispose]: () => server[Symbol.dispose]() };
}

/** The UIDs in the initial events of a watch. */
async function watched(listWatch: ListWatch<KubeObject>, selector: string | undefined): Promise<ReadonlySet<string>> {
  const uids = new Set<string>();
  const stop = new AbortController();
  const options = { sendInitialEvents: true, resourceVersionMatch: "NotOlderThan", allowWatchBookmarks: true } as const;
  for await (const events of listWatch.watch({ ...options, shardSelector: selector }, stop.signal)) {
    for (const event of events) {
      if (event.type === "ADDED") uids.add(event.object.metadata.uid ?? "");
      if (event.type !== "BOOKMARK") continue;
      stop.abort();
      return uids;
    }
  }
  throw new Error("Cannot read the initial events: the watch has ended before its bookmark");
}

function uidsOf(objects: readonly KubeObject[]): ReadonlySet<string> {
  return new Set(objects.map(({ metadata: { uid = "" } }) => uid));
}

test("with the gate, a client gets the objects of its slots only, and the list says which", async () => {
  using served = await serve(["ShardedListAndWatch"]);
  const listWatch = served.client.listWatch(ConfigMap, { namespace: "default" });
  for (const slots of parts) {
    const own = uidsOf(served.maps.filter(({ metadata: { uid = "" } }) => slots.has(slotOf(uid))));
    const selector = shardSelector(slots, field);
    const page = await listWatch.list({ shardSelector: selector, limit: 500 }, signal);
    const items = page.items.filter(({ metadata: { name = "" } }) => name.startsWith("map-"));
    assertEquals([uidsOf(items), page.shardSelector], [own, selector]);
    const initial = await watched(listWatch, selector);
    assertEquals(new Set([...initial].filter((uid) => uidsOf(served.maps).has(uid))), own);
    assert(own.size > 0);
  }
});

test("without the gate, a client gets all objects, and the list does not say that it was selected", async () => {
  using served = await serve([]);
  const listWatch = served.client.listWatch(ConfigMap, { namespace: "default" });
  const selector = shardSelector(parts[0] ?? allSlots, field);
  const page = await listWatch.list({ shardSelector: selector, limit: 500 }, signal);
  assertEquals(page.shardSelector, undefined);
  assert(served.maps.every(({ metadata: { uid = "" } }) => uidsOf(page.items).has(uid)));
});

test("a list of custom resources is selected, but does not say so", async () => {
  using served = await serve(["ShardedListAndWatch"]);
  const things = controller("things").for(Thing).reconcile(() => Promise.resolve(done));
  await installCustomResources(served.client, [things]);
  const created: KubeObject[] = [];
  for (let index = 0; index < 20; index++) {
    created.push(
      await served.client.create(Thing, { metadata: { namespace: "default", name: `t-${index}` }, spec: {} }),
    );
  }
  const [slots = allSlots] = parts;
  const page = await served.client.listWatch(Thing).list({ shardSelector: shardSelector(slots, field) }, signal);
  const own = uidsOf(created.filter(({ metadata: { uid = "" } }) => slots.has(slotOf(uid))));
  assertEquals([uidsOf(page.items), page.shardSelector], [own, undefined]);
});
