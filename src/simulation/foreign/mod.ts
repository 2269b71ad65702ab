/**
 * The engine for operators that are programs of any kind: a control plane in this process, the fault layer of the simulation in
 * front of it, and the program as a process group, on real time. See docs/guide/simulate_any_operator.md.
 */
export { PrepareError } from "./baseline.ts";
export { type ForeignStep, type ForeignWorkload, stepText, withSteps } from "./foreign_workload.ts";
export { type ProgramIdentity } from "./program_objects.ts";
export { placeholders } from "./program.ts";
export { ProgramChecker, ProgramStartError } from "./program_checker.ts";
export type {
  CheckedPlan,
  FaultFreeReport,
  FaultFreeRun,
  FaultFreeRunner,
  FaultFreeStep,
  LearnedWorkload,
  PlanChecker,
  ProgramFinding,
  ProgramProgress,
  ProgramReport,
  SimulateProgramOptions,
  WorkloadReport,
} from "./simulate_options.ts";
export { simulateProgram } from "./simulate_program.ts";
export {
  definitionsOf,
  type GeneratedWorkloads,
  generateWorkloads,
  type GenerateWorkloadsOptions,
} from "./generated_workload.ts";
export { webhookServicesOf } from "./program_webhooks.ts";
export { RecordedAnswers } from "./recorded_answers.ts";
export {
  isAnswersFile,
  parseServiceFlag,
  type ServiceFlag,
  type ServiceStub,
  ServiceStubError,
} from "./service_stubs.ts";
export { parseWorkload, type WorkloadDocument, WorkloadFileError } from "./workload_file.ts";
