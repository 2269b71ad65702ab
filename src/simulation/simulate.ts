/**
 * simulate(): runs the workloads of a controller under every single fault and under random combinations of faults (storms), and
 * compares each run with a run without faults.
 *
 * Guarantees: a finding contains everything that is needed to run it again: controller, workload, plan, seed and replicas.
 */
import type { OperatorController, Workload } from "../manager/mod.ts";
import type { Entry } from "../observe/mod.ts";
import { checkInParallel } from "./_parallel.ts";
import { checkDistinct, effectOf } from "./equal_schedules.ts";
import { smallestSubset } from "./_smallest_subset.ts";
import { type Fault, type FaultKind, faultKinds, type FaultPlan } from "./fault_plan.ts";
import { singleFaults, spread, stormsOf } from "./fault_points.ts";
import type { Reference } from "./reference.ts";
import { type CheckSchedule, type PlannedSchedule, ScheduleChecker } from "./schedule_checker.ts";
import { type RunTotals, sumOf } from "./run_totals.ts";
import { focusedTimeline } from "./timeline.ts";
import type { Invariant, Violation } from "./violation.ts";

/** Options of {@link simulate}. */
export interface SimulateOptions {
  readonly controller: OperatorController;
  readonly workloads: readonly Workload[];
  /** Further controllers of the operator, which run in the same process. @default none */
  readonly others?: readonly OperatorController[];
  /** Runs every single fault. @default true */
  readonly singles?: boolean;
  /** Single faults per workload, spread evenly over all that are possible. @default all */
  readonly points?: number;
  /** Storms per workload. @default 0 */
  readonly storms?: number;
  /** Seed of the first storm. @default 1 */
  readonly firstSeed?: number;
  /** All schedules run with so many replicas that divide the keys. @default one replica, or two that elect a leader */
  readonly shards?: number;
  /** All schedules run as a fleet with so many members, in each of which the invariants are checked. @default one cluster */
  readonly members?: number;
  /** Kinds of faults. @default all */
  readonly kinds?: ReadonlySet<FaultKind>;
  /** Findings after which the workload is left. @default 3 */
  readonly maxFindings?: number;
  /** Ends the simulation early. @default never */
  readonly signal?: AbortSignal;
  /** Worker processes, requested when there are enough schedules. They change nothing but the time. @default none */
  readonly workers?: () => readonly CheckSchedule[];
  /** Called after each schedule. */
  readonly onProgress?: (progress: SimulateProgress) => void;
}

/** How far a simulation is. */
export interface SimulateProgress {
  readonly workload: string;
  readonly schedules: number;
  readonly findings: number;
}

/** A schedule that breaks an invariant. */
export interface Finding {
  readonly controller: string;
  /** The other controllers that run in the same process. */
  readonly together: readonly string[];
  readonly workload: string;
  readonly plan: FaultPlan;
  readonly seed: number;
  readonly replicas: number;
  /** The replicas divided the keys between them. @default false */
  readonly sharded?: boolean;
  /** The members of the fleet. @default 0: one cluster */
  readonly members?: number;
  readonly violations: readonly Violation[];
  /** Further event orders that were tried with the faults, and in how many of them the same invariant was broken. */
  readonly orders?: { readonly tried: number; readonly failed: number };
  /** What happened to the objects of the violations, for users: a reading of the recording. */
  readonly timeline: string;
  /** Everything that happened in the run, oldest first, with whole objects, without secrets; the violations at the end. */
  readonly recording: readonly Entry[];
}

/** The result of a simulation. */
export interface SimulateReport {
  readonly controller: string;
  /** All runs, those without faults included. */
  readonly schedules: number;
  /** The storms among them. */
  readonly seeds: number;
  /** What happened in all of them. Caveats: a worker process learns its own references, which are not counted. */
  readonly totals: RunTotals;
  /** By kind: the single faults that were tested, and all that are possible. */
  readonly covered: ReadonlyMap<FaultKind, { readonly tested: number; readonly all: number }>;
  readonly findings: readonly Finding[];
}

