import { assertEquals, assertThrows, test } from "../../tests/testing.ts";
import { make, taken } from "./testing/test_queue.ts";

test("an item carries the first cause and the latest ones, and how many were dropped", () => {
  const { queue } = make({ maxCauses: 3 });
  for (const cause of ["one", "two", "three", "four", "five"]) queue.add("a", { cause });
  const item = taken(queue);
  assertEquals([item.causes, item.causesDropped], [["one", "four", "five"], 2]);
  queue.add("a", { cause: "six" });
  assertEquals(item.causes, ["one", "four", "five"]);
  item[Symbol.dispose]();
  assertEquals(taken(queue).causes, ["six"]);
});

test("the cause of a delayed add comes with the delayed run, not with an earlier one", async () => {
  const { queue, clock } = make();
  queue.addAfter("a", 100, { cause: "requeueAfter" });
  queue.add("a", { cause: "event" });
  const first = taken(queue);
  assertEquals(first.causes, ["event"]);
  first[Symbol.dispose]();
  await clock.advance(100);
  assertEquals(taken(queue).causes, ["requeueAfter"]);
});

test("maxCauses 0 stores no causes", () => {
  const { queue } = make({ maxCauses: 0 });
  queue.add("a", { cause: "one" });
  const item = taken(queue);
  assertEquals([item.causes, item.causesDropped], [[], 1]);
  assertThrows(() => make({ maxCauses: -1 }), /^Cannot create WorkQueue "test"/);
});

test("an item says when it was added and how long it waited", async () => {
  const { queue, clock } = make();
  const start = clock.now();
  await clock.advance(50);
  queue.add("a");
  await clock.advance(200);
  queue.add("a");
  const item = taken(queue);
  await clock.advance(1_000);
  assertEquals([item.addedAt - start, item.waitedMs], [50, 200]);
});

test("a parked key does not run until it is unparked, and then with all causes and the highest priority", async () => {
  const { queue, clock } = make();
  queue.add("a", { cause: "one" });
  queue.park("a", "writes oscillate in spec.replicas");
  queue.add("a", { cause: "two", priority: 5 });
  queue.addAfter("a", 100, { cause: "three" });
  await clock.advance(100);
  assertEquals([queue.size, queue.counts.parked], [0, 1]);
  assertEquals([queue.unpark("a"), queue.unpark("a")], [true, false]);
  const item = taken(queue);
  assertEquals([item.priority, item.causes], [5, ["one", "two", "three"]]);
});

test("a key for which no run was requested while it was parked does not run when it is unparked", () => {
  const { queue } = make();
  queue.add("a");
  const item = taken(queue);
  queue.park("a", "loops");
  item[Symbol.dispose]();
  assertEquals(queue.unpark("a"), true);
  assertEquals(queue.size, 0);
});

test("[40] park() of the last queued key ends a drain", async () => {
  const { queue } = make();
  queue.add("a");
  const drain = queue.shutDownWithDrain();
  queue.park("a", "loops");
  await drain;
  assertEquals(queue.counts.parked, 1);
});

test("snapshot() lists every key once, with its state and its causes", async () => {
  const { queue, clock } = make({ laneOf: (key) => key.slice(0, 1) });
  const start = clock.now();
  queue.add("running", { cause: "r" });
  queue.add("dirty", { cause: "d1" });
  const items = [taken(queue), taken(queue)];
  await clock.advance(10);
  queue.add("dirty", { cause: "d2", priority: 7 });
  queue.addAfter("running", 90, { cause: "later" });
  queue.add("queued", { priority: -100, cause: "q" });
  queue.addRateLimited("waiting", { cause: "w" });
  queue.park("parked", "loops");
  queue.add("parked", { cause: "p" });
  const listed = queue.snapshot().map(({ causesDropped: _, ...entry }) => entry);
  assertEquals(listed, [
    {
      key: "running",
      state: { kind: "running", startedAt: start },
      priority: 0,
      lane: "r",
      retries: 0,
      causes: ["r"],
      dueAt: start + 100,
    },
    {
      key: "dirty",
      state: { kind: "runningDirty", startedAt: start, addedAt: start + 10 },
      priority: 7,
      lane: "d",
      retries: 0,
      causes: ["d2"],
    },
    {
      key: "queued",
      state: { kind: "queued", addedAt: start + 10 },
      priority: -100,
      lane: "q",
      retries: 0,
      causes: ["q"],
    },
    {
      key: "parked",
      state: { kind: "parked", reason: "loops", isPending: true, parkedAt: start + 10 },
      priority: 0,
      lane: "p",
      retries: 0,
      causes: ["p"],
    },
    {
      key: "waiting",
      state: { kind: "waiting", dueAt: start + 15 },
      priority: 0,
      lane: "w",
      retries: 1,
      causes: ["w"],
    },
  ]);
  assertEquals(queue.snapshot({ limit: 2 }).map((entry) => entry.key), ["running", "dirty"]);
  for (const item of items) item[Symbol.dispose]();
});
