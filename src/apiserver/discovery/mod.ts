/** Discovery: the served groups, versions and kinds, in the legacy and the aggregated format, the server version, and who issues tokens. */
export type { AggregatedVersion, AggregatedVersions } from "./documents.ts";
export { discoveryPaths, serverVersion } from "./discovery_paths.ts";
export { issuerPaths } from "./issuer_paths.ts";
