/** OpenAPI of the served kinds: version 3 for each group and version, version 2 for all of them. */
export { openApiPaths } from "./open_api_paths.ts";
