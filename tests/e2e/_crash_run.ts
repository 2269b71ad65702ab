/**
 * One run of a workload on the real control plane, with or without a crash, and its verdict, as simulate() does it in
 * memory. A run without a crash gives the expected state after each step; a run with a crash must reach the same state.
 */
import type { Workload, WorkloadStep } from "../../src/manager/mod.ts";
import { differingKeys } from "../../src/simulation/mod.ts";
import { type ControlPlane, until } from "../controlplane/mod.ts";
import { type CrashKey, type CrashPoint, CrashProcess } from "./_crash_process.ts";
import { CrashEnvironment, type CrashKind, type Fields } from "./_crash_environment.ts";

/** A controller and its workloads. */
export interface CrashSubject {
  readonly name: string;
  readonly kinds: readonly CrashKind[];
  /** False if its kinds are cluster-scoped: then only one of its runs uses the cluster at a time. */
  readonly isNamespaced: boolean;
}

/** The result of a run. */
export interface CrashRecord {
  /** The state after each step, when everything had settled. */
  readonly stages: readonly Fields[];
  readonly lives: ReadonlyMap<string, string>;
  readonly outcomes: readonly string[];
  /** The number of counted writes of the operator. */
  readonly writes: number;
  /** Differences from the expected run; empty if there are none. */
  readonly violations: readonly string[];
}

interface RunOptions {
  readonly controlPlane: ControlPlane;
  readonly subject: CrashSubject;
  readonly workload: Workload;
}

/**
 * A run without a crash has no expected state to wait for: it has settled after this time without a change, when the process
 * has no work that can change something. It counts in observations, too, which take longer on a slow machine, as the work of
 * the control plane does.
 */
const [learnQuietMs, learnObservations] = [1_000, 5];
/** As long as this without a crash and without a write, in the expected state: the write of the crash point does not come. */
const missedMs = 10_000;
/** Time to wait for unexpected writes after the expected state was reached. */
const quietMs = 500;
const mostTold = 5;

/** Runs a workload without a crash. */
export async function learn(options: RunOptions): Promise<CrashRecord> {
  return await played(options, undefined, async ({ site, process }) => {
    let last: Fields = new Map();
    let [since, same, changedKeys] = [performance.now(), 0, await process.keys()];
    return await until("see everything settle", async () => {
      process.assertRuns();
      const fields = await site.fields();
      const isMoving = differingKeys(fields, last).length > 0 || await site.isCollecting();
      const keys = await process.keys();
      same++;
      if (isMoving) [last, since, same, changedKeys] = [fields, performance.now(), 0, keys];
      const quietForMs = performance.now() - since;
      const busy = keys.filter((key) => !isTriedSince(key, changedKeys));
      const isQuiet = quietForMs >= learnQuietMs && same >= learnObservations;
      if (isQuiet && busy.length === 0) return { kind: "found", value: fields };
      const state = `${fields.size} fields had been the same for ${quietForMs} ms, work: ${JSON.stringify(busy)}`;
      return { kind: "pending", state };
    }, { everyMs: 200 });
  });
}

/**
 * Runs a workload with a crash.
 *
 * @param expected the result without one
 * @returns its differences; undefined if the write of the crash point did not come: the number of writes varies, because
 * changes that come together are handled together
 */
export async function crash(
  options: RunOptions,
  point: CrashPoint,
  expected: readonly [CrashRecord, ...CrashRecord[]],
): Promise<readonly string[] | undefined> {
  const [{ stages, outcomes }] = expected;
  let isMissed = false;
  const record = await played(options, point, async ({ site, process }, step) => {
    const stage = (of: CrashRecord): Fields => of.stages[step] ?? new Map();
    let [since, writes] = [performance.now(), process.writes];
    return await until(`see what is there after step ${step + 1} without a crash`, async () => {
      process.assertRuns();
      const fields = await site.fields();
      const wrong = differences(fields, expected.map(stage));
      const isBack = !process.isDown && (process.isAgain || step < stages.length - 2);
      if (wrong.length === 0 && isBack) return { kind: "found", value: fields };
      const isWaiting = wrong.length === 0 && !process.isDown && writes === process.writes;
      if (!isWaiting) [since, writes] = [performance.now(), process.writes];
      isMissed = isWaiting && performance.now() - since >= missedMs;
      if (isMissed) return { kind: "found", value: fields };
      const state = wrong.length === 0 ? "the process had not ended and started again" : wrong.join("; ");
      return { kind: "pending", state };
    }, { everyMs: 100 });
  });
  if (isMissed) return undefined;
  const end = (of: CrashRecord): Fields => of.stages.at(-1) ?? new Map();
  const wrongLives = differences(record.lives, expected.map((one) => one.lives));
  if (record.violations.length > 0) return [...record.violations, ...wrongLives];
  const isOutcomeSame = record.outcomes.join() === outcomes.join();
  return [
    ...differences(end(record), expected.map(end)).map((one) => `end state: ${one}`),
    ...wrongLives.map((one) => `lives: ${one}`),
    ...(isOutcomeSame ? [] : [`the steps were ${record.outcomes.join()}, not ${outcomes.join()}`]),
  ];
}

/**
 * True for a key that is not reconciled now and changes nothing if it is: its reconcile has failed after the last change. A
 * key may fail for ever, each time after a longer delay, so a quiet time says nothing.
 */
function isTriedSince({ key, state, retries }: CrashKey, changedKeys: readonly CrashKey[]): boolean {
  if (state === "queued" || state === "running") return false;
  const before = changedKeys.find((one) => one.key === key);
  if (retries === 0 || before === undefined) return true;
  // What ran at the change may have read what was before it.
  return retries > before.retries + (before.state === "running" ? 1 : 0);
}

interface Scene {
  readonly site: CrashEnvironment;
  readonly process: CrashProcess;
}

type Settle = (scene: Scene, step: number) => Promise<Fields>;

async function played(
  { controlPlane, subject, workload }: RunOptions,
  point: CrashPoint | undefined,
  settle: Settle,
): Promise<CrashRecord> {
  await using site = await CrashEnvironment.open(controlPlane, subject);
  const scope = site.namespace === undefined ? [] : ["--namespace", site.namespace];
  await using process = await CrashProcess.start(controlPlane, ["run", subject.name, ...scope], point);
  await process.works();
  const stages: Fields[] = [];
  const violations: string[] = [];
  try {
    for (const [index, step] of playable(workload).entries()) {
      await site.perform(step);
      if (step.atOnce === true) stages.push(new Map());
      else stages.push(await settle({ site, process }, index));
    }
    await process.works();
    await process.quiet(quietMs);
    stages.push(await site.fields());
  } catch (error) {
    violations.push(String(error));
  }
  return { stages, lives: await site.lives(), outcomes: site.outcomes, writes: process.writes, violations };
}

/** Runs the steps of the workload, as a user would. */
function playable({ steps }: Workload): readonly Exclude<WorkloadStep, { kind: "stop" | "advance" }>[] {
  return steps.filter((step) => step.kind !== "stop" && step.kind !== "advance");
}

/** The differences from the expected state, without fields that differ between runs without a crash. */
function differences(now: Fields, expected: readonly Fields[]): readonly string[] {
  const [wanted = new Map(), ...others] = expected;
  const masked = new Set(others.flatMap((other) => differingKeys(wanted, other)));
  return differingKeys(now, wanted)
    .filter((key) => !masked.has(key))
    .slice(0, mostTold)
    .map((key) => `${key} is ${now.get(key) ?? "not there"}, without a crash ${wanted.get(key) ?? "not there"}`);
}
