import { assert, assertEquals, test } from "../../../tests/testing.ts";
import { seededRandom } from "../../async/mod.ts";
import { OrderedMap } from "./ordered_map.ts";

interface Item {
  readonly key: string;
  readonly value: number;
}

function itemsFrom(map: OrderedMap<Item>, from = ""): Item[] {
  const items: Item[] = [];
  map.scan(from, (item) => {
    items.push(item);
    return true;
  });
  return items;
}

/** Invariants: same content as a Map sorted by key; older states never change. */
test("an OrderedMap has the same content as a sorted Map, and its older states never change", () => {
  const random = seededRandom(7);
  let map = OrderedMap.empty<Item>();
  const model = new Map<string, Item>();
  const states: { readonly map: OrderedMap<Item>; readonly items: readonly Item[] }[] = [];
  for (let step = 0; step < 6000; step++) {
    const key = `k${Math.floor(random.next() * 700)}`;
    const isPut = random.next() < (step < 3000 ? 0.7 : 0.35);
    if (isPut) {
      const item = { key, value: step };
      map = map.put(item);
      model.set(key, item);
    } else {
      map = map.remove(key);
      model.delete(key);
    }
    assertEquals(map.size, model.size);
    if (step % 500 === 0) states.push({ map, items: sorted(model) });
  }
  states.push({ map, items: sorted(model) });
  for (const state of states) assertEquals(itemsFrom(state.map), [...state.items]);
});

function sorted(model: ReadonlyMap<string, Item>): readonly Item[] {
  return [...model.values()].sort((left, right) => left.key < right.key ? -1 : 1);
}

test("an OrderedMap finds, ranks and scans from any key", () => {
  let map = OrderedMap.empty<Item>();
  const keys = Array.from({ length: 500 }, (_, index) => `key-${String(index * 2).padStart(4, "0")}`);
  for (const [value, key] of keys.entries()) map = map.put({ key, value });
  assertEquals(map.get("key-0010")?.value, 5);
  assertEquals(map.get("key-0011"), undefined);
  assertEquals(map.get(""), undefined);
  assertEquals(map.rank("key-0010"), 5);
  assertEquals(map.rank("key-0011"), 6);
  assertEquals(map.rank("zzz"), 500);
  assertEquals(map.rank(""), 0);
  assertEquals(itemsFrom(map, "key-0995").map(({ key }) => key), ["key-0996", "key-0998"]);
  assertEquals(itemsFrom(map, "zzz"), []);
});

test("scan() stops when its visitor returns false", () => {
  let map = OrderedMap.empty<Item>();
  for (let value = 0; value < 200; value++) map = map.put({ key: `k${String(value).padStart(3, "0")}`, value });
  const seen: string[] = [];
  map.scan("k050", ({ key }) => seen.push(key) < 3);
  assertEquals(seen, ["k050", "k051", "k052"]);
});

test("remove() of a missing key returns a map with the same items", () => {
  const map = OrderedMap.empty<Item>().put({ key: "a", value: 1 });
  assertEquals(itemsFrom(map.remove("b")), [{ key: "a", value: 1 }]);
  assert(map.remove("a").remove("a").size === 0);
});
