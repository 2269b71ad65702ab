/** Custom resources: their kinds, conversion between versions, tables, and the controllers that serve them. */
export { CustomKind } from "./custom_kind.ts";
export { CustomResources, type CustomResourcesOptions } from "./custom_resources.ts";
export { type VersionSchema, versionSchemaOf } from "./version_schema.ts";
