/** What a simulation of a program needs, and what it results in. */
import type { UntypedObject } from "../../api/mod.ts";
import type { Clock, Random } from "../../async/mod.ts";
import type { Entry } from "../../observe/mod.ts";
import type { Fault, FaultKind, FaultPlan } from "../fault_plan.ts";
import type { Violation } from "../violation.ts";
import type { ForeignWorkload } from "./foreign_workload.ts";
import type { StepOutcome } from "./perform_step.ts";
import type { ProgramIdentity } from "./program_objects.ts";
import type { ServiceStub } from "./service_stubs.ts";

/** Options of `simulateProgram`. */
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
  /** Processes of the program, which elect a leader. @default 1 */
  readonly replicas?: number;
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
  /** @default all, and with several replicas those that can change the leader */
  readonly kinds?: ReadonlySet<FaultKind>;
  /** Single faults per workload, spread evenly over all. @default all */
  readonly points?: number;
  /** Random combinations of faults per workload. @default 0 */
  readonly storms?: number;
  /** The seed of the first storm. @default 1 */
  readonly firstSeed?: number;
  /** Findings after which a workload is left. @default 3 */
  readonly maxFindings?: number;
  /** Runs at the same time in this process: more than one needs `{port}` for each port of the program. @default 1 */
  readonly jobs?: number;
  /** Run the plans instead of this process. @default none: this process does */
  readonly checkers?: readonly PlanChecker[];
  /** True in a network namespace of this process: stubs listen on all addresses. @default false */
  readonly hasOwnNetwork?: boolean;
  /** Runs start at a later step, where the program does the same then. @default true */
  readonly snapshots?: boolean;
  /** The program may do what the bindings of its ServiceAccount among the objects allow. @default it may do everything */
  readonly hasRules?: boolean;
  /** The runs have recordings for `why` and `page`, with whole objects. @default of their notes only */
  readonly isRecorded?: boolean;
  /** Milliseconds from the start of the program until it watches. @default 60000 */
  readonly startMs?: number;
  /** Milliseconds without a change after which the first runs count as at rest. @default 3000 */
  readonly quietMs?: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: ProgramProgress) => void;
  /** Called for each finding of the report, as soon as it is confirmed. */
  readonly onFinding?: (finding: ProgramFinding) => void;
  /** Called for each workload, when its runs without faults have ended. */
  readonly onLearned?: (learned: LearnedWorkload) => void;
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
  /** Those among them that are being shrunk. */
  readonly shrinking: number;
}

/** What was left out of a plan and its workload, because the rest is enough. */
export interface Shrunk {
  readonly faults: readonly [before: number, after: number];
  readonly steps: readonly [before: number, after: number];
  /** The runs that this took. */
  readonly schedules: number;
}

/** A plan that breaks an invariant. */
export interface ProgramFinding {
  readonly workload: string;
  readonly plan: FaultPlan;
  /** The numbers of the steps that are needed. @default all */
  readonly steps?: readonly number[];
  /** @default nothing was tried, or nothing could be left out */
  readonly shrunk?: Shrunk;
  readonly violations: readonly Violation[];
  /** In how many of how many runs with the plan it was seen. */
  readonly seen: number;
  readonly runs: number;
  /** What happened to the objects of the violations. */
  readonly timeline: string;
  /** Everything that happened in one of the runs. */
  readonly entries: readonly Entry[];
  /** The last lines of the program: a hint. */
  readonly output: readonly string[];
  /** The errors in its logs that runs without faults do not have: a hint. */
  readonly errors: readonly string[];
}

