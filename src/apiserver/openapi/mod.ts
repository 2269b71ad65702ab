/** OpenAPI of the served kinds: version 3 for each group and version, version 2 for all of them. */
export { publishedSchema } from "./components.ts";
export { openApiPaths } from "./open_api_paths.ts";
