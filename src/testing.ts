/**
 * The public surface for tests of controllers: a world in memory, and a cluster for other programs. Apart from mod.ts, so
 * that a program that only runs controllers does not load an API server.
 */
export { type Random, seededRandom, systemRandom } from "./async/mod.ts";
export { type AccessRule, controllerAccess, declaredTransport } from "./manager/mod.ts";
export { type ProcessEnvironment } from "./cli/mod.ts";
export { type EventSink } from "./controller/mod.ts";
export { type SettledOptions, World, type WorldObject, type WorldOptions } from "./simulation/mod.ts";
export { EmbeddedCluster, type EmbeddedClusterOptions, type KubeletPace } from "./cluster/mod.ts";
export { VirtualClock, type VirtualClockOptions } from "./async/mod.ts";
