/**
 * simulate(): plays the workloads of a controller under every single fault and under seeded storms, and compares each run
 * with what happens without faults.
 *
 * Guarantees: what it finds can be played again from what it says: controller, workload, plan and seed.
 */
import type { OperatorController, Workload } from "../manager/mod.ts";
import { playTogether } from "./_ensemble.ts";
import type { Reference } from "./_reference.ts";
import { singleFaults, stormsOf } from "./fault_points.ts";
import { type Fault, faultKinds, type FaultPlan } from "./fault_plan.ts";
import { type PlannedSchedule, type Play, Player } from "./player.ts";
import { shrink } from "./shrink.ts";
import type { Invariant, Violation } from "./violation.ts";

/** Options of {@link simulate}. */
export interface SimulateOptions {
  readonly controller: OperatorController;
  readonly workloads: readonly Workload[];
  /** Plays every single fault. @default true */
  readonly singles?: boolean;
  /** Storms per workload. @default 0 */
  readonly storms?: number;
  /** Seed of the first storm. @default 1 */
  readonly firstSeed?: number;
  /** Kinds of faults. @default all */
  readonly kinds?: ReadonlySet<Fault["kind"]>;
  /** Findings after which a workload is left. @default 3 */
  readonly mostFindings?: number;
  /** Ends it early. @default never */
  readonly signal?: AbortSignal;
  /** Players in its place, asked for once there is enough to play. They change nothing but the time. @default none */
  readonly helpers?: () => readonly Play[];
  /** Told after each schedule. */
  readonly onProgress?: (progress: SimulateProgress) => void;
}

/** How far it is. */
export interface SimulateProgress {
  readonly workload: string;
  readonly schedules: number;
  readonly findings: number;
}

/** A broken promise, with what is needed to see it again. */
export interface Finding {
  readonly controller: string;
  readonly workload: string;
  readonly plan: FaultPlan;
  readonly seed: number;
  readonly replicas: number;
  readonly violations: readonly Violation[];
  /** What happened, for people. */
  readonly timeline: string;
}

/** What came of it. */
export interface SimulateReport {
  readonly controller: string;
  readonly schedules: number;
  /** Single faults that were played, and all there are, by kind. */
  readonly covered: ReadonlyMap<Fault["kind"], { readonly played: number; readonly all: number }>;
  readonly findings: readonly Finding[];
}

/** Every so many storms there are two replicas. */
const replicatedEvery = 4;
/** Single faults that are played with two replicas, too: those that can hand the work from one to the other. */
const aboutLeaders: ReadonlySet<Fault["kind"]> = new Set(["crash", "lease", "partition", "skew", "renewal", "pause"]);
/** Fewer schedules are played before a helper has started. */
const worthHelp = 60;

/** Simulates one controller. */
export async function simulate(options: SimulateOptions): Promise<SimulateReport> {
  const campaign = new Campaign(options);
  for (const workload of options.workloads) await campaign.play(workload.name);
  return campaign.report();
}

/** Plays one schedule and judges it; what `simulate` does for each. */
export async function replay(
  controller: OperatorController,
  workload: Workload,
  how: { readonly plan: FaultPlan; readonly seed: number; readonly replicas: number },
): Promise<Finding | undefined> {
  const player = new Player(controller, [workload]);
  const schedule = { ...how, workload: workload.name };
  const violations = await player.play(schedule);
  if (violations.length === 0) return undefined;
  return { ...schedule, controller: controller.name, violations, timeline: await player.timeline(schedule) };
}

class Campaign {
  readonly #options: SimulateOptions;
  readonly #kinds: ReadonlySet<Fault["kind"]>;
  readonly #player: Player;
  readonly #covered = new Map<Fault["kind"], { played: number; all: number }>();
  readonly #findings: Finding[] = [];
  #helpers: readonly Play[] | undefined;
  #schedules = 0;

  constructor(options: SimulateOptions) {
    this.#options = options;
    this.#kinds = options.kinds ?? new Set(faultKinds);
    this.#player = new Player(options.controller, options.workloads);
  }

  report(): SimulateReport {
    return {
      controller: this.#options.controller.name,
      schedules: this.#schedules,
      covered: this.#covered,
      findings: this.#findings,
    };
  }

