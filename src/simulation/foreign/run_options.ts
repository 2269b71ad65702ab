/** What a run of a program needs, and what it results in. */
import type { ObjectStorage } from "../../apiserver/mod.ts";
import type { Clock, Random } from "../../async/mod.ts";
import type { Entry } from "../../observe/mod.ts";
import type { ProgramUsage } from "../../runtime/mod.ts";
import type { IssuedCertificates } from "../../webhook/mod.ts";
import type { LearnedNames } from "../engine.ts";
import type { FaultPlan } from "../fault_plan.ts";
import type { Outcome, Summary } from "../summary.ts";
import type { Violation } from "../violation.ts";
import type { Creators } from "./control_plane.ts";
import type { Leftover } from "./leftovers.ts";
import type { ForeignWorkload } from "./foreign_workload.ts";
import type { PassedPoint } from "./passed_points.ts";
import type { StepOutcome } from "./perform_step.ts";
import type { ProgramOptions } from "./program.ts";
import type { ServiceStub } from "./service_stubs.ts";

/** How long a run waits, in milliseconds. */
export interface RunPace {
  /** Nothing has changed for this time: the cluster is at rest, if it is in the state that is expected. */
  readonly quietMs: number;
  /** The same in another state, or when no state is expected. */
  readonly patienceMs: number;
  /**
   * The same when a step has waited in vain already, but for the last one: what a fault has broken is broken in all further
   * steps. @default patienceMs
   */
  readonly laterPatienceMs?: number;
  /** From the start of a process until it watches. */
  readonly startMs: number;
  /** A step that takes longer counts as unsettled. */
  readonly settleMs: number;
}

/** Options of a run. */
export interface ForeignRunOptions {
  readonly program: ProgramOptions;
  readonly certificates: IssuedCertificates;
  /** The authority of the client certificate of the program. */
  readonly clientCa: string;
  /** The objects at the start. */
  readonly storage: ObjectStorage;
  /** The revision before the first step: what is older is no result of a run. */
  readonly firstRevision: number;
  /** The Pods that the replicas of the program are: as many as there are replicas. */
  readonly podNames: readonly string[];
  readonly signingKey?: string;
  /** API versions of the past that the server serves all the same: `policy/v1beta1`. @default none */
  readonly removedVersions?: readonly string[];
  /** The folder of the run; it is removed at the end. */
  readonly folder: string;
  readonly workload: ForeignWorkload;
  /** The steps before this one have been performed: the storage has their result. @default 1 */
  readonly firstStep?: number;
  readonly plan: FaultPlan;
  /** Who has created the objects of the storage. @default nobody */
  readonly creators?: Creators;
  /** The applications that the program talks to. @default none */
  readonly services?: readonly ServiceStub[];
  /** See ServiceStubs. @default false */
  readonly hasOwnNetwork?: boolean;
  readonly pace: RunPace;
  /** By step, the compared state after it without faults; step 0 is the start. @default nothing is expected */
  readonly expected?: ReadonlyMap<number, ReadonlyMap<string, string>>;
  /** The steps at which a new process does the same as one that has lived through the steps before. @default none */
  readonly starts?: ReadonlySet<number>;
  /** Fields that are not compared. @default none */
  readonly masked?: ReadonlySet<string>;
  /** The names that runs do not share. @default nothing is known */
  readonly learned?: LearnedNames;
  /** Watches that the program opens. @default one is enough */
  readonly watches?: number;
  /** The program may do what the bindings of its ServiceAccount allow. @default false: it may do everything */
  readonly hasRules?: boolean;
  /** Records all requests and events, with whole objects. @default notes only, of which a timeline is made */
  readonly isRecorded?: boolean;
  /** Keeps a copy of the storage after each step. @default false */
  readonly keepsSnapshots?: boolean;
  /** The run ends at a step that finds no object or times out: the next steps need it. @default false */
  readonly endsAtFailure?: boolean;
  readonly clock: Clock;
  readonly random: Random;
  readonly signal: AbortSignal;
  readonly onError: (error: unknown) => void;
}

/** How a step ended. */
export interface PerformedStep {
  /** Its number, from 1. */
  readonly step: number;
  readonly kind: StepOutcome["kind"];
  /** Why it is not done. */
  readonly message?: string;
  /** Milliseconds of the action itself. What follows from it is in {@link StepEnd}. */
  readonly tookMs: number;
}

/** The state after a step. */
export interface StepEnd {
  /** Its number, from 1; 0 is the start of the program. */
  readonly step: number;
  /** What is compared, and what it was made of. */
  readonly summary: Summary;
  /** The same before a restart that followed the step. @default none did */
  readonly before?: Summary;
  readonly state: Outcome;
  /** Of the steps so far, from the first one that the run has performed. */
  readonly outcomes: readonly PerformedStep[];
  readonly isSettled: boolean;
  /** The longest time without a change before the last one, in milliseconds. */
  readonly maxGapMs: number;
  readonly tookMs: number;
  readonly revision: number;
  /** A copy of the objects, and who has created them. */
  readonly snapshot?: { readonly storage: ObjectStorage; readonly creators: Creators };
}

/** A process that has ended without a fault. */
export interface ProgramExit {
  /** `exits with code 1`. */
  readonly text: string;
  /** The faults that had taken place. */
  readonly faults: number;
}

/** The result of a run. */
export interface ForeignRunResult {
  /** The first step that was performed. */
  readonly firstStep: number;
  /** The first one is the start of the program: step 0, or the end of the step before the first one. */
  readonly steps: readonly StepEnd[];
  readonly points: readonly PassedPoint[];
  /** A process of the program has opened a watch. */
  readonly hasStarted: boolean;
  /** The open watches of the program at the end, and their collections. */
  readonly watches: number;
  readonly collections: readonly string[];
  readonly violations: readonly Violation[];
  /** The steps of the user that were performed. */
  readonly performed: readonly PerformedStep[];
  /** What all processes have used until the end of the last step. @default not known on this system */
  readonly usage?: ProgramUsage;
  readonly exits: readonly ProgramExit[];
  /** What has stayed of deleted objects, if the run came to its last step. */
  readonly leftovers: readonly Leftover[];
  /** The faults of the plan that took place. */
  readonly applied: number;
  readonly requests: number;
  readonly entries: readonly Entry[];
  /** The last lines that the program has printed. */
  readonly output: readonly string[];
  /** The errors in the logs of all processes. */
  readonly errors: readonly string[];
  readonly ms: number;
}
