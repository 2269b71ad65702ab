/**
 * Tests of controllers without a cluster: World, a test environment with a virtual clock, and simulate(), which runs workloads
 * under injected faults. See docs/SIMULATION.md.
 */
export { type SettledOptions, World, type WorldOptions } from "./world.ts";
export { type WorldObject, WorldServer } from "./world_server.ts";
export { type RecordedSchedule, recordSchedule } from "./recorded_schedule.ts";
export { runSchedule } from "./schedule.ts";
export type { ScheduleOptions, ScheduleResult } from "./schedule_result.ts";
export { type RunTotals, sumOf } from "./run_totals.ts";
export {
  type CrashMoment,
  type EventAction,
  type Fault,
  type FaultKind,
  faultKinds,
  type FaultPlan,
  faultPlanSchema,
  faultSchemas,
  faultText,
  noFaults,
  type UserAction,
} from "./fault_plan.ts";
export { digestOf, foldRepeats, timelineOf } from "./timeline.ts";
export { type Invariant, invariantNames, invariants, type Violation } from "./violation.ts";
export { generalConsequence } from "./consequence.ts";
export { type FaultPoints, singleFaults, stormsOf } from "./fault_points.ts";
export {
  type Finding,
  replay,
  simulate,
  type SimulateOptions,
  type SimulateProgress,
  type SimulateReport,
} from "./simulate.ts";
export {
  simulateController,
  type SimulateControllerOptions,
  type SimulatedController,
  type SimulatedFinding,
} from "./simulate_controller.ts";
export { differingKeys, fieldsOf, lifecyclesOf, type SummaryObject, summaryOf } from "./summary.ts";
export type { SummaryChange } from "./_server_changes.ts";
export { type CheckResult, type CheckSchedule, type PlannedSchedule, ScheduleChecker } from "./schedule_checker.ts";
export { defaultWorkloads } from "./default_workloads.ts";
export {
  type CheckedPlan,
  definitionsOf,
  type FaultFreeReport,
  type FaultFreeRun,
  type FaultFreeRunner,
  type FaultFreeStep,
  type ForeignStep,
  type ForeignWorkload,
  type GeneratedWorkloads,
  generateWorkloads,
  type GenerateWorkloadsOptions,
  isAnswersFile,
  type LearnedWorkload,
  parseServiceFlag,
  parseWorkload,
  placeholders,
  type PlanChecker,
  PrepareError,
  ProgramChecker,
  type ProgramFinding,
  type ProgramIdentity,
  type ProgramProgress,
  type ProgramReport,
  ProgramStartError,
  RecordedAnswers,
  type ServiceFlag,
  type ServiceStub,
  ServiceStubError,
  simulateProgram,
  type SimulateProgramOptions,
  stepText,
  webhookServicesOf,
  withSteps,
  type WorkloadDocument,
  WorkloadFileError,
  type WorkloadReport,
} from "./foreign/mod.ts";
export { FleetServer, FleetWorld, type FleetWorldOptions } from "./fleet_world.ts";
export type { ServerFault } from "./server_link.ts";
