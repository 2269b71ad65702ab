/**
 * runSchedule(): one run of a workload under a fault plan. The same controllers, workload, plan and seed give the same run,
 * to the byte of its trace, on every runtime; no timer, socket or clock of the machine is touched.
 */
import { drain, seededRandom, VirtualClock } from "../async/mod.ts";
import type { OperatorController, Workload } from "../manager/mod.ts";
import type { PointCounts } from "./_gate_parts.ts";
import { Run, type Settling } from "./_run.ts";
import type { Summary } from "./_summary.ts";
import { type FaultPlan, noFaults } from "./fault_plan.ts";
import { Trace } from "./trace.ts";
import type { Violation } from "./violation.ts";

/** What is played. */
export interface ScheduleOptions {
  readonly controllers: readonly OperatorController[];
  readonly workload: Workload;
  /** @default no faults */
  readonly plan?: FaultPlan;
  /** What chance is made from: which of several things goes first, UIDs, jitter. @default 1 */
  readonly seed?: number;
  /** Processes of the operator; several elect a leader. @default 1 */
  readonly replicas?: number;
}

/** What came of it. */
export interface ScheduleResult {
  readonly summary: Summary;
  readonly trace: Trace;
  /** How often each kind of point came by. */
  readonly points: PointCounts;
  /** Changes on the server before the end of each step. */
  readonly stepRevisions: readonly number[];
  /** "retrying": nobody writes any more, and some key still fails. */
  readonly settling: Settling;
  /** What is wrong by itself, whatever a run without faults would have come to. */
  readonly violations: readonly Violation[];
}

/** Nothing in a run waits for a socket: promises alone lead from one thing to the next, so once round the loop is enough. */
const hopsPerDrain = 1;

/** Plays one schedule. */
export async function runSchedule(options: ScheduleOptions): Promise<ScheduleResult> {
  const { controllers, workload, plan = noFaults, seed = 1, replicas = 1 } = options;
  const clock = new VirtualClock({ drainHops: hopsPerDrain });
  const trace = new Trace(() => clock.monotonic());
  await using run = new Run({ controllers, plan, replicas, clock, trace, random: seededRandom(seed), seed });
  await run.begin();
  await run.play(workload.steps);
  await run.watchOver();
  await drain();
  return run.result();
}
