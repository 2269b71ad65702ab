/** Custom resources: their definitions, and the kinds that are made of these. */
export { CompiledSchema } from "./compiled_schema.ts";
export { type ConversionOptions, type Converter, converterOf } from "./conversion.ts";
export { type CrdNames, type CrdSpec, type CrdVersion, readCrd } from "./crd_spec.ts";
export { CustomKind, type CustomKindParts } from "./custom_kind.ts";
export { CustomResources, type CustomResourcesOptions } from "./custom_resources.ts";
export { definitionCollection, definitionRules } from "./definition_rules.ts";
