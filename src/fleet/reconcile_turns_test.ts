import { assertEquals, assertRejects, assertThrows, test } from "../../tests/testing.ts";
import { drain, seededRandom } from "../async/mod.ts";
import { ReconcileTurns } from "./reconcile_turns.ts";

const { signal } = new AbortController();

test("a cluster without a running reconcile gets a turn at once when others use up the limit", async () => {
  const turns = new ReconcileTurns(2);
  await turns.take("slow", signal);
  await turns.take("slow", signal);
  using _fast = await turns.take("fast", signal);
  const third = turns.take("slow", signal);
  await drain();
  assertEquals(turns.waiting("slow"), 1);
  void third;
});

test("a free turn goes to the waiting cluster with the fewest running reconciles, then to the one served longest ago", async () => {
  const turns = new ReconcileTurns(4);
  const running = [await turns.take("a", signal), await turns.take("a", signal), await turns.take("b", signal)];
  running.push(await turns.take("c", signal));
  const order: string[] = [];
  for (const cluster of ["a", "a", "b", "c"]) {
    void turns.take(cluster, signal).then(() => order.push(cluster));
  }
  await drain();
  assertEquals(order, []);
  for (const turn of running) turn[Symbol.dispose]();
  await drain();
  assertEquals(order, ["a", "b", "c", "a"]);
});

test("a reconcile that stops waiting takes no turn", async () => {
  const turns = new ReconcileTurns(1);
  const first = await turns.take("a", signal);
  const stop = new AbortController();
  const second = turns.take("a", stop.signal);
  stop.abort(new Error("stopped"));
  await assertRejects(() => second, /stopped/);
  assertEquals(turns.waiting("a"), 0);
  first[Symbol.dispose]();
  using _third = await turns.take("a", signal);
});

test("a limit below 1 is refused", () => {
  for (const max of [0, -1, NaN]) assertThrows(() => new ReconcileTurns(max), /Cannot limit reconciles/);
});

/** Invariants: no cluster waits while it runs nothing; nobody waits while the limit is not reached. */
test("in random schedules no cluster waits without running, and no turn is left unused", async () => {
  for (let seed = 1; seed <= 30; seed++) {
    const random = seededRandom(seed);
    const max = 1 + Math.floor(random.next() * 5);
    const turns = new ReconcileTurns(max);
    const running: { cluster: string; turn: Disposable }[] = [];
    for (let step = 0; step < 200; step++) {
      const cluster = "abcd"[Math.floor(random.next() * 4)] ?? "a";
      if (random.next() < 0.55) void turns.take(cluster, signal).then((turn) => running.push({ cluster, turn }));
      else running.splice(Math.floor(random.next() * running.length), 1)[0]?.turn[Symbol.dispose]();
      await drain();
      for (const one of "abcd") {
        const own = running.filter(({ cluster }) => cluster === one).length;
        if (turns.waiting(one) === 0) continue;
        assertEquals([own > 0, running.length >= max], [true, true], `seed ${seed}, step ${step}`);
      }
    }
  }
});
