/** Tests of /debug/keys and /debug/controllers: what the keys of all queues wait for, and what the controllers did. */
import { assert, assertEquals, test } from "../../../tests/testing.ts";
import { builtin } from "../../api/mod.ts";
import { controller, done, requeueAfter, TerminalError } from "../../controller/mod.ts";
import { Recording } from "../../observe/mod.ts";
import type { ServeHandler } from "../../runtime/mod.ts";
import { createTestManager, namespace } from "../testing/test_manager.ts";
import type { KeyState } from "./key_states.ts";
import { endpointOf, get } from "./testing/test_endpoint.ts";

/** The JSON of an answer. */
async function ask(handler: ServeHandler, path: string) {
  const response = await get(handler, path);
  assertEquals(response.status, 200, path);
  return await response.json();
}

/** A controller whose keys end in different states, by their names. */
function odd(name = "odd") {
  return controller(name, { maxConcurrentReconciles: 4, maxRetries: 2 }).for(builtin.Namespace)
    .reconcile(({ object: { metadata } }) => {
      if (metadata.name === "bad") throw new Error("Cannot make a Pod: no quota for password=hunter2hunter2");
      if (metadata.name === "worse") throw new TerminalError("it cannot work");
      return Promise.resolve(metadata.name === "later" ? requeueAfter(60_000) : done);
    });
}

test("[130] the keys of each state are listed with their error and their next retry", async () => {
  await using test = createTestManager([odd()]);
  for (const name of ["good", "bad", "worse", "later"]) test.cluster.put(`/api/v1/namespaces/${name}`, namespace(name));
  void test.start();
  const handler = endpointOf(test, new Recording({ now: () => 0 }));
  await test.until(() => test.manager.retrying().length === 1 && test.manager.isIdle());
  const keysIn = async (query: string) =>
    (await ask(handler, `/debug/keys?${query}`)).keys.map(({ key, state }: KeyState) => `${key} ${state}`);
  assertEquals(await keysIn("state=failing"), ["bad waiting", "worse stopped"]);
  assertEquals(await keysIn("state=stopped"), ["worse stopped"]);
  assertEquals(await keysIn("state=waiting"), ["bad waiting", "later waiting"]);
  assertEquals(await keysIn("state=delayed"), ["later waiting"]);
  assertEquals(await keysIn("state=delayed&state=stopped"), ["later waiting", "worse stopped"]);
  assertEquals(await keysIn("state=parked"), []);
  assertEquals(await keysIn(""), ["bad waiting", "later waiting", "worse stopped"]);
  const { keys: [bad, later, worse], now } = await ask(handler, "/debug/keys");
  assertEquals([bad.retries, bad.reason.startsWith("Cannot make a Pod: no quota"), bad.nextAt > now], [1, true, true]);
  assert(!bad.reason.includes("hunter2hunter2"), bad.reason);
  assertEquals([later.nextAt - now, later.retries, worse.reason], [60_000, 0, "it cannot work"]);
  await test.clock.advance(60_000);
  await test.until(() => test.manager.retrying().length === 0);
  assertEquals(await keysIn("state=failing"), ["bad stopped", "worse stopped"], "after its last retry");
  test.cluster.remove("/api/v1/namespaces/worse");
  await test.until(() => test.manager.isIdle());
  assertEquals(await keysIn("state=stopped"), ["bad stopped"]);
});

test("[130] the keys come in pages, each key once, and odd questions are refused", async () => {
  await using test = createTestManager([odd("two"), odd("one")]);
  const names = Array.from({ length: 7 }, (_, index) => `later${index}`);
  for (const name of names) test.cluster.put(`/api/v1/namespaces/${name}`, namespace(name));
  const slow = controller("slow").for(builtin.Namespace).reconcile(() => Promise.resolve(requeueAfter(1_000)));
  test.manager.add(slow);
  void test.start();
  const handler = endpointOf(test, new Recording({ now: () => 0 }));
  await test.until(() => test.manager.isIdle());
  const found: string[] = [];
  let next: string | undefined;
  do {
    const query: string = next === undefined ? "" : `&continue=${next}`;
    const page = await ask(handler, `/debug/keys?state=waiting&limit=3${query}`);
    found.push(...page.keys.map(({ controller, key }: KeyState) => `${controller} ${key}`));
    assertEquals(page.remaining, 7 - found.length);
    assertEquals(page.isComplete, page.continue === undefined);
    next = page.continue;
  } while (next !== undefined);
  assertEquals(found, names.map((name) => `slow ${name}`));
  for (
    const query of [
      "state=odd",
      "state=",
      "limit=0",
      "limit=1001",
      "limit=1.5",
      "limit=many",
      "continue=",
      "continue=%00",
      "continue=WzEsMl0",
      `continue=${"a".repeat(5_000)}`,
    ]
  ) assertEquals((await get(handler, `/debug/keys?${query}`)).status, 400, query);
});

test("[130] /debug/controllers counts reconciles, failures and durations, and shows the backlog by lane", async () => {
  const gate = Promise.withResolvers<void>();
  const gated = controller("gated", { maxConcurrentReconciles: 1 }).for(builtin.ConfigMap).reconcile(async (ctx) => {
    if (ctx.object.metadata.name === "first") await gate.promise;
    if (ctx.object.metadata.name === "bad") throw new TerminalError("it is odd");
    return done;
  });
  await using test = createTestManager([gated]);
  const put = (name: string, space: string) =>
    test.cluster.put(`/api/v1/namespaces/${space}/configmaps/${name}`, {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name, namespace: space },
    });
  put("first", "a");
  void test.start();
  const handler = endpointOf(test, new Recording({ now: () => 0 }));
  const state = async () => (await ask(handler, "/debug/controllers")).controllers[0];
  await test.until(() => test.manager.activity()[0]?.running === 1);
  put("second", "a");
  await test.clock.advance(500);
  put("third", "b");
  put("bad", "b");
  await test.until(() => test.manager.activity()[0]?.queued === 3);
  await test.clock.advance(500);
  const { workers, busyWorkers, queued, lanes, laneCount, oldest, lagSeconds, problems } = await state();
  assertEquals([workers, busyWorkers, queued, laneCount, lagSeconds, problems], [1, 1, 3, 2, 0.5, []]);
  assertEquals(lanes, [{ lane: "b", queued: 2 }, { lane: "a", queued: 1 }]);
  assertEquals([oldest.key, oldest.lane, test.clock.now() - oldest.addedAt], ["a/second", "a", 1_000]);
  gate.resolve();
  await test.until(() => test.manager.isIdle());
  const { durationBoundsMs, controllers: [after] } = await ask(handler, "/debug/controllers");
  assertEquals([after.reconciles, after.failures, after.failing, after.busyWorkers], [4, 1, 1, 0]);
  const longest = after.durations.findLastIndex((count: number) => count > 0);
  assertEquals([after.durations[0], after.durations[longest]], [3, 1]);
  assert(durationBoundsMs[longest - 1] < 1_000 && durationBoundsMs[longest] >= 1_000, `${durationBoundsMs[longest]}`);
  assertEquals(after.durations.length, durationBoundsMs.length + 1);
});
