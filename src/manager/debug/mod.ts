/** The debug endpoint of a process: what its controllers, queues and caches do at this moment, and why. */
export type { ControllerState, DebugMember } from "./controller_states.ts";
export { debugEndpoints, type DebugEndpointsOptions, type DebugMembers } from "./debug_endpoints.ts";
export { recordingEndpoints, type RecordingEndpointsOptions } from "./recording_endpoints.ts";
export {
  type CacheState,
  DebugState,
  type DebugStateOptions,
  knownController,
  type QueueState,
} from "./debug_state.ts";
export {
  type KeyPosition,
  type KeysPage,
  type KeysQuestion,
  type KeyState,
  type KeyStateName,
  keyStates,
} from "./key_states.ts";
export { type PlanAnswer, type PlanProblem, type PlanRow, type PlanSource } from "./plan_answers.ts";
export { durationBoundsMs, ReconcileTally } from "./reconcile_tally.ts";
