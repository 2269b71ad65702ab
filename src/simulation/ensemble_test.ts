/** That how many play, and how well, changes nothing but the time. */
import { assert, assertEquals, test } from "../../tests/testing.ts";
import { careless, churn } from "./_careful_rig.ts";
import { playTogether } from "./_ensemble.ts";
import type { Fault } from "./fault_plan.ts";
import { type PlannedSchedule, type Play, Player } from "./player.ts";
import { simulate } from "./simulate.ts";

const ten = Array.from({ length: 10 }, (_, seed) => ({ workload: "w", plan: { faults: [] }, seed, replicas: 1 }));

/** What is wrong is the seed. */
const tells = ({ seed }: PlannedSchedule) => [{ invariant: "rest", message: String(seed) }] as const;

async function together(play: Play, helpers: readonly Play[]): Promise<readonly string[]> {
  const told: string[] = [];
  for await (const { violations } of playTogether(ten, play, helpers)) {
    told.push(...violations.map((one) => one.message));
  }
  return told;
}

test("schedules that several play come out in order, each once, whoever is slow", async () => {
  const seen: number[] = [];
  const after = (turns: number): Play => async (schedule) => {
    for (let turn = 0; turn < turns; turn++) await Promise.resolve();
    seen.push(schedule.seed);
    return tells(schedule);
  };
  const here: Play = () => Promise.reject(new Error("there is enough help"));
  for (const [one, other] of [[1, 100], [100, 1], [3, 3]] as const) {
    seen.length = 0;
    assertEquals(await together(here, [after(one), after(other)]), ten.map(({ seed }) => String(seed)));
    assertEquals(seen.toSorted((left, right) => left - right), ten.map(({ seed }) => seed));
    assertEquals(seen.some((seed, index) => seed !== index), one !== other);
  }
});

test("what a helper that fails was about to play is played here", async () => {
  const failing: Play = () => Promise.reject(new Error("Cannot ask process: it has ended"));
  const here = (schedule: PlannedSchedule) => Promise.resolve(tells(schedule));
  assertEquals(await together(here, [failing, failing]), ten.map(({ seed }) => String(seed)));
});

test("a simulation finds the same with helpers as without", async () => {
  const kinds = new Set<Fault["kind"]>(["crash", "event"]);
  const options = { controller: careless, workloads: [churn], kinds, storms: 40, mostFindings: 2 };
  const another = new Player(careless, [churn]);
  let asked = 0;
  // As through a pipe: what it says was text once.
  const helper: Play = async (schedule) => {
    asked++;
    return JSON.parse(JSON.stringify(await another.play(JSON.parse(JSON.stringify(schedule)))));
  };
  const alone = await simulate(options);
  assertEquals(await simulate({ ...options, helpers: () => [helper] }), alone);
  assert(asked > 0);
  assert(alone.findings.length > 0);
});
