/**
 * simulate(): plays the workloads of a controller under every single fault and under seeded storms, and compares each run
 * with what happens without faults.
 *
 * Guarantees: what it finds can be played again from what it says: controller, workload, plan and seed.
 */
import type { OperatorController, Workload } from "../manager/mod.ts";
import { judge, learnReference, type Reference } from "./_reference.ts";
import { singleFaults, storm } from "./fault_points.ts";
import { type Fault, faultKinds, type FaultPlan } from "./fault_plan.ts";
import { runSchedule, type ScheduleResult } from "./schedule.ts";
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

/** Simulates one controller. */
export async function simulate(options: SimulateOptions): Promise<SimulateReport> {
  const campaign = new Campaign(options);
  for (const workload of options.workloads) await campaign.play(workload);
  return campaign.report();
}

/** Plays one schedule and judges it; what `simulate` does for each. */
export async function replay(
  controller: OperatorController,
  workload: Workload,
  how: { readonly plan: FaultPlan; readonly seed: number; readonly replicas: number },
): Promise<Finding | undefined> {
  const base = { controllers: [controller], workload, replicas: how.replicas };
  return await played(base, await learnReference(base), how);
}

interface Schedule {
  readonly plan: FaultPlan;
  readonly seed: number;
}

type Base = {
  readonly controllers: readonly OperatorController[];
  readonly workload: Workload;
  readonly replicas: number;
};

class Campaign {
  readonly #options: SimulateOptions;
  readonly #kinds: ReadonlySet<Fault["kind"]>;
  readonly #covered = new Map<Fault["kind"], { played: number; all: number }>();
  readonly #findings: Finding[] = [];
  #schedules = 0;

  constructor(options: SimulateOptions) {
    this.#options = options;
    this.#kinds = options.kinds ?? new Set(faultKinds);
  }

  report(): SimulateReport {
    const { controller } = this.#options;
    return {
      controller: controller.name,
      schedules: this.#schedules,
      covered: this.#covered,
      findings: this.#findings,
    };
  }

  async play(workload: Workload): Promise<void> {
    const { controller, singles = true, storms = 0, firstSeed = 1 } = this.#options;
    const base = { controllers: [controller], workload, replicas: 1 };
    const reference = await learnReference(base);
    this.#schedules += 3;
    const before = this.#findings.length;
    if (reference.violations.length > 0) {
      const { violations } = reference;
      this.#findings.push(finding(base, { plan: { faults: [] }, seed: 1 }, violations, await runSchedule(base)));
      return;
    }
    const full = () => this.#findings.length - before >= (this.#options.mostFindings ?? 3);
    if (singles) await this.#playSingles(base, reference, full);
    if (storms > 0) await this.#playStorms(base, { reference, seeds: [firstSeed, firstSeed + storms - 1], full });
  }

  async #playSingles(base: Base, reference: Reference, full: () => boolean): Promise<void> {
    for (const fault of singleFaults({ ...reference, replicas: 1 }, this.#kinds)) {
      const count = this.#covered.get(fault.kind) ?? { played: 0, all: 0 };
      this.#covered.set(fault.kind, count);
      count.all++;
      if (full() || this.#options.signal?.aborted === true) continue;
      count.played++;
      await this.#one(base, reference, { plan: { faults: [fault] }, seed: 1 });
    }
  }

  async #playStorms(
    base: Base,
    { reference, seeds: [first, last], full }: {
      readonly reference: Reference;
      readonly seeds: readonly [number, number];
      readonly full: () => boolean;
    },
  ): Promise<void> {
    const doubled = { ...base, replicas: 2 };
    let doubledReference: Reference | undefined;
    for (let seed = first; seed <= last && !full() && this.#options.signal?.aborted !== true; seed++) {
      const isDoubled = seed % replicatedEvery === 0;
      if (isDoubled) doubledReference ??= await learnReference(doubled);
      const [which, expected] = isDoubled && doubledReference !== undefined
        ? [doubled, doubledReference]
        : [base, reference];
      const plan = storm({ ...expected, replicas: which.replicas }, this.#kinds, seed);
      await this.#one(which, expected, { plan, seed });
    }
  }

  async #one(base: Base, reference: Reference, schedule: Schedule): Promise<void> {
    this.#schedules++;
    const found = await played(base, reference, schedule);
    if (found !== undefined && !this.#isKnown(found)) {
      const [first] = found.violations;
      const plan = await shrink(schedule.plan, async (fewer) => {
        this.#schedules++;
        const again = await played(base, reference, { ...schedule, plan: fewer });
        return again?.violations.some(({ invariant }) => invariant === first?.invariant) === true;
      });
      this.#findings.push(await played(base, reference, { ...schedule, plan }) ?? found);
    }
    const { onProgress } = this.#options;
    onProgress?.({ workload: base.workload.name, schedules: this.#schedules, findings: this.#findings.length });
  }

  /** The same again is no news. */
  #isKnown({ workload, violations: [first] }: Finding): boolean {
    return this.#findings.some((other) =>
      other.workload === workload && kindsOf(other).has(first?.invariant) &&
      other.violations[0]?.message === first?.message
    );
  }
}

function kindsOf({ violations }: Finding): ReadonlySet<Invariant | undefined> {
  return new Set(violations.map(({ invariant }) => invariant));
}

async function played(base: Base, reference: Reference, schedule: Schedule): Promise<Finding | undefined> {
  const { plan, seed } = schedule;
  const result = await runSchedule({ ...base, plan, seed });
  const violations = judge(reference, result, plan);
  return violations.length === 0 ? undefined : finding(base, schedule, violations, result);
}

function finding(
  { controllers, workload, replicas }: Base,
  { plan, seed }: Schedule,
  violations: readonly Violation[],
  { trace }: ScheduleResult,
): Finding {
  const controller = controllers.map(({ name }) => name).join(" ");
  return { controller, workload: workload.name, plan, seed, replicas, violations, timeline: trace.timeline() };
}
