/** Daemons in runs of replicas that divide the keys: a daemon moves with its slot, and two of an object never run at once. */
import { assert, assertEquals, assertMatch, test } from "../../tests/testing.ts";
import { builtin, type UntypedObject } from "../api/mod.ts";
import { untilAborted } from "../async/mod.ts";
import { controller, type DaemonContext, type DaemonOptions, done } from "../controller/mod.ts";
import { withFactory, type Workload } from "../manager/mod.ts";
import type { Fault } from "./fault_plan.ts";
import { runSchedule } from "./schedule.ts";

const { Secret } = builtin;
type Context = DaemonContext<typeof Secret, typeof Secret>;

const objects = Array.from({ length: 12 }, (_, index): UntypedObject => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: `link-${index}`, namespace: "default" },
}));
const workload: Workload = {
  name: "links",
  steps: objects.map((object) => ({ kind: "create", object, atOnce: true })),
};

/** How often the daemon of each object was started in a run, by UID. */
type Starts = Map<string, number>;

/** A controller with a daemon for each Secret. */
function links(starts: Starts, body: (ctx: Context) => Promise<void>, options?: DaemonOptions) {
  return withFactory(() =>
    controller("links").for(Secret).daemon(async (ctx) => {
      const { uid = "" } = ctx.object.metadata;
      starts.set(uid, (starts.get(uid) ?? 0) + 1);
      await body(ctx);
    }, options).finalize(() => Promise.resolve(done)).reconcile(() => Promise.resolve(done))
  );
}

const untilStopped = async ({ signal }: Context) => {
  await untilAborted(new Promise<never>(() => {}), signal).catch(() => {});
};

async function run(faults: readonly Fault[], ...how: Parameters<typeof links>) {
  const controllers = [links(...how)];
  return await runSchedule({ controllers, workload, replicas: 3, sharded: true, plan: { faults } });
}

const join: Fault = { kind: "scale", write: 12, by: "join", forMs: 30_000 };
const moving: readonly (readonly Fault[])[] = [
  [{ kind: "crash", write: 12, moment: "committed", downMs: Infinity }],
  [{ kind: "crash", write: 12, moment: "committed", downMs: 1_000 }],
  [{ kind: "partition", write: 12, forMs: 20_000 }],
  [{ kind: "partition", write: 12, forMs: 20_000, only: "leases" }],
  [{ kind: "pause", of: "write", request: 12, forMs: 20_000 }],
  [join],
  [{ kind: "scale", write: 12, by: "leave", forMs: 30_000 }],
  [join, { kind: "crash", write: 11, moment: "committed", downMs: 1_000 }],
];

test("without faults each daemon of three replicas starts once", async () => {
  const starts: Starts = new Map();
  assertEquals((await run([], starts, untilStopped)).violations, []);
  assertEquals([...starts.values()], objects.map(() => 1));
});

for (const faults of moving) {
  test(`daemons move with their slots, and two of an object never run at once: ${JSON.stringify(faults)}`, async () => {
    const starts: Starts = new Map();
    assertEquals((await run(faults, starts, untilStopped)).violations, []);
    assertEquals(starts.size, objects.length);
    assert([...starts.values()].some((count) => count > 1), "some have moved");
  });
}

test("a daemon that runs on when its slot has moved is found", async () => {
  const deaf = async ({ clock }: Context) => await clock.sleep(20_000, new AbortController().signal);
  const { violations } = await run([join], new Map(), deaf, { graceMs: 1_000 });
  const pattern = /^default\/link-\d+ has its daemon in process \d and is reconciled in process 4 at the same time$/;
  assertMatch(violations.find(({ invariant }) => invariant === "shards")?.message ?? "none", pattern);
});
