/** Discovery: the served groups, versions and kinds, in the legacy and the aggregated format, the server version, who issues tokens, and pages about the process. */
export type { AggregatedVersion, AggregatedVersions } from "./documents.ts";
export { discoveryPaths, serverVersion } from "./discovery_paths.ts";
export { issuerPaths } from "./issuer_paths.ts";
export { processPages } from "./process_pages.ts";
