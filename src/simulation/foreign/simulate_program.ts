/**
 * simulateProgram(): runs the workloads of a program under every single fault, compares each run with runs without faults, and
 * runs again what breaks an invariant before it is a finding.
 *
 * Guarantees: nothing of the program lives after the end. A finding has the plan that reproduces it.
 */
import type { UntypedObject } from "../../api/mod.ts";
import { type Clock, type Random, seededRandom } from "../../async/mod.ts";
import type { Entry } from "../../observe/mod.ts";
import { joinPath } from "../../runtime/mod.ts";
import { issueCertificates, type IssuedCertificates } from "../../webhook/mod.ts";
import { type FaultKind, faultKinds, type FaultPlan, noFaults } from "../fault_plan.ts";
import { foldRepeats, timelineOf } from "../timeline.ts";
import type { Violation } from "../violation.ts";
import { prepareCluster, type PreparedCluster } from "./baseline.ts";
import { isEqual } from "./cluster_state.ts";
import { ForeignRun } from "./foreign_run.ts";
import type { ForeignRunOptions, ForeignRunResult, RunPace } from "./run_options.ts";
import { firstStepOf } from "./passed_points.ts";
import type { ForeignWorkload } from "./foreign_workload.ts";
import { serviceObjects, type ServiceStub } from "./service_stubs.ts";
import { canMount, type ProgramOptions } from "./program.ts";
import { programFaults } from "./program_faults.ts";
import type { ProgramIdentity } from "./program_objects.ts";
import { ProgramWebhooks } from "./program_webhooks.ts";
import { compareRun, type ProgramReference, referenceOf } from "./program_reference.ts";

/** Options of {@link simulateProgram}. */
export interface SimulateProgramOptions {
  /** How the program is started; it may have placeholders. */
  readonly command: string;
  /** The variables of the program. */
  readonly env: Readonly<Record<string, string>>;
  readonly workingDirectory?: string;
  /** Further placeholders and their values. @default none */
  readonly values?: Readonly<Record<string, string>>;
  /** API versions of the past that the server serves all the same: `policy/v1beta1`. @default none */
  readonly removedVersions?: readonly string[];
  /** Names that lead to this machine for the program, such as those of Services. @default none */
  readonly hosts?: readonly string[];
  /** @default the Deployment `operator` in `operator-system` */
  readonly identity?: ProgramIdentity;
  /** What exists before the program starts: CRDs, Secrets ... */
  readonly objects: readonly UntypedObject[];
  readonly workloads: readonly ForeignWorkload[];
  /** The applications that the program talks to. @default none */
  readonly services?: readonly ServiceStub[];
  /** Where the program serves its webhooks; it may have placeholders of ports. @default it has none */
  readonly webhookUrl?: string;
  /** A folder for the files of the runs. */
  readonly folder: string;
  /** Only this plan is run. @default all single faults */
  readonly plan?: FaultPlan;
  /** @default all */
  readonly kinds?: ReadonlySet<FaultKind>;
  /** Single faults per workload, spread evenly over all. @default all */
  readonly points?: number;
  /** Findings after which a workload is left. @default 3 */
  readonly maxFindings?: number;
  /** Runs at the same time: more than one needs `{port}` for each port that the program listens on. @default 1 */
  readonly jobs?: number;
  /** Runs start from the state after an earlier step, where the program ends in the same state then. @default true */
  readonly snapshots?: boolean;
  /** Milliseconds from the start of the program until it watches. @default 60000 */
  readonly startMs?: number;
  /** Milliseconds without a change after which the first runs count as at rest. @default 3000 */
  readonly quietMs?: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: ProgramProgress) => void;
  readonly onError: (error: unknown) => void;
}

/** How far it is. */
export interface ProgramProgress {
  readonly workload: string;
  /** "reference", or how many of the schedules have run. */
  readonly stage: "reference" | "faults";
  readonly schedules: number;
  readonly all: number;
  readonly findings: number;
}

/** A plan that breaks an invariant. */
export interface ProgramFinding {
  readonly workload: string;
  readonly plan: FaultPlan;
  readonly violations: readonly Violation[];
  /** In how many of how many runs with the plan it was seen. */
  readonly seen: number;
  readonly runs: number;
  readonly timeline: string;
  readonly entries: readonly Entry[];
  /** The last lines of the program: a hint. */
  readonly output: readonly string[];
}

