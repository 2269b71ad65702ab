/** A world to test controllers in: server, cluster and controllers under one clock and one seed. */
export { type SettledOptions, World, type WorldObject, type WorldOptions } from "./world.ts";
export { Traffic } from "./traffic.ts";
