/** That each kind of fault does happen, and that a controller that can live with it is not blamed. */
import { assert, assertEquals, assertMatch, test } from "../../tests/testing.ts";
import { careful, churn } from "./_careful_rig.ts";
import { judge, learnReference } from "./_reference.ts";
import type { Fault } from "./fault_plan.ts";
import { runSchedule } from "./schedule.ts";

const faults: readonly (readonly [fault: Fault, shows: RegExp])[] = [
  [{ kind: "crash", write: 1, moment: "before", downMs: 1_000 }, /the process ends\n.*operator 2 {2,}starts/],
  [{ kind: "crash", write: 1, moment: "committed", downMs: 1_000 }, /write 1: 201\)\n.*the process ends/],
  [{ kind: "crash", write: 1, moment: "answered", downMs: 1_000 }, /write 1: 201\)\n(.*\n)*.*the process ends/],
  [{ kind: "stale", step: 3, back: 4, thawMs: 20_000 }, /restart on a server that lags/],
  [{ kind: "stale", step: 3, back: 2, thawMs: 20_000, only: "configmaps" }, /lags @\d+ {2}\(configmaps\)/],
  [
    { kind: "stale", step: 1, back: 2, thawMs: 20_000, only: "configmaps", early: true },
    /lags .*\n.*starts\n.*delete Secret team/,
  ],
  [{ kind: "answer", of: "write", request: 1, code: 409 }, /answer at write 1/],
  [{ kind: "answer", of: "write", request: 2, code: 504, committed: true }, /answer at write 2/],
  [{ kind: "answer", of: "read", request: 1, code: 410 }, /read 1 gets 410/],
  [{ kind: "reset", write: 2, committed: false }, /reset at write 2/],
  [{ kind: "reset", write: 2, committed: true }, /reset at write 2\)\n.*write 2: 201/],
  [{ kind: "slow", write: 1, forMs: 20_000 }, /slow at write 1/],
  [{ kind: "event", event: 1, action: "stall", forMs: 5_000 }, /stall at event 1/],
  [{ kind: "event", event: 1, action: "merge", forMs: 5_000 }, /merge at event 1/],
  [{ kind: "event", event: 2, action: "duplicate", forMs: 0 }, /duplicate at event 2/],
  [{ kind: "event", event: 2, action: "cut", forMs: 0 }, /cut at event 2\)\n(.*\n)*.*WATCH/],
  [{ kind: "event", event: 2, action: "corrupt", forMs: 0 }, /corrupt at event 2\)\n(.*\n)*.*WATCH/],
  [{ kind: "event", event: 2, action: "gone", forMs: 0 }, /gone at event 2\)\n(.*\n)*.*WATCH/],
  [{ kind: "event", event: 2, action: "error", forMs: 0 }, /error at event 2\)\n(.*\n)*.*WATCH/],
  [{ kind: "partition", write: 1, forMs: 20_000 }, /unreachable/],
  [{ kind: "actor", write: 1, act: "delete" }, /somebody {2,}delete .*hello/],
  [{ kind: "actor", write: 1, act: "edit" }, /actor at write 1/],
  [{ kind: "actor", write: 1, act: "replace" }, /puts an object of their own .*\n(.*\n)*.*deletes .*hello again/],
  [{ kind: "actor", write: 1, act: "takeover" }, /takes over .*hello.*\n(.*\n)*.*gives .*hello back/],
  [
    { kind: "crash", write: 1, moment: "before", downMs: 1_000, again: "committed" },
    /write 2: 201\)\n(.*\n)*.*operator 3/,
  ],
  [{ kind: "skew", step: 2, byMs: -3_600_000 }, /the wall clock jumps by -3600000 ms/],
  [{ kind: "skew", step: 2, byMs: 0, rate: 5, forMs: 60_000 }, /the wall clock runs 5 times as fast/],
  [
    { kind: "pause", of: "write", request: 1, forMs: 20_000 },
    /pause at write 1\)\n.*operator 1 {2,}goes on\n.*write 1: 201/,
  ],
];

for (const [fault, shows] of faults) {
  test(`a careful controller lives with ${JSON.stringify(fault)}`, async () => {
    const base = { controllers: [careful], workload: churn };
    const plan = { faults: [fault] };
    const result = await runSchedule({ ...base, plan });
    assertMatch(result.trace.timeline(), shows);
    assertEquals(judge(await learnReference(base), result, plan), []);
  });
}

const ofElections: readonly (readonly [fault: Fault, shows: RegExp])[] = [
  [{ kind: "lease", write: 2 }, /lease at write 2/],
  [{ kind: "renewal", renewal: 2, committed: false, forMs: 12_000 }, /renewal at renewal 2/],
  [{ kind: "renewal", renewal: 2, committed: true, forMs: 12_000 }, /renewal at renewal 2/],
  [{ kind: "pause", of: "renewal", request: 2, forMs: 20_000 }, /pause at renewal 2\)\n(.*\n)*.*goes on/],
  [
    { kind: "pause", of: "write", request: 2, forMs: 20_000 },
    /pause at write 2\)\n(.*\n)*.*operator 1 {2,}PATCH .*\n(.*\n)*.*goes on/,
  ],
  [
    { kind: "pause", of: "write", request: 2, forMs: 20_000, wallByMs: -3_600_000 },
    /goes on\n.*operator 2 {2,}ends/,
  ],
];

for (const [fault, shows] of ofElections) {
  test(`of two replicas never two write at once, and the work is done, with ${JSON.stringify(fault)}`, async () => {
    const base = { controllers: [careful], workload: churn, replicas: 2 };
    const plan = { faults: [fault] };
    const result = await runSchedule({ ...base, plan });
    assertMatch(result.trace.timeline(), shows);
    assertEquals(judge(await learnReference(base), result, plan), []);
  });
}

test("a step can come in the middle of what a controller does", async () => {
  const [create, remove] = churn.steps;
  assert(create !== undefined && remove !== undefined);
  const workload = { name: "in the middle", steps: [{ ...create, untilWrites: 1 }, remove] };
  const { trace, violations } = await runSchedule({ controllers: [careful], workload });
  assertMatch(trace.timeline(), /write 1: 201\)\n(.*(event|WATCH).*\n)*.*delete Secret team\n(.*\n)*.*DELETE .*hello/);
  assertEquals(violations, []);
});

test("the process that stops while somebody deletes what it owns puts all right when it starts", async () => {
  const [create, remove, again] = churn.steps;
  assert(create !== undefined && remove !== undefined && again !== undefined);
  const workload = { name: "down", steps: [create, { kind: "stop" } as const, { ...remove, atOnce: true }, again] };
  const { violations, summary } = await runSchedule({ controllers: [careful], workload });
  assertEquals(violations, []);
  assertEquals(summary.outcomes, ["done", "done", "done"]);
  assertEquals(summary.fields.get("configmaps default/welcome .data.text"), '"welcome"');
});
