/** Discovery: the served groups, versions and kinds, in the legacy and the aggregated format, and the server version. */
export { discoveryPaths, serverVersion } from "./discovery_paths.ts";
