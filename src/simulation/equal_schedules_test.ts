/** Tests that schedules whose check is skipped have the result of those that are checked. */
import { assert, assertEquals, test } from "../../tests/testing.ts";
import { checkDistinct, type CommonRun, effectOf } from "./equal_schedules.ts";
import { singleFaults } from "./fault_points.ts";
import { runSchedule } from "./schedule.ts";
import type { ScheduleResult } from "./schedule_result.ts";
import { correct, recreateWorkload } from "./testing/sample_controllers.ts";

const run: CommonRun = {
  points: { lists: new Map([["configmaps", 1]]) },
  stepRevisions: [2, 5],
  changedCollections: ["secrets", "configmaps", "configmaps", "events", "secrets"],
};

function staleAfter(step: number, back: number, only?: string): string | undefined {
  return effectOf({ kind: "stale", step, back, thawMs: 20_000, only }, run);
}

test("starts on a stale server are equal when they hide the same changes of what is shown", () => {
  assertEquals(staleAfter(2, 1, "configmaps"), staleAfter(2, 2, "configmaps"));
  assert(staleAfter(2, 2, "configmaps") !== staleAfter(2, 3, "configmaps"));
  assertEquals(staleAfter(2, 1), staleAfter(2, 2), "no cache shows Events");
  assert(staleAfter(2, 1) !== staleAfter(2, 3));
  assert(staleAfter(1, 1, "configmaps") !== staleAfter(2, 3, "configmaps"), "after another step");
});

test("Events that a cache lists are shown", () => {
  const listed = { ...run, points: { lists: new Map([["events", 1]]) } };
  const [one, two] = [1, 2].map((back) => effectOf({ kind: "stale", step: 2, back, thawMs: 20_000 }, listed));
  assert(one !== two);
});

test("no start is taken for another one when the changes of the run are not known", () => {
  const unknown = { ...run, changedCollections: [] };
  assertEquals(effectOf({ kind: "stale", step: 2, back: 1, thawMs: 20_000 }, unknown), undefined);
});

/** All that a run shows, as text. */
function textOf(result: ScheduleResult): string {
  return JSON.stringify(result, (_, value) => value instanceof Map || value instanceof Set ? [...value] : value);
}

test("runs of faults with the same effect are equal", async () => {
  const options = { controllers: [correct], workload: recreateWorkload, seed: 1 };
  const first = await runSchedule(options);
  const texts = new Map<string, string>();
  let equal = 0;
  for (const fault of singleFaults({ ...first, replicas: 1 }, new Set(["stale"]))) {
    const text = textOf(await runSchedule({ ...options, plan: { faults: [fault] } }));
    const effect = effectOf(fault, first);
    assert(effect !== undefined);
    const known = texts.get(effect);
    if (known !== undefined) equal++;
    assertEquals(known ?? text, text, effect);
    texts.set(effect, text);
  }
  assert(equal > 0 && texts.size > 1, `${equal} equal runs of ${texts.size} effects`);
});

test("checkDistinct() checks each effect once, and all results come in order", async () => {
  const schedules = [
    { id: 1, effect: "a" },
    { id: 2 },
    { id: 3, effect: "a" },
    { id: 4, effect: "b" },
    { id: 5, effect: "b" },
    { id: 6 },
  ];
  const checked: number[] = [];
  const check = async function* (distinct: Iterable<(typeof schedules)[number]>) {
    for (const schedule of [...distinct]) {
      checked.push(schedule.id);
      yield await Promise.resolve({ schedule, result: `of ${schedule.id}` });
    }
  };
  const results: string[] = [];
  for await (const { schedule, result } of checkDistinct(schedules, check)) results.push(`${schedule.id} ${result}`);
  assertEquals(checked, [1, 2, 4, 6]);
  assertEquals(results, ["1 of 1", "2 of 2", "3 of 1", "4 of 4", "5 of 4", "6 of 6"]);
});
