/**
 * One run of a workload on the real control plane, with a crash or without one, and its verdict: what simulate() does in
 * memory. A run without a crash says what is to be expected after each step; a run with one must come to the same.
 */
import type { Workload, WorkloadStep } from "../../src/manager/mod.ts";
import { differing } from "../../src/simulation/mod.ts";
import { type ControlPlane, until } from "../controlplane/mod.ts";
import { type CrashPoint, CrashProcess } from "./_crash_process.ts";
import { type CrashKind, CrashSite, type Fields } from "./_crash_site.ts";

/** A controller whose workloads are played. */
export interface CrashSubject {
  readonly name: string;
  readonly kinds: readonly CrashKind[];
  /** False where its kinds live in no namespace: its runs then have the cluster to themselves. */
  readonly isNamespaced: boolean;
}

/** What a run came to. */
export interface CrashRecord {
  /** What was there when everything had settled, after each step. */
  readonly stages: readonly Fields[];
  readonly lives: ReadonlyMap<string, string>;
  readonly outcomes: readonly string[];
  /** Writes of the operator that count. */
  readonly writes: number;
  /** What went wrong; none in a run that is as it was expected. */
  readonly violations: readonly string[];
}

interface RunOptions {
  readonly controlPlane: ControlPlane;
  readonly subject: CrashSubject;
  readonly workload: Workload;
}

/** Without a crash nobody knows yet what to wait for: it has settled when nothing has changed for so long. */
const learnQuietMs = 1_000;
/** With what to wait for known, this is for writes that should not come any more. */
const quietMs = 500;
/** A garbage collector that does not know a new kind yet learns of it within 30 s. */
const patienceMs = 40_000;
const mostTold = 5;

/** Plays a workload without a crash. */
export async function learn(options: RunOptions): Promise<CrashRecord> {
  return await played(options, undefined, async ({ site, process }) => {
    let [last, since]: [Fields, number] = [new Map(), performance.now()];
    return await until("see everything settle", async () => {
      process.assertRuns();
      const fields = await site.fields();
      const isMoving = differing(fields, last).length > 0 || await site.isCollecting();
      if (isMoving) [last, since] = [fields, performance.now()];
      const quietForMs = performance.now() - since;
      if (quietForMs >= learnQuietMs) return { kind: "found", value: fields };
      return { kind: "pending", state: `${fields.size} fields had been the same for ${quietForMs} ms` };
    }, { everyMs: 200, timeoutMs: patienceMs });
  });
}

/** Plays a workload with a crash. @param expected what it came to without one @returns What is not as it should be */
export async function crash(
  options: RunOptions,
  point: CrashPoint,
  expected: readonly [CrashRecord, ...CrashRecord[]],
): Promise<readonly string[]> {
  const [{ stages, outcomes }] = expected;
  const record = await played(options, point, async ({ site, process }, step) => {
    const stage = (of: CrashRecord): Fields => of.stages[step] ?? new Map();
    return await until(`see what is there after step ${step + 1} without a crash`, async () => {
      process.assertRuns();
      const fields = await site.fields();
      const wrong = differences(fields, expected.map(stage));
      const isBack = !process.isDown && (process.isAgain || step < stages.length - 2);
      if (wrong.length === 0 && isBack) return { kind: "found", value: fields };
      const state = wrong.length === 0 ? "the process had not ended and started again" : wrong.join("; ");
      return { kind: "pending", state };
    }, { timeoutMs: patienceMs, everyMs: 100 });
  });
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

interface Scene {
  readonly site: CrashSite;
  readonly process: CrashProcess;
}

type Settle = (scene: Scene, step: number) => Promise<Fields>;

async function played(
  { controlPlane, subject, workload }: RunOptions,
  point: CrashPoint | undefined,
  settle: Settle,
): Promise<CrashRecord> {
  await using site = await CrashSite.open(controlPlane, subject);
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

/** Each step is somebody's; who ends the process is the crash point. */
function playable({ steps }: Workload): readonly Exclude<WorkloadStep, { kind: "stop" }>[] {
  return steps.filter((step) => step.kind !== "stop");
}

/** What is other than expected; what is not the same in all runs without a crash says nothing about crashes. */
function differences(now: Fields, expected: readonly Fields[]): readonly string[] {
  const [wanted = new Map(), ...others] = expected;
  const masked = new Set(others.flatMap((other) => differing(wanted, other)));
  return differing(now, wanted)
    .filter((key) => !masked.has(key))
    .slice(0, mostTold)
    .map((key) => `${key} is ${now.get(key) ?? "not there"}, without a crash ${wanted.get(key) ?? "not there"}`);
}
