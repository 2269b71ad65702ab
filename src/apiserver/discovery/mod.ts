/** What the server has: groups, versions and kinds, in the old form and in the aggregated one, and its version. */
export { discoveryPaths, serverVersion } from "./discovery_paths.ts";