/** Every n-th storm has two replicas. */
const replicatedEvery = 4;
/** Single faults that are also tested with two replicas, because they can change the leader. */
const leaderFaultKinds: ReadonlySet<FaultKind> = new Set([
  "crash",
  "lease",
  "partition",
  "skew",
  "renewal",
  "pause",
]);
/**
 * Single faults of a workload in which the controllers write by time without end: they do the same again and again, so more
 * points show the same.
 */
const maxTimedPoints = 500;
/** Findings after which a workload is left. */
const defaultMaxFindings = 3;
/** With fewer schedules, this process is done before a worker has started. */
const minSchedulesForWorkers = 60;

/** Simulates one controller. */
export async function simulate(options: SimulateOptions): Promise<SimulateReport> {
  const simulation = new Simulation(options);
  const unbroken: Workload[] = [];
  // What is wrong without faults takes a few runs to find, so it comes first.
  for (const workload of options.workloads) {
    if (await simulation.checkWithoutFaults(workload.name)) unbroken.push(workload);
  }
  for (const workload of unbroken) await simulation.run(workload.name);
  return simulation.report();
}

/** How {@link replay} runs a workload. */
export interface ReplayOptions {
  readonly plan: FaultPlan;
  readonly seed: number;
  readonly replicas: number;
  /** The replicas divide the keys between them. @default false */
  readonly sharded?: boolean;
  /** The members of a fleet. @default 0: one cluster */
  readonly members?: number;
  /** Further controllers of the operator, which run in the same process. @default none */
  readonly others?: readonly OperatorController[];
}

/** Runs and checks one schedule. @returns undefined when no invariant is broken */
export async function replay(
  controller: OperatorController,
  workload: Workload,
  { others = [], ...how }: ReplayOptions,
): Promise<Finding | undefined> {
  const checker = new ScheduleChecker(controller, [workload], others);
  const schedule = { ...how, workload: workload.name };
  const { violations: ofRun } = await checker.check(schedule);
  const violations = how.plan.faults.length === 0 && ofRun.length === 0
    ? await violationsWithoutFaults(checker, workload.name)
    : ofRun;
  if (violations.length === 0) return undefined;
  const names = others.map(({ name }) => name);
  return await findingOf(checker, { controller: controller.name, together: names, ...schedule, violations });
}

/** What runs without faults show when they are compared with each other, as `simulate` does before it injects faults. */
async function violationsWithoutFaults(checker: ScheduleChecker, workload: string): Promise<readonly Violation[]> {
  const { violations } = await checker.reference(workload, { replicas: 1 });
  return violations.length > 0 ? violations : (await checker.checkDeclaredState(workload)).violations;
}

async function findingOf(
  checker: ScheduleChecker,
  broken: Omit<Finding, "timeline" | "recording">,
): Promise<Finding> {
  const recording = await checker.record(broken, broken.violations);
  const objects = broken.violations.flatMap(({ object }) => object ?? []);
  return { ...broken, timeline: focusedTimeline(recording, objects), recording };
}

/** How the operator of a schedule runs. */
type Replicas = Pick<PlannedSchedule, "replicas" | "sharded" | "members">;

/** A schedule, and the kind of fault that it covers if it is a single fault. */
interface CoveringSchedule extends PlannedSchedule {
  readonly kind?: FaultKind;
  /** See {@link effectOf}. */
  readonly effect?: string;
}

class Simulation {
  readonly #options: SimulateOptions;
  readonly #kinds: ReadonlySet<FaultKind>;
  readonly #checker: ScheduleChecker;
  readonly #covered = new Map<FaultKind, { tested: number; all: number }>();
  readonly #findings: Finding[] = [];
  /** Violations that were not confirmed, see {@link ScheduleChecker.confirm}. */
  readonly #dismissed = new Set<string>();
  readonly #references = new Set<Reference>();
  #workers: readonly CheckSchedule[] | undefined;
  #schedules = 0;
  #seeds = 0;
  #totals = sumOf([]);

  constructor(options: SimulateOptions) {
    this.#options = options;
    this.#kinds = options.kinds ?? new Set(faultKinds);
    this.#checker = new ScheduleChecker(options.controller, options.workloads, options.others);
  }

