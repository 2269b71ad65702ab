import { assertEquals, test } from "../../tests/testing.ts";
import { objectKey } from "../api/mod.ts";
import { VirtualClock } from "../async/mod.ts";
import { DebouncedKeys } from "./_debounced_keys.ts";
import type { Cause } from "./request.ts";

const key = objectKey({ namespace: "default", name: "a" });
const debounce = { debounceMs: 500, maxMs: 2_000 };

function cause(name: string): Cause {
  return { source: "configmaps", change: "updated", key: name };
}

/** The keys that come, and when; `at` is milliseconds since the start. */
function start() {
  const clock = new VirtualClock();
  const startedAt = clock.monotonic();
  const added: { readonly at: number; readonly causes: readonly string[] }[] = [];
  const keys = new DebouncedKeys(clock, (_key, causes) => {
    added.push({ at: clock.monotonic() - startedAt, causes: causes.map((one) => one.key) });
  });
  return { clock, keys, added };
}

test("a key comes when its changes have stopped, with their causes", async () => {
  const { clock, keys, added } = start();
  for (const name of ["one", "two", "three"]) {
    keys.note(key, "configmaps", cause(name), debounce);
    await clock.advance(400);
  }
  await clock.advance(10_000);
  assertEquals(added, [{ at: 1_300, causes: ["one", "two", "three"] }]);
  assertEquals([keys.size, clock.pendingTimers], [0, 0]);
});

test("a key whose changes do not stop comes after the maximum, with the first and the latest causes", async () => {
  const { clock, keys, added } = start();
  for (let index = 0; index < 30; index++) {
    keys.note(key, "configmaps", cause(String(index)), debounce);
    await clock.advance(100);
  }
  assertEquals(added, [{ at: 2_000, causes: ["0", "13", "14", "15", "16", "17", "18", "19"] }]);
});

test("each watch of a key has its own wait, and the end of the controller drops what waits", async () => {
  const { clock, keys, added } = start();
  keys.note(key, "configmaps", cause("one"), debounce);
  await clock.advance(300);
  keys.note(key, "secrets", cause("two"), debounce);
  await clock.advance(200);
  assertEquals(added, [{ at: 500, causes: ["one"] }]);
  keys[Symbol.dispose]();
  await clock.advance(10_000);
  assertEquals([added.length, clock.pendingTimers], [1, 0]);
});
