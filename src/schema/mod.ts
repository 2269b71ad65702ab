/** Makes the type, the CustomResourceDefinition and the validation of a kind from one zod schema, and compares CRDs. */
export { z } from "zod";
export { type BreakingChange, compareCrds, type CompareCrdsOptions, compareSchemas } from "./compare_crds.ts";
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
  OtherVersionOptions,
  OutputOf,
  ParseIssue,
  ParseOptions,
  ParseResult,
  PrinterColumn,
  ResourceOptions,
  VersionOptions,
} from "./custom_resource.ts";
export { type ComparedCrd, type CrdChange, crdChanges } from "./crd_changes.ts";
export { type BoundedIssue, boundedParse, type BoundedResult, parseBounded } from "./bounded_parse.ts";
export type { CheckedRule, CheckedRules, RuleSelf, UnknownField } from "./checked_rules.ts";
export { defineResource } from "./define_resource.ts";
export { dotPath } from "./dot_path.ts";
export {
  cel,
  CelEvaluationError,
  type CelExpression,
  type CelInput,
  type CelOptions,
  type CelOutput,
  type CelSelf,
} from "./cel_expression.ts";
export { InvalidObjectError } from "./invalid_object_error.ts";
export { compareKubeVersions } from "./kube_version.ts";
export { type ObjectProblem, objectProblems } from "./object_problems.ts";
export { type EmbeddedSchema, type EmbeddedSchemas, schemas, type TemplateMetadata } from "./embedded_schemas.ts";
export {
  embeddedResource,
  immutable,
  int64,
  integer,
  type IntegerBounds,
  intOrString,
  quantity,
} from "./value_schemas.ts";
export { printCrd } from "./print_crd.ts";
export { structuralSchema } from "./structural.ts";
export type { Json, ListType, SchemaMeta, StructuralSchema, ValidationRule } from "./structural_schema.ts";
