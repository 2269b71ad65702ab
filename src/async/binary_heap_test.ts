import { assert, assertEquals, test } from "../../tests/testing.ts";
import { BinaryHeap, type HeapItem, seededRandom } from "./mod.ts";

interface Item extends HeapItem {
  rank: number;
  readonly sequence: number;
}

function isBefore(one: Item, other: Item): boolean {
  return one.rank < other.rank || (one.rank === other.rank && one.sequence < other.sequence);
}

test("items come out in order", () => {
  const heap = new BinaryHeap(isBefore);
  for (const [sequence, rank] of [5, 1, 4, 1, 3].entries()) heap.push({ rank, sequence, heapIndex: -1 });
  assertEquals([heap.size, heap.first?.sequence], [5, 1]);
  const out: number[] = [];
  for (let item = heap.pop(); item !== undefined; item = heap.pop()) out.push(item.sequence);
  assertEquals([out, heap.size, heap.first], [[1, 3, 4, 2, 0], 0, undefined]);
});

test("remove() of an item that is not in the heap changes nothing", () => {
  const heap = new BinaryHeap(isBefore);
  const [one, other]: Item[] = [{ rank: 1, sequence: 0, heapIndex: -1 }, { rank: 2, sequence: 1, heapIndex: -1 }];
  assert(one !== undefined && other !== undefined);
  heap.push(one);
  assertEquals([heap.remove(other), heap.remove(one), heap.remove(one), heap.size], [false, true, false, 0]);
  heap.push(one);
  heap.clear();
  assertEquals([heap.remove(one), heap.size, one.heapIndex], [false, 0, -1]);
});

/** Invariants: the first item, the size and the members are those of a sorted array, after each operation. */
test("10,000 random operations agree with a sorted array", () => {
  const random = seededRandom(1);
  const draw = (below: number) => Math.floor(random.next() * below);
  const heap = new BinaryHeap(isBefore);
  let model: Item[] = [];
  for (let step = 0; step < 10_000; step++) {
    const choice = draw(10), chosen = model[draw(model.length)];
    if (choice < 4 || chosen === undefined) {
      const item: Item = { rank: draw(50), sequence: step, heapIndex: -1 };
      heap.push(item);
      model.push(item);
    } else if (choice < 6) {
      chosen.rank -= draw(20);
      heap.moveUp(chosen);
    } else {
      const item = choice < 8 ? heap.pop() : chosen;
      if (choice >= 8) assert(heap.remove(chosen));
      model = model.filter((other) => other !== item);
    }
    model.sort((one, other) => isBefore(one, other) ? -1 : 1);
    assert(heap.first === model[0] && heap.size === model.length, `step ${step}`);
    for (const item of heap) assert(model.includes(item), `step ${step}`);
  }
});
