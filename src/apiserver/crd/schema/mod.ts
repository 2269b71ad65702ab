/** OpenAPI schemas of CustomResourceDefinitions: reading them, validation, pruning, defaults, and matching new with old values. */
export {
  Correlation,
  fieldPath,
  goTypeOf,
  isInt64,
  isRatcheted,
  itemPath,
  OldItems,
  parseFieldPath,
  type Ratchet,
  ratchetOfAllOf,
  ratchetOfItem,
  ratchetOfKey,
  readSchema,
  rootRatchet,
  schemaOf,
  type SchemaProps,
  shownPath,
  stepsOf,
  type UnsupportedKeyword,
  type ValidationRule,
  valueAt,
  valueSchema,
} from "../../../cel/mod.ts";
export { compileEmbeddedCheck, compileEmbeddedReader } from "./embedded.ts";
export { compileListTypes } from "./list_types.ts";
export { compileDefaulter, compileNullPruner, compilePruner, prunedDefault, withPrunedDefaults } from "./pruning.ts";
export { fieldErrorsOf } from "./schema_result.ts";
export { compileValidator, type Validator } from "./schema_validator.ts";
export { maxValidationWork, WorkBudget, WorkExceededError } from "./work_budget.ts";
