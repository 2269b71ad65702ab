/**
 * ProgramChecker: runs the workloads of a program in this process: first without faults, to learn what is expected, then under
 * the plans that it is asked to check. What breaks an invariant is run again before it is a finding.
 *
 * Guarantees: nothing of the program lives after a run. A finding has the plan that reproduces it.
 */
import { seededRandom } from "../../async/mod.ts";
import type { Entry } from "../../observe/mod.ts";
import { joinPath } from "../../runtime/mod.ts";
import { issueCertificates, type IssuedCertificates } from "../../webhook/mod.ts";
import { faultKinds, type FaultPlan, noFaults } from "../fault_plan.ts";
import { foldRepeats, timelineOf } from "../timeline.ts";
import type { Violation } from "../violation.ts";
import { prepareCluster, type PreparedCluster } from "./baseline.ts";
import { isEqual } from "./cluster_state.ts";
import { ForeignRun } from "./foreign_run.ts";
import type { ForeignWorkload } from "./foreign_workload.ts";
import { firstStepOf } from "./passed_points.ts";
import { canMount, type ProgramOptions } from "./program.ts";
import { programFaults } from "./program_faults.ts";
import type { ProgramIdentity } from "./program_objects.ts";
import { compareRun, type ProgramReference, referenceOf } from "./program_reference.ts";
import { ProgramWebhooks } from "./program_webhooks.ts";
import type { ForeignRunOptions, ForeignRunResult, RunPace } from "./run_options.ts";
import { serviceObjects } from "./service_stubs.ts";
import type {
  CheckedPlan,
  LearnedWorkload,
  PlanChecker,
  ProgramFinding,
  SimulateProgramOptions,
} from "./simulate_options.ts";

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
/** How long one of them waits in another state than the expected one: a minute is a usual delay before a retry. */
const patientRetryMs = 70_000;
/** The same for a process that was started anew: it retries nothing. */
const patientStartMs = 15_000;
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

/** Prepares a program, and runs its plans in this process. */
export class ProgramChecker implements PlanChecker {
  readonly #options: SimulateProgramOptions;
  readonly #simulation: ProgramSimulation;
  readonly #states = new Map<string, Promise<WorkloadState>>();

  private constructor(options: SimulateProgramOptions, simulation: ProgramSimulation) {
    this.#options = options;
    this.#simulation = simulation;
  }

  /** @throws PrepareError when an object cannot be created */
  static async prepare(options: SimulateProgramOptions): Promise<ProgramChecker> {
    return new ProgramChecker(options, await ProgramSimulation.prepare(options));
  }

