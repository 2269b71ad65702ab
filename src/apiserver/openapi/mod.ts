/** OpenAPI of what the server has: version 3 for each group and version, version 2 for all together. */
export { openApiPaths } from "./open_api_paths.ts";
