/** CustomResourceDefinitions: the rules of their kind, and the kinds of custom resources that they define. */
export { type CrdSpec, definitionRules, readCrd } from "./definition/mod.ts";
export { declaredTypeOf } from "../../cel/mod.ts";
export { readSchema } from "./schema/mod.ts";
export {
  CustomKind,
  CustomResources,
  type CustomResourcesOptions,
  type VersionSchema,
  versionSchemaOf,
} from "./objects/mod.ts";
