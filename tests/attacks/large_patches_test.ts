/**
 * Attacks by size on patches: directives and operations in very many, in the orders that are worst for sorting and merging.
 *
 * The rules: each patch gets its answer, the answer is bounded, and the server reports no internal error. There is no clock
 * here: an insertion sort of these lists takes many minutes. A model shows that the fast sort gives the same order.
 */
import { KubernetesTestServer } from "../../src/apiserver/testing/kubernetes_test_server.ts";
import { seededRandom } from "../../src/async/mod.ts";
import { assert, assertEquals, test } from "../testing.ts";

const random = seededRandom(14);
const below = (count: number) => Math.floor(random.next() * count);

const maps = "/api/v1/namespaces/default/configmaps";
const strategic = { "content-type": "application/strategic-merge-patch+json" };

function shuffled(values: readonly string[]): readonly string[] {
  const order = new Map(values.map((value) => [value, random.next()]));
  return values.toSorted((left, right) => (order.get(left) ?? 0) - (order.get(right) ?? 0));
}

const many = Array.from({ length: 60_000 }, (_, index) => `a.b/${index}`);
const orders = {
  equal: many,
  reversed: many.toReversed(),
  shuffled: shuffled(many),
  repeated: many.map(() => "a.b/1"),
};

for (const [name, order] of Object.entries(orders)) {
  test(`[95] a strategic merge patch that sets a very long ${name} order gets a bounded answer`, async () => {
    using server = new KubernetesTestServer();
    await server.create(maps, { metadata: { name: "a", finalizers: many.slice(0, 20_000) } });
    const patches = [
      { "$setElementOrder/finalizers": order },
      { "$setElementOrder/finalizers": order, finalizers: order },
      { "$setElementOrder/finalizers": [], finalizers: order },
      { finalizers: [...order.slice(0, 30_000), ...order.slice(0, 30_000).toReversed()] },
      { "$deleteFromPrimitiveList/finalizers": order.slice(100) },
    ];
    for (const metadata of patches) {
      const body = JSON.stringify({ metadata });
      const answer = await server.send("PATCH", `${maps}/a?dryRun=All`, body, strategic);
      assert(answer.code === 200 || answer.code === 500, JSON.stringify(answer.body).slice(0, 300));
      assert(JSON.stringify(answer.body).length < 4 * 1024 * 1024 + 2 * body.length);
    }
    assertEquals(server.errors, []);
  });
}

/** The insertion sort of kube-apiserver: an item without a position goes before the one that it is compared with. */
function sortedAsServer(items: readonly string[], order: readonly string[]): readonly string[] {
  const sorted = [...items];
  const positionOf = (item: string | undefined) => item === undefined ? -1 : order.indexOf(item);
  for (let index = 1; index < sorted.length; index++) {
    for (let at = index; at > 0; at--) {
      const [left, right] = [positionOf(sorted[at - 1]), positionOf(sorted[at])];
      if (left >= 0 && right >= 0 && right >= left) break;
      sorted.splice(at - 1, 2, sorted[at] ?? "", sorted[at - 1] ?? "");
    }
  }
  return sorted;
}

test("$setElementOrder gives the order of kube-apiserver's insertion sort", async () => {
  using server = new KubernetesTestServer();
  const names = ["a.b/1", "a.b/2", "a.b/3", "a.b/4", "a.b/5", "a.b/6"];
  for (let round = 0; round < 200; round++) {
    const live = shuffled(names).slice(below(3));
    const order = shuffled(names).slice(below(names.length - 1));
    const name = `m${round}`;
    await server.create(maps, { metadata: { name, finalizers: live } });
    const patch = { metadata: { "$setElementOrder/finalizers": order } };
    const { body } = await server.send("PATCH", `${maps}/${name}`, JSON.stringify(patch), strategic);
    const inside = sortedAsServer(live.filter((item) => order.includes(item)), order);
    const outside = sortedAsServer(live.filter((item) => !order.includes(item)), live);
    const merged: string[] = [];
    for (let [s, p] = [0, 0]; s < outside.length || p < inside.length;) {
      const [ours, theirs] = [outside[s], inside[p]];
      const isOurs = theirs === undefined || (ours !== undefined && live.indexOf(ours) < live.indexOf(theirs));
      merged.push((isOurs ? ours : theirs) ?? "");
      if (isOurs) s++;
      else p++;
    }
    assertEquals(body.metadata.finalizers, merged, JSON.stringify({ live, order }));
  }
});
