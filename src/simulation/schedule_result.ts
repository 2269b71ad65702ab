/** What runSchedule() takes and returns. */
import type { Clock } from "../async/mod.ts";
import type { OperatorController, Workload } from "../manager/mod.ts";
import type { Recorder } from "../observe/mod.ts";
import type { StepWrites } from "./_prompt_writes.ts";
import type { SentWrite } from "./_sent_fields.ts";
import type { StaleStart } from "./_stale_creations.ts";
import type { FaultPlan } from "./fault_plan.ts";
import type { PointCounts } from "./fault_points.ts";
import type { RunTotals } from "./run_totals.ts";
import type { Outcome } from "./summary.ts";
import type { Violation } from "./violation.ts";

/** Options of runSchedule(). */
export interface ScheduleOptions {
  readonly controllers: readonly OperatorController[];
  readonly workload: Workload;
  /** @default no faults */
  readonly plan?: FaultPlan;
  /** The source of randomness: the order of concurrent events, UIDs, jitter. @default 1 */
  readonly seed?: number;
  /** Processes of the operator; several of them elect a leader, or divide the keys. @default 1 */
  readonly replicas?: number;
  /** The replicas divide the keys between them. @default false */
  readonly sharded?: boolean;
  /**
   * The operator is a fleet with so many members beside its hub. The workload is performed in each of them; the faults hit the
   * first one, and the processes. @default 0: one cluster, without a fleet
   */
  readonly members?: number;
  /**
   * After the result, users delete their objects, and everything settles: a controller whose memory outlives the run can forget
   * them. @default false
   */
  readonly cleanUp?: boolean;
  /**
   * False for a run in which the operator is not restarted by the fault `restart`: only the deletion that comes with it takes
   * place. @default true
   */
  readonly isRestarted?: boolean;
  /** Called when the result is known, before the clean-up. @default nothing */
  readonly onResult?: () => void;
  /** Called with the clock of the run, which starts at 2026-01-01. The result records everything. @default nothing is recorded */
  readonly recorder?: (clock: Clock) => Recorder;
}

/** What happened in one cluster of a run. */
export interface ClusterResult {
  readonly outcome: Outcome;
  /** The writes that reached the server, in order. */
  readonly writes: readonly SentWrite[];
  /** The revision of the server at the start. */
  readonly firstRevision: number;
  /** The revision at which everything had settled after the last step. */
  readonly settledRevision: number;
  /** Writes of the operator in the minute after that. */
  readonly lateWrites: number;
  /** How often each kind of point occurred. */
  readonly points: PointCounts;
  /** The number of changes on the server until the end of each step. */
  readonly stepRevisions: readonly number[];
  /** The collection of each change on the server since the start, oldest first; none when they are too many to be kept. */
  readonly changedCollections: readonly string[];
  /** The number of dependents at the end of each step. */
  readonly dependents: readonly number[];
  /** How soon the operator has written after each step. */
  readonly stepWrites: readonly StepWrites[];
  /** A fault has taken the server away for good: nothing can be expected of its objects. */
  readonly isGone: boolean;
  /** Broken invariants that can be found without a run to compare with. */
  readonly violations: readonly Violation[];
}

/** The result of a run. With a fleet, it is that of the first member. */
export interface ScheduleResult extends ClusterResult {
  /** When a process first started on a stale server. */
  readonly staleFrom: StaleStart | undefined;
  readonly settling: Settling;
  /** The run ended early, because the controllers reconcile without end. */
  readonly isHotLoop: boolean;
  /** The other members of a fleet, and its hub, by name. */
  readonly others: ReadonlyMap<string, ClusterResult>;
  readonly totals: RunTotals;
}

/** How the run settled. "retrying": no more writes, but some key still fails. "unsettled": it did not settle. */
export type Settling = "settled" | "retrying" | "unsettled";
