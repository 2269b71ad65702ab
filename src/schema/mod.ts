/** From one zod schema: the type of a kind, its CustomResourceDefinition, its validation, and what a change would break. */
export { z } from "zod";
export { compareCrds, type CompareCrdsOptions } from "./compare_crds.ts";
export { type BreakingChange, compareSchemas } from "./compare_schemas.ts";
export {
  type Crd,
  type CrdColumn,
  type CrdConversion,
  type CrdNames,
  CrdResource,
  type CrdScale,
  type CrdVersion,
  type StoredCrd,
} from "./crd.ts";
export type {
  CustomObject,
  CustomResource,
  InferInput,
  InputOf,
  OutputOf,
  ParseIssue,
  ParseResult,
} from "./custom_resource.ts";
export { type ComparedCrd, type CrdChange, crdChanges } from "./crd_changes.ts";
export { defineResource } from "./define_resource.ts";
export { dotPath } from "./dot_path.ts";
export { compareKubeVersions } from "./kube_version.ts";
export { type ObjectProblem, objectProblems } from "./object_problems.ts";
export { embeddedResource, immutable, intOrString, quantity } from "./kinds.ts";
export { printCrd, printYaml } from "./print_yaml.ts";
export type { OtherVersionOptions, PrinterColumn, ResourceOptions, VersionOptions } from "./resource_options.ts";
export { structuralSchema } from "./structural.ts";
export type { Json, ListType, StructuralSchema, ValidationRule } from "./structural_schema.ts";
