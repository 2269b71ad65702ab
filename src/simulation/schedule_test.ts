/** Tests that each kind of fault happens, and that no violation is reported for a correct controller. */
import { assert, assertEquals, assertMatch, test } from "../../tests/testing.ts";
import { builtin } from "../api/mod.ts";
import { controller, manifest, requeueAfter } from "../controller/mod.ts";
import { baselineOf } from "./_baseline.ts";
import type { Fault } from "./fault_plan.ts";
import { recordSchedule } from "./recorded_schedule.ts";
import { compareWithReference } from "./reference.ts";
import { type RetryingProcess, RetryTracker } from "./_pending_keys.ts";
import { runSchedule } from "./schedule.ts";
import { learnReference } from "./schedule_checker.ts";
import { summaryOf } from "./summary.ts";
import { timelineOf } from "./timeline.ts";
import { correct, recreateWorkload } from "./testing/sample_controllers.ts";

const faults: readonly (readonly [fault: Fault, shows: RegExp])[] = [
  [{ kind: "crash", write: 1, moment: "before", downMs: 1_000 }, /the process is killed\n.*operator 2 {2,}starts/],
  [{ kind: "crash", write: 1, moment: "committed", downMs: 1_000 }, /write 1: 201\)\n.*the process is killed/],
  [{ kind: "crash", write: 1, moment: "answered", downMs: 1_000 }, /write 1: 201\)\n(.*\n)*.*the process is killed/],
  [{ kind: "stale", step: 3, back: 4, thawMs: 20_000 }, /restart on a stale server/],
  [{ kind: "stale", step: 3, back: 2, thawMs: 20_000, only: "configmaps" }, /stale server @\d+ {2}\(configmaps\)/],
  [
    { kind: "stale", step: 1, back: 2, thawMs: 20_000, only: "configmaps", early: true },
    /stale server .*\n.*starts\n.*delete Secret team/,
  ],
  [{ kind: "restart", step: 1 }, /the process is killed\n.*operator 2 {2,}starts/],
  [{ kind: "restart", step: 2, down: true }, /the process is killed\n.*delete Secret team\n.*operator 2 {2,}starts/],
  [
    { kind: "restart", step: 1, deletes: 1 },
    /the process is killed\n.*delete .*hello.*\n.*operator 2 {2,}starts/,
  ],
  [{ kind: "answer", of: "write", request: 1, code: 409 }, /response 409 to write 1\)/],
  [
    { kind: "answer", of: "write", request: 2, code: 504, committed: true },
    /response 504 to write 2, which was executed/,
  ],
  [{ kind: "answer", of: "read", request: 1, code: 410 }, /read 1 gets 410/],
  [{ kind: "reset", write: 2, committed: false }, /connection reset before write 2/],
  [{ kind: "reset", write: 2, committed: true }, /connection reset after write 2\)\n.*write 2: 201/],
  [{ kind: "slow", write: 1, forMs: 20_000 }, /write 1 takes 20000 ms/],
  [{ kind: "event", event: 1, action: "stall", forMs: 5_000 }, /stall at watch event 1/],
  [{ kind: "event", event: 1, action: "merge", forMs: 5_000 }, /merge at watch event 1/],
  [{ kind: "event", event: 2, action: "duplicate", forMs: 0 }, /duplicate at watch event 2/],
  [{ kind: "event", event: 2, action: "cut", forMs: 0 }, /cut at watch event 2\)\n(.*\n)*.*WATCH/],
  [{ kind: "event", event: 2, action: "corrupt", forMs: 0 }, /corrupt at watch event 2\)\n(.*\n)*.*WATCH/],
  [{ kind: "event", event: 2, action: "gone", forMs: 0 }, /gone at watch event 2\)\n(.*\n)*.*WATCH/],
  [{ kind: "event", event: 2, action: "error", forMs: 0 }, /error at watch event 2\)\n(.*\n)*.*WATCH/],
  [{ kind: "partition", write: 1, forMs: 20_000 }, /unreachable/],
  [{ kind: "actor", write: 1, act: "delete" }, /user {2,}delete .*hello/],
  [{ kind: "actor", write: 1, act: "edit" }, /a user edits the object of write 1/],
  [
    { kind: "actor", write: 1, act: "replace" },
    /replaces .*hello with a foreign object.*\n(.*\n)*.*deletes the foreign object .*hello/,
  ],
  [
    { kind: "actor", write: 1, act: "takeover" },
    /changes the owner of .*hello.*\n(.*\n)*.*restores the owner of .*hello/,
  ],
  [
    { kind: "crash", write: 1, moment: "before", downMs: 1_000, again: "committed" },
    /write 2: 201\)\n(.*\n)*.*operator 3/,
  ],
  [{ kind: "skew", step: 2, byMs: -3_600_000 }, /the wall clock jumps by -3600000 ms/],
  [{ kind: "skew", step: 2, byMs: 0, rate: 5, forMs: 60_000 }, /the wall clock runs 5 times as fast/],
  [
    { kind: "pause", of: "write", request: 1, forMs: 20_000 },
    /process paused for 20000 ms before write 1\)\n.*operator 1 {2,}resumes\n.*write 1: 201/,
  ],
];