/** The result of one workload. */
export interface WorkloadReport {
  readonly workload: string;
  /** All runs, with those without faults. */
  readonly schedules: number;
  readonly covered: ReadonlyMap<FaultKind, { readonly tested: number; readonly all: number }>;
  readonly findings: readonly ProgramFinding[];
  /** See {@link CheckedPlan}. */
  readonly passed?: readonly Entry[];
  /** Violations that were not seen again. */
  readonly unconfirmed: number;
  /** Plans of which no fault took place: the program did not come to its point. */
  readonly unreached: number;
  /** What stays of deleted objects without faults, too: it may be meant to stay. */
  readonly leftovers: readonly string[];
  /** From the start of the program to rest after the first step without faults. */
  readonly convergenceMs: number;
  /** The steps at which runs may start. Where a process keeps something from earlier steps, they cannot. */
  readonly starts: readonly number[];
  /** The time of all runs with faults, in milliseconds. */
  readonly ms: number;
}

/** The result of all workloads. */
export interface ProgramReport {
  readonly workloads: readonly WorkloadReport[];
}

/** What a workload does without faults. */
export interface LearnedWorkload {
  /** The faults that are possible. */
  readonly faults: readonly Fault[];
  /** It breaks an invariant without any. @default it does not */
  readonly finding?: ProgramFinding;
  /** The steps that users could not do without faults, and why. A rejection may be intended. */
  readonly failedSteps: readonly string[];
  readonly schedules: number;
  readonly convergenceMs: number;
  readonly starts: readonly number[];
  /** See {@link WorkloadReport}. */
  readonly leftovers: readonly string[];
}

/** The result of a plan. */
export interface CheckedPlan {
  /** @default nothing new was found */
  readonly finding?: ProgramFinding;
  /** It broke an invariant, but not again. */
  readonly isUnconfirmed: boolean;
  /** The recording of a plan of the user that breaks nothing, if runs are recorded. */
  readonly passed?: readonly Entry[];
  /** A fault of the plan took place. */
  readonly isReached: boolean;
  readonly schedules: number;
}

/** One step of a run without faults. */
export interface FaultFreeStep {
  /** Its number, from 1; 0 is the start of the program. */
  readonly step: number;
  /** `delete ZookeeperCluster zk`. */
  readonly text: string;
  readonly kind: StepOutcome["kind"];
  /** Why it is not done. */
  readonly message?: string;
  /** Milliseconds from the action to the last change that follows from it. */
  readonly ms: number;
  /** The cluster has not come to rest after it. @default false */
  readonly isBusy?: boolean;
}

/** One run without faults. */
export interface FaultFreeRun {
  /** It ends with the first step that fails. */
  readonly steps: readonly FaultFreeStep[];
  /** Milliseconds of all steps. */
  readonly ms: number;
  /** Milliseconds of CPU time of the program and what it has started. @default not known on this system */
  readonly cpuMs?: number;
  /** The peak of its resident memory. @default not known on this system */
  readonly maxRssBytes?: number;
  /** What stays of deleted objects: it may be meant to stay. */
  readonly leftovers: readonly string[];
  /** The last lines of the program. */
  readonly output: readonly string[];
}

/** What runs of a workload without faults have shown. */
export interface FaultFreeReport {
  readonly workload: string;
  readonly runs: readonly FaultFreeRun[];
  /** Steps that fail, exits of the program, and requests that its rules do not allow. */
  readonly failures: readonly string[];
  /** In what the runs without failed steps differ. */
  readonly differences: readonly string[];
}

/** Runs workloads without faults only. */
export interface FaultFreeRunner {
  /** @param workload its name @param runs how many @throws ProgramStartError */
  runWithoutFaults(workload: string, runs: number): Promise<FaultFreeReport>;
}

/** Runs the plans of workloads, one at a time. */
export interface PlanChecker {
  /** Runs the workload without faults. @param workload its name */
  learn(workload: string): Promise<LearnedWorkload>;
  /** Runs a plan, and confirms what it breaks. */
  check(workload: string, plan: FaultPlan): Promise<CheckedPlan>;
  /** Leaves out faults and steps that a finding does not need. @returns the finding itself if it needs all of them */
  shrink(workload: string, finding: ProgramFinding): Promise<ProgramFinding>;
}
