/**
 * Micro-benchmark of the in-memory simulation: CPU per schedule of foo, in one process, by the kind of schedule.
 *
 *   deno run -A bench/micro/simulation.ts [rounds] [schedules]
 *   bun bench/micro/simulation.ts [rounds] [schedules]
 *
 * Each round runs the same number of schedules of each kind (default 60), spread over all workloads; no two rounds run the
 * same ones. It prints user and system CPU of the fastest round and of the median, in milliseconds, with those of the
 * compiler and the garbage collector. Two rounds before that warm up.
 */
import process from "node:process";
import { fooController, fooWorkloads } from "../../src/controllers/foo/mod.ts";
import { muteLogging } from "../../src/observe/mod.ts";
import { type PlannedSchedule, ScheduleChecker, singleFaults, stormsOf } from "../../src/simulation/mod.ts";
import { faultKinds } from "../../src/simulation/mod.ts";

const rounds = Number(process.argv[2] ?? 9);
const schedulesPerRound = Number(process.argv[3] ?? 60);
const warmUpRounds = 2;
const kinds = new Set(faultKinds);
const checker = new ScheduleChecker(fooController, fooWorkloads);

/** The schedules of a round, by kind. */
type Round = ReadonlyMap<string, readonly PlannedSchedule[]>;

/** Every single fault, of all workloads. */
async function allSingles(): Promise<readonly PlannedSchedule[]> {
  const found: PlannedSchedule[] = [];
  for (const { name: workload } of fooWorkloads) {
    const reference = await checker.reference(workload, { replicas: 1 });
    for (const fault of singleFaults({ ...reference, replicas: 1 }, kinds)) {
      found.push({ workload, plan: { faults: [fault] }, seed: 1, replicas: 1 });
    }
  }
  return found;
}

async function storms(replicas: number, firstSeed: number): Promise<readonly PlannedSchedule[]> {
  const found: PlannedSchedule[] = [];
  for (let index = 0; index < schedulesPerRound; index++) {
    const workload = fooWorkloads[index % fooWorkloads.length]?.name ?? "";
    const reference = await checker.reference(workload, { replicas });
    const seed = firstSeed + index;
    found.push({ workload, plan: stormsOf({ ...reference, replicas }, kinds)(seed), seed, replicas });
  }
  return found;
}

async function planRound(round: number, singles: readonly PlannedSchedule[]): Promise<Round> {
  const total = rounds + warmUpRounds;
  const own = singles.filter((_, index) => index % total === round);
  const step = Math.max(1, own.length / schedulesPerRound);
  return new Map([
    ["single faults", own.filter((_, index) => Math.floor(index / step) !== Math.floor((index - 1) / step))],
    ["storms", await storms(1, 1 + round * schedulesPerRound)],
    ["storms, two replicas", await storms(2, 1 + round * schedulesPerRound)],
  ]);
}

/** CPU of each schedule, in milliseconds. */
async function measure(schedules: readonly PlannedSchedule[]): Promise<number> {
  const before = process.cpuUsage();
  for (const schedule of schedules) {
    const { violations } = await checker.check(schedule);
    if (violations.length > 0) throw new Error(`Cannot measure: ${JSON.stringify({ schedule, violations })}`);
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 / schedules.length;
}

using _muted = muteLogging();
const times = new Map<string, number[]>();
const singles = await allSingles();
for (let round = 0; round < rounds + warmUpRounds; round++) {
  for (const [kind, schedules] of await planRound(round, singles)) {
    const time = await measure(schedules);
    if (round >= warmUpRounds) times.set(kind, [...times.get(kind) ?? [], time]);
  }
}
for (const [kind, all] of times) {
  const sorted = all.toSorted((one, other) => one - other);
  const [fastest = 0, median = 0] = [sorted[0], sorted[Math.floor(sorted.length / 2)]];
  console.log(`${kind.padEnd(22)} ${fastest.toFixed(2).padStart(7)} ms, median ${median.toFixed(2).padStart(7)} ms`);
}