  async play(workload: string): Promise<void> {
    const { singles = true, storms = 0, mostFindings = 3, signal } = this.#options;
    const reference = await this.#player.reference(workload, 1);
    this.#schedules += 3;
    if (reference.violations.length > 0) {
      const schedule = { workload, plan: { faults: [] }, seed: 1, replicas: 1 };
      this.#findings.push(await this.#finding(schedule, reference.violations));
      return;
    }
    const points = singles ? await this.#singles(workload, reference) : [];
    for (const { kind } of points) if (kind !== undefined) this.#coverageOf(kind).all++;
    const most = this.#findings.length + mostFindings;
    const planned = chained<Single>(points, await this.#storms(workload, reference));
    if (points.length + storms >= worthHelp) this.#helpers ??= this.#options.helpers?.();
    const isAborted = () => signal?.aborted === true;
    if (isAborted()) return;
    const play: Play = (schedule) => this.#player.play(schedule);
    for await (const { schedule, violations } of playTogether(planned, play, this.#helpers ?? [])) {
      await this.#take(schedule, violations);
      if (this.#findings.length >= most || isAborted()) return;
    }
  }

  /** Every single fault of a workload. */
  async #singles(workload: string, single: Reference): Promise<readonly Single[]> {
    const planned = (reference: Reference, replicas: number, kinds: ReadonlySet<Fault["kind"]>) =>
      singleFaults({ ...reference, replicas }, kinds).map((fault) => {
        return { workload, plan: { faults: [fault] }, seed: 1, replicas, kind: fault.kind };
      });
    const kinds = aboutLeaders.intersection(this.#kinds);
    const doubled = kinds.size > 0 ? planned(await this.#player.reference(workload, 2), 2, kinds) : [];
    return [...planned(single, 1, this.#kinds), ...doubled];
  }

  /** The storms of a workload, made one by one. */
  async #storms(workload: string, single: Reference): Promise<Iterable<PlannedSchedule>> {
    const { storms = 0, firstSeed = 1 } = this.#options;
    const kinds = this.#kinds;
    const seeds = Array.from({ length: storms }, (_, index) => firstSeed + index);
    const isDoubled = (seed: number) => seed % replicatedEvery === 0;
    const double = seeds.some(isDoubled) ? await this.#player.reference(workload, 2) : single;
    const [storm, doubledStorm] = [
      stormsOf({ ...single, replicas: 1 }, kinds),
      stormsOf({ ...double, replicas: 2 }, kinds),
    ];
    return seeds.values().map((seed) =>
      isDoubled(seed)
        ? { workload, plan: doubledStorm(seed), seed, replicas: 2 }
        : { workload, plan: storm(seed), seed, replicas: 1 }
    );
  }

  async #take(schedule: Single, violations: readonly Violation[]): Promise<void> {
    this.#schedules++;
    if (schedule.kind !== undefined) this.#coverageOf(schedule.kind).played++;
    if (violations.length > 0 && !this.#isKnown(schedule, violations)) await this.#look(schedule, violations);
    const { onProgress } = this.#options;
    onProgress?.({ workload: schedule.workload, schedules: this.#schedules, findings: this.#findings.length });
  }

  /** Looks for the smallest plan that breaks the same promise. */
  async #look({ workload, seed, replicas, ...schedule }: Single, violations: readonly Violation[]): Promise<void> {
    const [first] = violations;
    const how = { workload, seed, replicas };
    const plan = await shrink(schedule.plan, async (fewer) => {
      this.#schedules++;
      const again = await this.#player.play({ ...how, plan: fewer });
      return again.some(({ invariant }) => invariant === first?.invariant);
    });
    const again = await this.#player.play({ ...how, plan });
    const found = again.length > 0 ? { ...how, plan } : { ...how, plan: schedule.plan };
    this.#findings.push(await this.#finding(found, again.length > 0 ? again : violations));
  }

  async #finding(schedule: PlannedSchedule, violations: readonly Violation[]): Promise<Finding> {
    const timeline = await this.#player.timeline(schedule);
    return { controller: this.#options.controller.name, ...schedule, violations, timeline };
  }

  #coverageOf(kind: Fault["kind"]): { played: number; all: number } {
    const count = this.#covered.get(kind) ?? { played: 0, all: 0 };
    this.#covered.set(kind, count);
    return count;
  }

  /** The same again is no news. */
  #isKnown({ workload }: PlannedSchedule, [first]: readonly Violation[]): boolean {
    return this.#findings.some((other) =>
      other.workload === workload && kindsOf(other).has(first?.invariant) &&
      other.violations[0]?.message === first?.message
    );
  }
}

/** With what it covers, where it is a single fault. */
interface Single extends PlannedSchedule {
  readonly kind?: Fault["kind"];
}

function* chained<Value>(...all: readonly Iterable<Value>[]): Generator<Value> {
  for (const values of all) yield* values;
}

function kindsOf({ violations }: Finding): ReadonlySet<Invariant | undefined> {
  return new Set(violations.map(({ invariant }) => invariant));
}
