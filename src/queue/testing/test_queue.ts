/** A WorkQueue on a virtual clock, and shortcuts for taking from it. */
import { assert } from "../../../tests/testing.ts";
import { VirtualClock } from "../../async/mod.ts";
import { type QueueItem, WorkQueue, type WorkQueueOptions } from "../mod.ts";

/** A signal that is never aborted. */
export const never = new AbortController().signal;

/** A queue on a virtual clock. */
export function make(options: Partial<WorkQueueOptions<string, string>> = {}) {
  const clock = new VirtualClock();
  return { clock, queue: new WorkQueue<string, string>({ name: "test", clock, ...options }) };
}

/** Takes the next key; there must be one. */
export function taken(queue: WorkQueue<string, string>): QueueItem<string, string> {
  const item = queue.tryTake();
  assert(item !== undefined, "expected a key to be queued");
  return item;
}

/** Takes and ends runs until no key is queued. @returns the keys in the order of the takes */
export function takeAll(queue: WorkQueue<string, string>): string[] {
  const keys: string[] = [];
  for (let item = queue.tryTake(); item !== undefined; item = queue.tryTake()) {
    keys.push(item.key);
    item[Symbol.dispose]();
  }
  return keys;
}