for (const [fault, shows] of faults) {
  test(`a correct controller handles ${JSON.stringify(fault)}`, async () => {
    const base = { controllers: [correct], workload: recreateWorkload };
    const plan = { faults: [fault] };
    const result = await recordSchedule({ ...base, plan });
    assertMatch(timelineOf(result.entries), shows);
    assertEquals(compareWithReference(await learnReference(base), result, plan), []);
  });
}

const ofElections: readonly (readonly [fault: Fault, shows: RegExp])[] = [
  [{ kind: "lease", write: 2 }, /Lease deleted before write 2/],
  [{ kind: "renewal", renewal: 2, committed: false, forMs: 12_000 }, /\(renewal 2 takes 12000 ms/],
  [{ kind: "renewal", renewal: 2, committed: true, forMs: 12_000 }, /the response to renewal 2 takes/],
  [
    { kind: "pause", of: "renewal", request: 2, forMs: 20_000 },
    /process paused for 20000 ms before renewal 2\)\n(.*\n)*.*resumes/,
  ],
  [
    { kind: "pause", of: "write", request: 2, forMs: 20_000 },
    /process paused for 20000 ms before write 2\)\n(.*\n)*.*operator 1 {2,}PATCH .*\n(.*\n)*.*resumes/,
  ],
  [
    { kind: "pause", of: "write", request: 2, forMs: 20_000, wallByMs: -3_600_000 },
    /resumes\n.*operator 2 {2,}ends/,
  ],
];

for (const [fault, shows] of ofElections) {
  test(`only the leader of two replicas writes, with ${JSON.stringify(fault)}`, async () => {
    const base = { controllers: [correct], workload: recreateWorkload, replicas: 2 };
    const plan = { faults: [fault] };
    const result = await recordSchedule({ ...base, plan });
    assertMatch(timelineOf(result.entries), shows);
    assertEquals(compareWithReference(await learnReference(base), result, plan), []);
  });
}

test("untilWrites performs the next step while the controller works", async () => {
  const [create, remove] = recreateWorkload.steps;
  assert(create !== undefined && remove !== undefined);
  const workload = { name: "untilWrites", steps: [{ ...create, untilWrites: 1 }, remove] };
  const { entries, violations } = await recordSchedule({ controllers: [correct], workload });
  assertMatch(
    timelineOf(entries),
    /write 1: 201\)\n(.*(event|WATCH).*\n)*.*delete Secret team\n(.*\n)*.*DELETE .*hello/,
  );
  assertEquals(violations, []);
});

test("a process that was stopped while a user deleted its dependents creates them after its start", async () => {
  const [create, remove, again] = recreateWorkload.steps;
  assert(create !== undefined && remove !== undefined && again !== undefined);
  const workload = { name: "stop", steps: [create, { kind: "stop" } as const, { ...remove, atOnce: true }, again] };
  const { violations, outcome } = await runSchedule({ controllers: [correct], workload });
  const summary = summaryOf(outcome);
  assertEquals(violations, []);
  assertEquals(summary.outcomes, ["done", "done", "done"]);
  assertEquals(summary.fields.get("configmaps default/welcome .data.text"), '"welcome"');
});

