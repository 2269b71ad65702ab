/** Tests of the seats and the queues of a priority level, on a virtual clock. */
import { assertEquals, test } from "../../../tests/testing.ts";
import { VirtualClock } from "../../async/mod.ts";
import { dealHand, FairQueues, type Seat } from "./fair_queues.ts";

const never = () => new AbortController().signal;

/** A level, and the flows in the order in which they got a seat. */
function levelOf(seats: number, queuing = { queues: 16, handSize: 4, queueLengthLimit: 50 }) {
  const clock = new VirtualClock();
  const level = new FairQueues(clock);
  level.configure({ seats, queuing });
  const served: string[] = [];
  const held: Seat[] = [];
  const take = (flow: string, signal = never) => {
    const seat = level.take(flow, 15_000, signal);
    if (seat === undefined) return void served.push(`${flow} refused`);
    if (!(seat instanceof Promise)) {
      served.push(flow);
      return void held.push(seat);
    }
    seat.then((one) => {
      served.push(one === undefined ? `${flow} refused` : flow);
      if (one !== undefined) held.push(one);
    });
  };
  return { clock, level, served, held, take };
}

/** Lets the promises that are settled run. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await Promise.resolve();
}

test("take() refuses what is beyond the seats of a level without queues, until a seat is free", () => {
  const level = new FairQueues(new VirtualClock());
  level.configure({ seats: 2 });
  const [first, second] = [level.take("a", 1, never), level.take("a", 1, never)];
  assertEquals([first === undefined, second === undefined, level.take("a", 1, never)], [false, false, undefined]);
  if (first !== undefined && !(first instanceof Promise)) first.release();
  assertEquals([level.take("b", 1, never) === undefined, level.executing], [false, 2]);
});

test("take() waits while all seats are taken, and serves one flow in the order of its requests", async () => {
  const { level, served, held, take } = levelOf(1, { queues: 1, handSize: 1, queueLengthLimit: 50 });
  for (const flow of ["a1", "a2", "a3"]) take(flow);
  await settle();
  assertEquals([served, level.waiting], [["a1"], 2]);
  for (let count = 2; count <= 3; count++) {
    held.at(-1)?.release();
    await settle();
    assertEquals(served.length, count);
  }
  assertEquals(served, ["a1", "a2", "a3"]);
});

test("take() refuses a request whose queue is full", async () => {
  const { level, served, take } = levelOf(1, { queues: 1, handSize: 1, queueLengthLimit: 2 });
  for (let count = 0; count < 4; count++) take("a");
  await settle();
  assertEquals([served, level.waiting], [["a", "a refused"], 2]);
});

test("take() refuses a request that has waited for its time, and its place is free again", async () => {
  const { clock, level, served, take } = levelOf(1, { queues: 1, handSize: 1, queueLengthLimit: 1 });
  take("a");
  take("b");
  await clock.advance(14_999);
  assertEquals([served, level.waiting], [["a"], 1]);
  await clock.advance(1);
  assertEquals([served, level.waiting], [["a", "b refused"], 0]);
});

test("take() forgets a request whose client leaves", async () => {
  const { level, served, held, take } = levelOf(1);
  const client = new AbortController();
  take("a");
  take("b", () => client.signal);
  client.abort();
  await settle();
  held[0]?.release();
  assertEquals([served, level.waiting, level.executing], [["a", "b refused"], 0, 0]);
});

test("a flow with one request is served before the rest of a flow with many", async () => {
  const { clock, served, held, take } = levelOf(1);
  for (let count = 0; count < 20; count++) take("many");
  take("one");
  await settle();
  for (let count = 0; count < 6 && !served.includes("one"); count++) {
    await clock.advance(10);
    held.at(-1)?.release();
    await settle();
  }
  assertEquals(served.includes("one"), true);
});

test("configure() serves waiting requests when the level gets more seats, and none with no seats", async () => {
  const { level, served, held, take } = levelOf(0);
  for (const flow of ["a", "b", "c"]) take(flow);
  await settle();
  assertEquals([served, level.waiting], [[], 3]);
  level.configure({ seats: 2, queuing: { queues: 16, handSize: 4, queueLengthLimit: 50 } });
  await settle();
  assertEquals([served.length, level.waiting, held.length], [2, 1, 2]);
});

test("dealHand() deals different queues, always the same ones to a flow", () => {
  const used = new Set<number>();
  for (let flow = 0; flow < 200; flow++) {
    const hand = dealHand(`flow-${flow}`, 64, 8);
    assertEquals([new Set(hand).size, hand.every((queue) => queue >= 0 && queue < 64)], [8, true]);
    assertEquals(dealHand(`flow-${flow}`, 64, 8), hand);
    for (const queue of hand) used.add(queue);
  }
  assertEquals([used.size, dealHand("a", 3, 8).toSorted()], [64, [0, 1, 2]]);
});