/** The result of one workload. */
export interface WorkloadReport {
  readonly workload: string;
  /** All runs, with those without faults. */
  readonly schedules: number;
  readonly covered: ReadonlyMap<FaultKind, { readonly tested: number; readonly all: number }>;
  readonly findings: readonly ProgramFinding[];
  /** Violations that were not seen again. */
  readonly unconfirmed: number;
  /** From the start of the program to rest after the first step without faults. */
  readonly convergenceMs: number;
  readonly hasSnapshots: boolean;
  /** The time of all runs with faults, in milliseconds. */
  readonly ms: number;
}

/** The result of all workloads. */
export interface ProgramReport {
  readonly workloads: readonly WorkloadReport[];
}

/** Simulates a program. @throws PrepareError when an object cannot be created @throws ProgramStartError */
export async function simulateProgram(options: SimulateProgramOptions): Promise<ProgramReport> {
  const simulation = await ProgramSimulation.prepare(options);
  const workloads: WorkloadReport[] = [];
  for (const workload of options.workloads) workloads.push(await simulation.run(workload));
  return { workloads };
}

/** The program did not start, or opened no watch. */
export class ProgramStartError extends Error {
  override readonly name = "ProgramStartError";
  /** The last lines that it has printed. */
  readonly output: readonly string[];

  constructor(state: string, output: readonly string[]) {
    super(`Cannot simulate the program: ${state}`);
    this.output = output;
  }
}

/** Quiet milliseconds in a run without faults, at least. */
const minReferenceQuietMs = 1_000;
const referenceRuns = 2;
const confirmingRuns = 2;
const patientFactor = 3;
/** Without faults once more, before a difference is believed. */
const extraReferenceRuns = 1;
const serverHosts = ["127.0.0.1", "localhost", "kubernetes.default.svc"];
const certificateMs = 24 * 3_600_000;
const defaultIdentity: ProgramIdentity = { namespace: "operator-system", name: "operator" };

interface Parts {
  readonly program: ProgramOptions;
  readonly certificates: IssuedCertificates;
  readonly clientCa: string;
  readonly prepared: PreparedCluster;
}

class ProgramSimulation {
  readonly #options: SimulateProgramOptions;
  readonly #parts: Parts;
  #runs = 0;

  private constructor(options: SimulateProgramOptions, parts: Parts) {
    this.#options = options;
    this.#parts = parts;
  }

  static async prepare(options: SimulateProgramOptions): Promise<ProgramSimulation> {
    const { clock, random, identity = defaultIdentity, env, folder, command, values, workingDirectory } = options;
    const { hosts, webhookUrl, services = [], signal, onError } = options;
    const now = clock.now();
    const [certificates, client, hasMounts] = await Promise.all([
      issueCertificates({ hosts: serverHosts, now, lifetimeMs: certificateMs }),
      issueCertificates({ hosts: [identity.name], now, lifetimeMs: certificateMs, usage: "client" }),
      canMount(joinPath(folder, "mount"), env),
    ]);
    const { ca } = certificates;
    const webhooks = webhookUrl === undefined
      ? undefined
      : await ProgramWebhooks.create({ objects: options.objects, host: hostOf(webhookUrl), clock });
    const given = [...serviceObjects(services, identity.namespace), ...options.objects];
    const objects = given.map((object) => webhooks?.withAuthority(object) ?? object);
    const { removedVersions } = options;
    const prepared = await prepareCluster({ identity, objects, ca, clock, random, signal, onError, removedVersions });
    const place = { hosts, values, webhooks, webhookUrl };
    const program = { command, identity, env, workingDirectory, ca, client, hasMounts, ...place };
    return new ProgramSimulation(options, { program, certificates, clientCa: client.ca, prepared });
  }

  /** Simulates one workload. */
  async run(workload: ForeignWorkload): Promise<WorkloadReport> {
    const state = await WorkloadState.learn(this, workload, this.#options);
    return await state.report();
  }

  /** Runs a workload once. @param how from an earlier state, with what is expected */
  async runOnce(workload: ForeignWorkload, how: RunVariant): Promise<ForeignRunResult> {
    const { program, certificates, clientCa, prepared } = this.#parts;
    const { clock, signal, onError, folder, services, removedVersions } = this.#options;
    const number = ++this.#runs;
    await using run = new ForeignRun({
      ...{ program, certificates, clientCa, clock, signal, onError, workload, services, removedVersions },
      plan: noFaults,
      storage: prepared.storage,
      firstRevision: prepared.storage.revision,
      podName: prepared.podName,
      folder: joinPath(folder, `run-${number}`),
      random: seededRandom(number),
      ...how,
    });
    return await run.run();
  }

  get firstRevision(): number {
    return this.#parts.prepared.storage.revision;
  }
}

type RunVariant =
  & Pick<ForeignRunOptions, "pace">
  & Partial<ForeignRunOptions>;

/** The simulation of one workload. */
class WorkloadState {
  readonly #simulation: ProgramSimulation;
  readonly #workload: ForeignWorkload;
  readonly #options: SimulateProgramOptions;
  readonly #references: ForeignRunResult[];
  readonly #firstPace: RunPace;
  #reference: ProgramReference;
  #hasSnapshots = false;
  readonly #findings: ProgramFinding[] = [];
  readonly #covered = new Map<FaultKind, { tested: number; all: number }>();
  #schedules = 0;
  #unconfirmed = 0;