  report(): SimulateReport {
    return {
      controller: this.#options.controller.name,
      schedules: this.#schedules,
      seeds: this.#seeds,
      totals: this.#totals,
      covered: this.#covered,
      findings: this.#findings,
    };
  }

  /** Compares the runs of a workload without faults. @returns false when faults need not be tested any more */
  async checkWithoutFaults(workload: string): Promise<boolean> {
    const { maxFindings = defaultMaxFindings, signal } = this.#options;
    if (signal?.aborted === true) return false;
    const schedule = { workload, plan: { faults: [] }, seed: 1, ...this.#usual };
    const { violations } = await this.#reference(workload, this.#usual);
    if (violations.length > 0) {
      await this.#push(schedule, violations);
      return false;
    }
    const declared = await this.#checker.checkDeclaredState(workload);
    for (const totals of declared.totals) this.#addRuns(1, totals);
    if (declared.violations.length === 0) return true;
    await this.#push(schedule, declared.violations);
    return maxFindings > 1;
  }

  /** Simulates one workload under faults. */
  async run(workload: string): Promise<void> {
    const { singles = true, points = Infinity, storms = 0, maxFindings = defaultMaxFindings, signal } = this.#options;
    const reference = await this.#reference(workload, this.#usual);
    const limit = this.#findings.filter((one) => one.workload !== workload).length + maxFindings;
    const possible = singles ? await this.#planSingles(workload, reference, this.#usual) : [];
    for (const { kind } of possible) if (kind !== undefined) this.#coverageOf(kind).all++;
    const planned = spread(possible, Math.min(points, reference.lateWrites > 0 ? maxTimedPoints : Infinity));
    const schedules = concat<CoveringSchedule>(planned, await this.#planStorms(workload, reference, this.#usual));
    if (planned.length + storms >= minSchedulesForWorkers) this.#workers ??= this.#options.workers?.();
    const isAborted = () => signal?.aborted === true;
    if (isAborted()) return;
    const check: CheckSchedule = (schedule) => this.#checker.check(schedule);
    const checkAll = (distinct: Iterable<CoveringSchedule>) => checkInParallel(distinct, check, this.#workers ?? []);
    for await (const { schedule, result } of checkDistinct(schedules, checkAll)) {
      if (schedule.kind === undefined) this.#seeds++;
      this.#addRuns(1, result.totals);
      await this.#onChecked(schedule, result.violations);
      if (this.#findings.length >= limit || isAborted()) return;
    }
  }

  /** How the operator runs in most schedules. */
  get #usual(): Replicas {
    const { shards, members } = this.#options;
    return shards === undefined ? { replicas: 1, members } : { replicas: shards, sharded: true };
  }

  async #reference(workload: string, replicas: Replicas): Promise<Reference> {
    const reference = await this.#checker.reference(workload, replicas);
    if (!this.#references.has(reference)) this.#addRuns(reference.runs, reference.totals);
    this.#references.add(reference);
    return reference;
  }

  #addRuns(runs: number, totals: RunTotals): void {
    this.#schedules += runs;
    this.#totals = sumOf([this.#totals, totals]);
  }

  /** Every single fault of a workload. */
  async #planSingles(
    workload: string,
    usual: Reference,
    how: Replicas,
  ): Promise<readonly CoveringSchedule[]> {
    const plan = (reference: Reference, how: Replicas, kinds: ReadonlySet<FaultKind>) =>
      singleFaults({ ...reference, ...how }, kinds).map((fault) => {
        // In a fleet, the other members go on from their own states.
        const effect = (how.members ?? 0) === 0 ? effectIn(reference, fault) : undefined;
        return { workload, plan: { faults: [fault] }, seed: 1, ...how, kind: fault.kind, effect };
      });
    if (how.sharded === true) return plan(usual, how, this.#kinds);
    const kinds = leaderFaultKinds.intersection(this.#kinds);
    const two = { replicas: 2, members: how.members };
    const replicated = kinds.size > 0 ? plan(await this.#reference(workload, two), two, kinds) : [];
    return [...plan(usual, how, this.#kinds), ...replicated];
  }

  /** The storms of a workload, made one by one. */
  async #planStorms(workload: string, usual: Reference, how: Replicas): Promise<Iterable<PlannedSchedule>> {
    const { storms = 0, firstSeed = 1 } = this.#options;
    const kinds = this.#kinds;
    const seeds = Array.from({ length: storms }, (_, index) => firstSeed + index);
    const two = { replicas: 2, members: how.members };
    const isReplicated = (seed: number) => how.sharded !== true && seed % replicatedEvery === 0;
    const replicated = seeds.some(isReplicated) ? await this.#reference(workload, two) : usual;
    const [storm, replicatedStorm] = [
      stormsOf({ ...usual, ...how }, kinds),
      stormsOf({ ...replicated, ...two }, kinds),
    ];
    return seeds.values().map((seed) =>
      isReplicated(seed)
        ? { workload, plan: replicatedStorm(seed), seed, ...two }
        : { workload, plan: storm(seed), seed, ...how }
    );
  }

  async #onChecked(schedule: CoveringSchedule, violations: readonly Violation[]): Promise<void> {
    if (schedule.kind !== undefined) this.#coverageOf(schedule.kind).tested++;
    if (violations.length > 0 && !this.#isKnown(schedule, violations)) await this.#addFinding(schedule, violations);
    const { onProgress } = this.#options;
    onProgress?.({ workload: schedule.workload, schedules: this.#schedules, findings: this.#findings.length });
  }

  /** Adds a finding, with the smallest plan that breaks the same invariant. */
  async #addFinding(
    { workload, seed, replicas, sharded, members, plan }: CoveringSchedule,
    violations: readonly Violation[],
  ): Promise<void> {
    const [first] = violations;
    const how = { workload, seed, replicas, sharded, members };
    const shrunk = await shrink(plan, async (fewer) => {
      const { violations: found, totals } = await this.#checker.check({ ...how, plan: fewer });
      this.#addRuns(1, totals);
      return found.some(({ invariant }) => invariant === first?.invariant);
    });
    const { violations: confirmed, orders, runs } = await this.#checker.confirm({ ...how, plan: shrunk });
    for (const totals of runs) this.#addRuns(1, totals);
    if (confirmed.length > 0) await this.#push({ ...how, plan: shrunk }, confirmed, orders);
    else this.#dismissed.add(dismissalOf(workload, violations));
  }

  async #push(
    schedule: PlannedSchedule,
    violations: readonly Violation[],
    orders?: Finding["orders"],
  ): Promise<void> {
    const { controller: { name: controller }, others = [] } = this.#options;
    const broken = { controller, together: others.map(({ name }) => name), ...schedule, violations, orders };
    this.#findings.push(await findingOf(this.#checker, broken));
  }

  #coverageOf(kind: FaultKind): { tested: number; all: number } {
    const count = this.#covered.get(kind) ?? { tested: 0, all: 0 };
    this.#covered.set(kind, count);
    return count;
  }

  /** True when there is a finding of this workload with the same violation, or it was not confirmed. */
  #isKnown({ workload }: PlannedSchedule, violations: readonly Violation[]): boolean {
    const [first] = violations;
    if (this.#dismissed.has(dismissalOf(workload, violations))) return true;
    return this.#findings.some((other) =>
      other.workload === workload && invariantsOf(other).has(first?.invariant) &&
      other.violations[0]?.message === first?.message
    );
  }
}

/** The first run of a reference has the seed of the single faults. */
function effectIn({ results: [first] }: Reference, fault: Fault): string | undefined {
  return first && effectOf(fault, first);
}

function dismissalOf(workload: string, violations: readonly Violation[]): string {
  return [workload, ...violations.map(({ invariant, message }) => `${invariant} ${message}`)].join("\n");
}

function* concat<Value>(...all: readonly Iterable<Value>[]): Generator<Value> {
  for (const values of all) yield* values;
}

function invariantsOf({ violations }: Finding): ReadonlySet<Invariant | undefined> {
  return new Set(violations.map(({ invariant }) => invariant));
}

/** The smallest plan that still fails, of the faults of a plan. @param fails whether a plan still fails */
export async function shrink(plan: FaultPlan, fails: (plan: FaultPlan) => Promise<boolean>): Promise<FaultPlan> {
  return { faults: await smallestSubset(plan.faults, (faults) => fails({ faults })) };
}
