/**
 * CRDs as values: the schema of a kind, its comparison with another version, and its YAML.
 *
 * @module
 */
export {
  type BreakingChange,
  compareCrds,
  compareSchemas,
  type Crd,
  CrdResource,
  type CustomResource,
  type ObjectProblem,
  objectProblems,
  type ParseIssue,
  type ParseResult,
  printCrd,
  type ResourceOptions,
  type StructuralSchema,
  structuralSchema,
  type ValidationRule,
} from "./schema/mod.ts";