  private constructor(
    simulation: ProgramSimulation,
    workload: ForeignWorkload,
    options: SimulateProgramOptions,
    learned: { readonly references: ForeignRunResult[]; readonly pace: RunPace },
  ) {
    this.#simulation = simulation;
    this.#workload = workload;
    this.#options = options;
    this.#references = learned.references;
    this.#firstPace = learned.pace;
    this.#reference = referenceOf(learned.references, simulation.firstRevision, learned.pace);
  }

  static async learn(
    simulation: ProgramSimulation,
    workload: ForeignWorkload,
    options: SimulateProgramOptions,
  ): Promise<WorkloadState> {
    const { startMs = 60_000, quietMs = 3_000, onProgress } = options;
    let pace = { quietMs, patienceMs: quietMs, startMs, settleMs: Math.max(60_000, quietMs * 4) };
    const references: ForeignRunResult[] = [];
    for (let number = 1; number <= referenceRuns; number++) {
      const stage = "reference";
      onProgress?.({ workload: workload.name, stage, schedules: number, all: referenceRuns, findings: 0 });
      const result = await simulation.runOnce(workload, { pace, keepsSnapshots: number === 1 });
      if (result.watches === 0) throw notStarted(result);
      references.push(result);
      // The next runs need not be as careful as the first one.
      const gapMs = Math.max(...result.steps.map(({ maxGapMs }) => maxGapMs));
      const shorterMs = Math.min(quietMs, Math.max(minReferenceQuietMs, Math.round(gapMs * 3)));
      pace = { ...pace, quietMs: shorterMs, patienceMs: shorterMs };
    }
    const state = new WorkloadState(simulation, workload, options, { references, pace });
    state.#schedules = references.length;
    await state.#trySnapshots();
    return state;
  }

  async report(): Promise<WorkloadReport> {
    const { clock, plan } = this.#options;
    const startedAt = clock.monotonic();
    const [first] = this.#references;
    if (this.#reference.violations.length > 0 && first !== undefined) {
      this.#findings.push(
        this.#findingOf(noFaults, first, { violations: this.#reference.violations, seen: 1, runs: 1 }),
      );
    } else if (plan !== undefined) await this.#check(plan);
    else await this.#checkAll();
    return {
      workload: this.#workload.name,
      schedules: this.#schedules,
      covered: this.#covered,
      findings: this.#findings,
      unconfirmed: this.#unconfirmed,
      convergenceMs: Math.max(0, (first?.steps[1]?.tookMs ?? 0) - this.#firstPace.quietMs),
      hasSnapshots: this.#hasSnapshots,
      ms: clock.monotonic() - startedAt,
    };
  }

