/** A world to test controllers in: server, cluster and controllers under one clock and one seed. */
export { type SettledOptions, World, type WorldObject, type WorldOptions } from "./world.ts";
export { Traffic } from "./traffic.ts";
export { runSchedule, type ScheduleOptions, type ScheduleResult } from "./schedule.ts";
export {
  type Act,
  type CrashMoment,
  type EventAction,
  type Fault,
  faultKinds,
  type FaultPlan,
  faultText,
  noFaults,
} from "./fault_plan.ts";
export { Trace, type TraceActor, type TraceEntry } from "./trace.ts";
export type { Invariant, Violation } from "./violation.ts";
export { type Points, singleFaults, stormsOf } from "./fault_points.ts";
export {
  type Finding,
  replay,
  simulate,
  type SimulateOptions,
  type SimulateProgress,
  type SimulateReport,
} from "./simulate.ts";
export { differing, fieldsOf, livesIn, type SummaryChange, type SummaryObject } from "./_summary.ts";
export { type PlannedSchedule, type Play, Player } from "./player.ts";
export { defaultWorkloads } from "./default_workloads.ts";