  /** @throws ProgramStartError */
  async learn(workload: string): Promise<LearnedWorkload> {
    return (await this.#stateOf(workload)).learned();
  }

  async check(workload: string, plan: FaultPlan): Promise<CheckedPlan> {
    return await (await this.#stateOf(workload)).check(plan);
  }

  #stateOf(name: string): Promise<WorkloadState> {
    const workload = this.#options.workloads.find((one) => one.name === name);
    if (workload === undefined) throw new TypeError(`Cannot simulate the workload "${name}": it is not known`);
    const state = this.#states.get(name) ?? WorkloadState.learn(this.#simulation, workload, this.#options);
    this.#states.set(name, state);
    return state;
  }
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

  /** Runs a workload once. @param how from an earlier state, with what is expected */
  async runOnce(workload: ForeignWorkload, how: RunVariant): Promise<ForeignRunResult> {
    const { program, certificates, clientCa, prepared } = this.#parts;
    const { clock, signal, onError, folder, services, hasOwnNetwork, removedVersions } = this.#options;
    const number = ++this.#runs;
    await using run = new ForeignRun({
      ...{
        program,
        certificates,
        clientCa,
        clock,
        signal,
        onError,
        workload,
        services,
        hasOwnNetwork,
        removedVersions,
      },
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
  /** Runs without faults, and that of the snapshots. */
  #schedules = 0;

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

  /** What the runs without faults have shown. */
  learned(): LearnedWorkload {
    const [first] = this.#references;
    const { violations } = this.#reference;
    const { kinds = new Set(faultKinds) } = this.#options;
    const isBroken = violations.length > 0 && first !== undefined;
    return {
      faults: isBroken ? [] : programFaults(this.#reference, kinds),
      ...(isBroken ? { finding: this.#findingOf(noFaults, first, { violations, seen: 1, runs: 1 }) } : {}),
      schedules: this.#schedules,
      convergenceMs: Math.max(0, (first?.steps[1]?.tookMs ?? 0) - this.#firstPace.quietMs),
      hasSnapshots: this.#hasSnapshots,
    };
  }

  /** Uses snapshots if a run from the state before the last step ends as the others. */
  async #trySnapshots(): Promise<void> {
    const { snapshots = true } = this.#options;
    const last = this.#workload.steps.length;
    if (!snapshots || last < 2 || this.#reference.violations.length > 0) return;
    this.#hasSnapshots = true;
    this.#schedules++;
    const result = await this.#runPlan(noFaults, last);
    const [end, expected] = [result.steps.at(-1), this.#reference.steps.at(-1)];
    this.#hasSnapshots = end !== undefined && expected !== undefined &&
      isEqual(expected.summary.fields, end.summary.fields, this.#reference.masked) &&
      isEqual(expected.summary.lifecycles, end.summary.lifecycles, this.#reference.masked);
  }

  /** Runs a plan, and confirms what it breaks. */
  async check(plan: FaultPlan): Promise<CheckedPlan> {
    const result = await this.#runPlan(plan);
    const isReached = plan.faults.length === 0 || result.applied > 0;
    const clean = { isUnconfirmed: false, isReached };
    const violations = compareRun(this.#reference, result, plan);
    if (violations.length === 0 || this.#isKnown(violations)) return { ...clean, schedules: 1 };
    const schedules = 1 + await this.#learnMore();
    if (compareRun(this.#reference, result, plan).length === 0) return { ...clean, schedules };
    let seen = 1;
    let [worst, worstViolations] = [result, violations];
    for (let number = 1; number <= confirmingRuns; number++) {
      // One of them waits longer: a program may only be slow to recover.
      const isPatient = number === 1;
      const again = await this.#runPlan(plan, 1, isPatient ? patienceOf(plan) : 0);
      const found = compareRun(this.#reference, again, plan);
      // What heals in time is no violation.
      if (isPatient && found.length === 0 && canHeal(plan, violations)) break;
      if (!found.some(({ invariant }) => invariant === violations[0]?.invariant)) continue;
      seen++;
      [worst, worstViolations] = [again, found];
    }
    const all = schedules + confirmingRuns;
    if (seen === 1) return { isUnconfirmed: true, isReached, schedules: all };
    const finding = this.#findingOf(plan, worst, { violations: worstViolations, seen, runs: 1 + confirmingRuns });
    this.#findings.push(finding);
    return { ...clean, finding, schedules: all };
  }

  /** Another run without faults, whose differences are not reported either. @returns how many there were */
  async #learnMore(): Promise<number> {
    if (this.#references.length >= referenceRuns + extraReferenceRuns) return 0;
    this.#references.push(await this.#simulation.runOnce(this.#workload, { pace: this.#firstPace }));
    this.#reference = referenceOf(this.#references, this.#simulation.firstRevision, this.#firstPace);
    return 1;
  }

  /** @param atLeast the step to start with, if there are snapshots @param minPatienceMs of a patient run */
  async #runPlan(plan: FaultPlan, atLeast = 1, minPatienceMs = 0): Promise<ForeignRunResult> {
    const { pace, steps, masked, learned, watches } = this.#reference;
    const first = plan.faults.length === 0 ? atLeast : Math.min(...plan.faults.map(firstStepOf));
    const snapshot = this.#hasSnapshots && first > 1 ? steps[first - 1]?.storage : undefined;
    return await this.#simulation.runOnce(this.#workload, {
      plan,
      pace: {
        ...pace,
        patienceMs: Math.max(pace.patienceMs, minPatienceMs),
        settleMs: Math.max(pace.settleMs, minPatienceMs * 2),
      },
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
    const timeline = foldRepeats(timelineOf(entries.filter((entry) => !isDiscovery(entry))));
    return { workload: this.#workload.name, plan, violations, seen, runs, timeline, entries, output };
  }

  #isKnown(violations: readonly Violation[]): boolean {
    return this.#findings.some((finding) => isSameFinding(finding.violations, violations));
  }
}

/** True for a read of what the server serves, which each process begins with. */
function isDiscovery(entry: Entry): boolean {
  return entry.kind === "note" && /^GET \/(api|apis|openapi|version)(\/|\s|$)/.test(entry.what);
}

/** True when the first violations are equal. */
export function isSameFinding([one]: readonly Violation[], [other]: readonly Violation[]): boolean {
  return one?.invariant === other?.invariant && one?.object === other?.object && one?.message === other?.message;
}

/** The host of a URL whose port may be a placeholder: `::1` of `https://[::1]:{port}`. */
function hostOf(url: string): string {
  return /^https:\/\/(\[[^\]]*\]|[^/:]*)/.exec(url)?.[1]?.replace(/^\[(.*)\]$/, "$1") ?? "localhost";
}

function notStarted({ violations: [first], output }: ForeignRunResult): ProgramStartError {
  const state = first === undefined ? "it opened no watch" : `${first.message} before it opened a watch`;
  return new ProgramStartError(state, output);
}

/** Violations that a program may only be slow to repair. */
const healing: ReadonlySet<Violation["invariant"]> = new Set(["end-state", "quiescence"]);

/** A process that goes on may repeat everything later. One that was started anew has done all that it will do. */
function canHeal(plan: FaultPlan, violations: readonly Violation[]): boolean {
  return !hasRestart(plan) || violations.every(({ invariant }) => healing.has(invariant));
}

function patienceOf(plan: FaultPlan): number {
  return hasRestart(plan) ? patientStartMs : patientRetryMs;
}

function hasRestart({ faults }: FaultPlan): boolean {
  return faults.some(({ kind }) => kind === "crash" || kind === "stale");
}