  /** Uses snapshots if a run from the state before the last step ends as the others. */
  async #trySnapshots(): Promise<void> {
    const { snapshots = true } = this.#options;
    const last = this.#workload.steps.length;
    if (!snapshots || last < 2 || this.#reference.violations.length > 0) return;
    this.#hasSnapshots = true;
    const result = await this.#runPlan(noFaults, last);
    const [end, expected] = [result.steps.at(-1), this.#reference.steps.at(-1)];
    this.#hasSnapshots = end !== undefined && expected !== undefined &&
      isEqual(expected.summary.fields, end.summary.fields, this.#reference.masked) &&
      isEqual(expected.summary.lifecycles, end.summary.lifecycles, this.#reference.masked);
  }

  async #checkAll(): Promise<void> {
    const { kinds = new Set(faultKinds), points = Infinity, maxFindings = 3, jobs = 1, signal } = this.#options;
    const possible = programFaults(this.#reference, kinds);
    for (const { kind } of possible) this.#coverageOf(kind).all++;
    const planned = spread(possible, points);
    let next = 0;
    const work = async () => {
      while (next < planned.length && this.#findings.length < maxFindings && !signal.aborted) {
        const fault = planned[next++];
        if (fault === undefined) return;
        await this.#check({ faults: [fault] });
        this.#coverageOf(fault.kind).tested++;
        const { name } = this.#workload;
        const progress = { schedules: next, all: planned.length, findings: this.#findings.length };
        this.#options.onProgress?.({ workload: name, stage: "faults", ...progress });
      }
    };
    await Promise.all(Array.from({ length: jobs }, work));
  }

  /** Runs a plan, and confirms what it breaks. */
  async #check(plan: FaultPlan): Promise<void> {
    const result = await this.#runPlan(plan);
    const violations = compareRun(this.#reference, result, plan);
    if (violations.length === 0 || this.#isKnown(violations)) return;
    await this.#learnMore();
    if (compareRun(this.#reference, result, plan).length === 0) return;
    let seen = 1;
    let [worst, worstViolations] = [result, violations];
    for (let number = 1; number <= confirmingRuns; number++) {
      // One of them waits longer: a program may only be slow to recover.
      const again = await this.#runPlan(plan, 1, number === 1 ? patientFactor : 1);
      const found = compareRun(this.#reference, again, plan);
      if (!found.some(({ invariant }) => invariant === violations[0]?.invariant)) continue;
      seen++;
      [worst, worstViolations] = [again, found];
    }
    if (seen === 1) this.#unconfirmed++;
    else {
      this.#findings.push(
        this.#findingOf(plan, worst, { violations: worstViolations, seen, runs: 1 + confirmingRuns }),
      );
    }
  }

  /** Another run without faults, whose differences are not reported either. */
  async #learnMore(): Promise<void> {
    if (this.#references.length >= referenceRuns + extraReferenceRuns) return;
    this.#references.push(await this.#simulation.runOnce(this.#workload, { pace: this.#firstPace }));
    this.#schedules++;
    this.#reference = referenceOf(this.#references, this.#simulation.firstRevision, this.#firstPace);
  }

  /** @param atLeast the step to start with, if there are snapshots @param factor makes it more patient */
  async #runPlan(plan: FaultPlan, atLeast = 1, factor = 1): Promise<ForeignRunResult> {
    const { pace, steps, masked, learned, watches } = this.#reference;
    const first = plan.faults.length === 0 ? atLeast : Math.min(...plan.faults.map(firstStepOf));
    const snapshot = this.#hasSnapshots && first > 1 ? steps[first - 1]?.storage : undefined;
    this.#schedules++;
    return await this.#simulation.runOnce(this.#workload, {
      plan,
      pace: { ...pace, patienceMs: pace.patienceMs * factor },
      expected: steps.map(({ summary }) => summary.fields),
      learned,
      masked,
      watches,
      ...(snapshot === undefined ? {} : { storage: snapshot, firstStep: first }),
    });
  }

  #findingOf(
    plan: FaultPlan,
    { entries, output }: ForeignRunResult,
    { violations, seen, runs }: Pick<ProgramFinding, "violations" | "seen" | "runs">,
  ): ProgramFinding {
    const timeline = foldRepeats(timelineOf(entries));
    return { workload: this.#workload.name, plan, violations, seen, runs, timeline, entries, output };
  }

  /** True when there is a finding with the same first violation. */
  #isKnown([first]: readonly Violation[]): boolean {
    return this.#findings.some(({ violations: [known] }) =>
      known?.invariant === first?.invariant && known?.object === first?.object && known?.message === first?.message
    );
  }

  #coverageOf(kind: FaultKind): { tested: number; all: number } {
    const count = this.#covered.get(kind) ?? { tested: 0, all: 0 };
    this.#covered.set(kind, count);
    return count;
  }
}

/** The host of a URL whose port may be a placeholder: `::1` of `https://[::1]:{port}`. */
function hostOf(url: string): string {
  return /^https:\/\/(\[[^\]]*\]|[^/:]*)/.exec(url)?.[1]?.replace(/^\[(.*)\]$/, "$1") ?? "localhost";
}

function notStarted({ violations: [first], output }: ForeignRunResult): ProgramStartError {
  const state = first === undefined ? "it opened no watch" : `${first.message} before it opened a watch`;
  return new ProgramStartError(state, output);
}

/** At most `count` of the values, as far from each other as possible. */
function spread<Value>(values: readonly Value[], count: number): readonly Value[] {
  const step = Math.max(1, values.length / count);
  return values.filter((_, index) => Math.floor(index / step) !== Math.floor((index - 1) / step));
}
