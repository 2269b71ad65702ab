/** queue: operations a second of the work queue; the Go peer's queue.go does the same with the same keys. */
import { WorkQueue } from "../../src/queue/mod.ts";
import { median } from "../statistics.ts";
import { inputEnded, report } from "./_stdio.ts";

const rounds = 21;
/** Rounds that are not counted: they include compilation at run time, and an operator lives for weeks. */
const warmUpRounds = 10;
const keys = Array.from({ length: 100_000 }, (_, number) => `namespace-${number % 97}/object-${number}`);
const signal = new AbortController().signal;

/** Measures and reports. */
export async function queue(): Promise<void> {
  const perSecond = {
    addTakeDone: await medianRate(addTakeDone),
    addRateLimitedForget: await medianRate(addRateLimitedForget),
    addAfter: await medianRate(addAfter),
  };
  report({ kind: "rates", perSecond });
  await inputEnded();
}

/** The median of the rounds, with a queue of its own for each. */
async function medianRate(operate: (queue: WorkQueue<string>) => void | Promise<void>): Promise<number> {
  const rates: number[] = [];
  for (let round = 0; round < warmUpRounds + rounds; round++) {
    using queue = new WorkQueue<string>({ name: "bench" });
    const startedAt = performance.now();
    await operate(queue);
    if (round >= warmUpRounds) rates.push(keys.length / (performance.now() - startedAt) * 1000);
  }
  return median(rates);
}

/** Takes as a worker does: synchronously when a key is ready, else through the promise. */
async function addTakeDone(queue: WorkQueue<string>): Promise<void> {
  for (const key of keys) {
    queue.add(key);
    using _item = queue.tryTake() ?? await queue.take(signal);
  }
}

function addRateLimitedForget(queue: WorkQueue<string>): void {
  for (const key of keys) {
    queue.addRateLimited(key);
    queue.forget(key);
  }
}

function addAfter(queue: WorkQueue<string>): void {
  for (const [number, key] of keys.entries()) queue.addAfter(key, 60_000 + (number * 7919) % 60_000);
}
