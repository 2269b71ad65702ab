/**
 * CRDs as values: the schema of a kind, its comparison with another version, and its YAML.
 *
 * @module
 */
export {
  type BreakingChange,
  compareCrds,
  type CompareCrdsOptions,
  compareSchemas,
  type Crd,
  type CrdColumn,
  type CrdConversion,
  type CrdNames,
  CrdResource,
  type CrdScale,
  type CrdVersion,
  type CustomObject,
  type CustomResource,
  type InputOf,
  type Json,
  type ListType,
  type ObjectProblem,
  objectProblems,
  type OtherVersionOptions,
  type OutputOf,
  type ParseIssue,
  type ParseResult,
  printCrd,
  type PrinterColumn,
  type ResourceOptions,
  type SchemaMeta,
  type StoredCrd,
  type StructuralSchema,
  structuralSchema,
  type ValidationRule,
  type VersionOptions,
} from "./schema/mod.ts";
