/**
 * Micro-benchmark of the WorkQueue: operations per second, in the cases that client-go measures for its workqueue.
 *
 *   deno run -A bench/micro/queue.ts [rounds]
 *   bun bench/micro/queue.ts [rounds]
 *
 * Each case uses the same 100,000 keys, once to warm up and then `rounds` times (default 9). It prints the slowest
 * round and the median, in million operations per second; one operation is one key through the whole case.
 */
import process from "node:process";
import { MetricsRegistry } from "../../src/observe/mod.ts";
import { queueMetrics, WorkQueue, type WorkQueueOptions } from "../../src/queue/mod.ts";

interface Case {
  readonly name: string;
  readonly options?: Omit<WorkQueueOptions<string, string>, "name">;
  readonly run: (queue: WorkQueue<string, string>) => void | Promise<void>;
}

const keys = Array.from({ length: 100_000 }, (_, n) => `namespace-${n % 97}/object-${n}`);
const signal = new AbortController().signal;

/** One key at a time: the queue is almost empty, as under light load. */
function addTakeDone(queue: WorkQueue<string, string>): void {
  for (const key of keys) {
    queue.add(key);
    queue.tryTake()?.[Symbol.dispose]();
  }
}

/** Adds all keys and then takes all keys, as for the first list of an informer. */
function addAllTakeAll(queue: WorkQueue<string, string>): void {
  for (const key of keys) queue.add(key);
  for (let item = queue.tryTake(); item !== undefined; item = queue.tryTake()) item[Symbol.dispose]();
}

/** As addTakeDone, through the promise that workers wait on. */
async function addAwaitTakeDone(queue: WorkQueue<string, string>): Promise<void> {
  for (const key of keys) {
    queue.add(key);
    using _item = await queue.take(signal);
  }
}

function addWithCause(queue: WorkQueue<string, string>): void {
  for (const key of keys) {
    queue.add(key, { cause: "changed", priority: -100 });
    queue.tryTake()?.[Symbol.dispose]();
  }
}

function addRateLimitedForget(queue: WorkQueue<string, string>): void {
  for (const key of keys) {
    queue.addRateLimited(key);
    queue.forget(key);
  }
}

function addAfter(queue: WorkQueue<string, string>): void {
  for (let n = 0; n < keys.length; n++) queue.addAfter(keys[n] ?? "", 60_000 + (n * 7919) % 60_000);
}

const laneOf = (key: string) => key.slice(0, key.indexOf("/"));

const cases: readonly Case[] = [
  { name: "add + take + done", run: addTakeDone },
  { name: "addRateLimited + forget", run: addRateLimitedForget },
  { name: "addAfter", run: addAfter },
  { name: "add all, then take + done all", run: addAllTakeAll },
  { name: "add + await take + done", run: addAwaitTakeDone },
  { name: "add with cause and priority + take + done", run: addWithCause },
  { name: "add all, take all, a lane per namespace", run: addAllTakeAll, options: { laneOf } },
  { name: "add + take + done, a lane per namespace", run: addTakeDone, options: { laneOf } },
  {
    name: "add + take + done, with metrics",
    run: addTakeDone,
    options: { metrics: queueMetrics(new MetricsRegistry(), { name: "bench" }) },
  },
];

async function measure(one: Case, rounds: number): Promise<readonly number[]> {
  const rates: number[] = [];
  for (let round = -1; round < rounds; round++) {
    using queue = new WorkQueue<string, string>({ name: "bench", ...one.options });
    const startedAt = performance.now();
    await one.run(queue);
    const elapsedMs = performance.now() - startedAt;
    if (round >= 0) rates.push(keys.length / elapsedMs / 1000);
  }
  return rates.sort((a, b) => a - b);
}

const rounds = Number(process.argv[2] ?? 9);
console.log(`${"million operations per second".padEnd(44)}     min  median`);
for (const one of cases) {
  const rates = await measure(one, rounds);
  const median = rates[Math.floor(rates.length / 2)] ?? NaN;
  console.log(`${one.name.padEnd(44)} ${(rates[0] ?? NaN).toFixed(2).padStart(7)} ${median.toFixed(2).padStart(7)}`);
}
