/** The debug endpoint of a process: what its controllers, queues and caches do at this moment, and why. */
export { debugEndpoints, type DebugEndpointsOptions } from "./debug_endpoints.ts";
export {
  type CacheState,
  type DebugMember,
  DebugState,
  type DebugStateOptions,
  type KeyState,
  type KeyStateName,
  keyStates,
  knownController,
  type QueueState,
} from "./debug_state.ts";
