/**
 * For tests of controllers and of command lines: a cluster in memory with a virtual clock, a cluster for kubectl and other
 * programs, and the parts of a process that a test replaces.
 *
 * Apart from the main entry, so that a program that only runs controllers does not load an API server.
 *
 * @module
 */
export { assertRoundTrips, type RoundTripOptions } from "./arbitrary/mod.ts";
export { type Random, seededRandom, systemRandom, VirtualClock, type VirtualClockOptions } from "./async/mod.ts";
export { type ProcessEnvironment, type ProcessInput, type ProcessOutput } from "./cli/mod.ts";
export {
  EmbeddedCluster,
  type EmbeddedClusterOptions,
  type KubeletPace,
  RealCluster,
  type RealClusterOptions,
  startCluster,
  type StartClusterOptions,
  type TestCluster,
  type TestClusterOptions,
} from "./cluster/mod.ts";
export { type EventSink } from "./controller/mod.ts";
export {
  type AccessPlace,
  type AccessRule,
  controllerAccess,
  declaredTransport,
  UndeclaredAccessError,
} from "./manager/mod.ts";
export { type SignalName } from "./runtime/mod.ts";
export {
  type FleetServer,
  FleetWorld,
  type FleetWorldOptions,
  type ServerFault,
  type SettledOptions,
  simulateController,
  type SimulateControllerOptions,
  type SimulatedController,
  type SimulatedFinding,
  World,
  type WorldObject,
  type WorldOptions,
  WorldServer,
} from "./simulation/mod.ts";
