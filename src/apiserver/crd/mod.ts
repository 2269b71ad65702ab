/** CustomResourceDefinitions: the rules of their kind, and the kinds of custom resources that they define. */
export { definitionRules } from "./definition/mod.ts";
export {
  CustomKind,
  CustomResources,
  type CustomResourcesOptions,
  type VersionSchema,
  versionSchemaOf,
} from "./objects/mod.ts";