test("advance lets time pass until the same time in runs with and without faults", async () => {
  const hourly = controller("hourly").for(builtin.Secret).owns(builtin.ConfigMap).reconcile(async (ctx) => {
    const { name = "", namespace } = ctx.object.metadata;
    const hours = Math.floor((ctx.clock.now() - Date.UTC(2026, 0, 1)) / 3_600_000);
    if (hours >= 2) {
      await ctx.apply(manifest(builtin.ConfigMap, { metadata: { name, namespace }, data: { hour: "reached" } }));
    }
    return requeueAfter(3_600_000);
  });
  const object = { apiVersion: "v1", kind: "Secret", metadata: { name: "a", namespace: "default" } };
  const steps = [{ kind: "create", object }, { kind: "advance", toMs: 1.5 * 3_600_000 }] as const;
  const early = { controllers: [hourly], workload: { name: "early", steps } };
  assertEquals(summaryOf((await runSchedule(early)).outcome).fields.get("configmaps default/a .data.hour"), undefined);
  const workload = { name: "late", steps: [...steps, { kind: "advance", toMs: 2.5 * 3_600_000 }] } as const;
  const late = { controllers: [hourly], workload };
  const plan = { faults: [{ kind: "crash", write: 1, moment: "before", downMs: 1_000 }] } as const;
  for (const faults of [undefined, plan]) {
    const { entries, outcome, totals } = await recordSchedule({ ...late, plan: faults });
    assertEquals(summaryOf(outcome).fields.get("configmaps default/a .data.hour"), '"reached"', timelineOf(entries));
    assert(totals.virtualMs >= 2.5 * 3_600_000 && totals.virtualMs < 2.6 * 3_600_000);
  }
});

const never = -Infinity;

function failing(retries: number): RetryingProcess {
  return { id: 1, manager: { retrying: () => [{ controller: "c", key: "default/a", retries, error: "no luck" }] } };
}

test("a failed key counts as untried until it was retried once after the last fault", () => {
  const retries = new RetryTracker();
  assertEquals(retries.hasUntried([failing(3)], 1_000, never), false);
  assertEquals(retries.hasUntried([failing(3)], 90_000, 1_000), true);
  assertEquals(retries.hasUntried([failing(4)], 90_001, 1_000), false);
  assertEquals(retries.hasUntried([failing(4)], 90_002, 90_001), true);
  assertEquals(retries.hasUntried([{ id: 1, manager: { retrying: () => [] } }], 90_003, 90_001), false);
});

test("the baseline of a set of controllers is prepared once for many runs", async () => {
  const controllers = [correct];
  const baseline = await baselineOf(controllers, 1);
  for (let run = 0; run < 8; run++) await runSchedule({ controllers, workload: recreateWorkload, seed: 1 });
  assert(await baselineOf(controllers, 1) === baseline, "each run prepared a baseline of its own");
});

const shardFaults: readonly (readonly [fault: Fault, shows: RegExp])[] = [
  [{ kind: "scale", write: 1, by: "join", forMs: 30_000 }, /operator 4 {2,}starts\n(.*\n)*.*operator 4 {2,}leaves/],
  [{ kind: "scale", write: 1, by: "leave", forMs: 30_000 }, /operator \d {2,}leaves\n(.*\n)*.*operator 4 {2,}starts/],
  [
    { kind: "partition", write: 1, forMs: 20_000, only: "leases" },
    /write 1: 201\)\n(.*\n)*.*leases.* {2}\(unreachable\)\n(.*\n)*.*LeaseLostError/,
  ],
];

for (const [fault, shows] of shardFaults) {
  test(`replicas that divide the keys handle ${JSON.stringify(fault)}`, async () => {
    const base = { controllers: [correct], workload: recreateWorkload, replicas: 3, sharded: true };
    const plan = { faults: [fault] };
    const result = await recordSchedule({ ...base, plan });
    assertMatch(timelineOf(result.entries), shows);
    assertEquals(compareWithReference(await learnReference(base), result, plan), []);
    assertEquals(result.totals.faults, 1);
  });
}
