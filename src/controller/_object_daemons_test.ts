/** Tests of ObjectDaemons with slots, which move between replicas. */
import { assertEquals, test } from "../../tests/testing.ts";
import type { KubeObject, ObjectKey } from "../api/mod.ts";
import { seededRandom, VirtualClock } from "../async/mod.ts";
import { Client } from "../client/mod.ts";
import { logger } from "../observe/mod.ts";
import type { DaemonDefinition } from "./daemon.ts";
import { ObjectDaemons } from "./_object_daemons.ts";
import type { Toolbox } from "./toolbox.ts";

const object = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { namespace: "default", name: "a", uid: "1" },
} as KubeObject;

/** Daemons in a slot that can be drained. @param isHere whether this replica has the slot */
function inSlot(
  run: DaemonDefinition["run"],
  options: { readonly isHere?: boolean; readonly live?: KubeObject | undefined } = { live: object },
) {
  const { isHere = true, live } = options;
  const graceMs = 10_000;
  const clock = new VirtualClock();
  const drain = new AbortController();
  const kill = new AbortController();
  const seen = { holds: 0, enqueued: 0 };
  const client = new Client(() => Promise.reject(new Error("offline")));
  const daemons = new ObjectDaemons({
    ...{ definition: { run, options: { graceMs } }, client, clock, random: seededRandom(1), log: logger("test") },
    findPrimary: () => object,
    readLive: () => Promise.resolve(live),
    begin: () => {
      if (!isHere) return undefined;
      seen.holds++;
      return {
        slot: 0,
        signal: drain.signal,
        draining: drain.signal,
        confirm: () => Promise.resolve(true),
        fence: (client) => client,
        [Symbol.dispose]: () => void seen.holds--,
      };
    },
    toolboxFor: (_key, _client, signal) => ({ signal }) as Toolbox,
    enqueue: (_key: ObjectKey) => void seen.enqueued++,
    onFailure: () => {},
    onEvent: () => {},
  }, kill.signal);
  return { daemons, clock, drain, kill, seen };
}

function untilStopped({ signal }: Toolbox): Promise<void> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

test("a daemon holds the slot of its key until it has ended, and ends when the slot is to be given away", async () => {
  const { daemons, clock, drain, seen } = inSlot(untilStopped);
  daemons.ensure(object);
  daemons.ensure(object);
  await clock.advance(1);
  assertEquals([seen.holds, daemons.counts], [1, { running: 1, waiting: 0, stopping: 0 }]);
  drain.abort();
  await clock.advance(1);
  assertEquals([seen, daemons.counts], [{ holds: 0, enqueued: 1 }, { running: 0, waiting: 0, stopping: 0 }]);
});

test("a daemon that ignores its signal keeps the slot for its grace period only", async () => {
  const { daemons, clock, drain, seen } = inSlot(() => new Promise(() => {}));
  daemons.ensure(object);
  drain.abort();
  await clock.advance(9_999);
  assertEquals([seen.holds, daemons.counts.stopping], [1, 1]);
  await clock.advance(1);
  assertEquals([seen.holds, daemons.counts.stopping, clock.pendingTimers], [0, 0, 0]);
});

test("a daemon that has returned is not started again, and does not keep its slot from moving", async () => {
  let starts = 0;
  const { daemons, clock, drain, seen } = inSlot(() => Promise.resolve(void starts++));
  daemons.ensure(object);
  await clock.advance(1);
  daemons.ensure(object);
  await clock.advance(1);
  assertEquals([starts, daemons.counts.running], [1, 0]);
  drain.abort();
  assertEquals(seen.holds, 0);
});

test("no daemon is started for an object that only an old cache has", async () => {
  const isDeleted = { ...object, metadata: { ...object.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } };
  const isAnother = { ...object, metadata: { ...object.metadata, uid: "2" } };
  for (const live of [undefined, isDeleted, isAnother]) {
    let starts = 0;
    const { daemons, clock, seen } = inSlot(() => Promise.resolve(void starts++), { live });
    daemons.ensure(object);
    await clock.advance(1);
    assertEquals([starts, seen], [0, { holds: 0, enqueued: 0 }]);
  }
});

test("a replica that does not have the key starts no daemon", () => {
  const { daemons } = inSlot(untilStopped, { isHere: false });
  daemons.ensure(object);
  assertEquals(daemons.counts.running, 0);
});

test("stop() says how long a daemon has left, and the end of the process ends all", async () => {
  const { daemons, clock, kill, seen } = inSlot(() => new Promise(() => {}));
  const stop = new AbortController();
  const running = daemons.run(stop.signal, kill.signal);
  daemons.ensure(object);
  assertEquals(daemons.stop("default/a" as ObjectKey), 10_000);
  await clock.advance(4_000);
  assertEquals(daemons.stop("default/a" as ObjectKey), 6_000);
  stop.abort();
  await clock.advance(1);
  kill.abort();
  await running;
  assertEquals([seen.holds, daemons.stop("default/a" as ObjectKey), clock.pendingTimers], [0, 0, 0]);
});
