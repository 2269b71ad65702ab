/** OpenAPI schemas of CustomResourceDefinitions: reading them, validation, pruning, defaults, and matching new with old values. */
export {
  Correlation,
  isRatcheted,
  OldItems,
  type Ratchet,
  ratchetOfAllOf,
  ratchetOfItem,
  ratchetOfKey,
  rootRatchet,
} from "./correlation.ts";
export { compileEmbeddedCheck, compileEmbeddedReader } from "./embedded.ts";
export { fieldPath, itemPath, parseFieldPath, shownPath, stepsOf, valueAt } from "./field_paths.ts";
export { compileListTypes } from "./list_types.ts";
export { compileDefaulter, compileNullPruner, compilePruner, prunedDefault, withPrunedDefaults } from "./pruning.ts";
export {
  readSchema,
  schemaOf,
  type SchemaProps,
  type UnsupportedKeyword,
  type ValidationRule,
  valueSchema,
} from "./schema_props.ts";
export { fieldErrorsOf } from "./schema_result.ts";
export { compileValidator, type Validator } from "./schema_validator.ts";
export { goTypeOf, isInt64 } from "./value_types.ts";
export { maxValidationWork, WorkBudget, WorkExceededError } from "./work_budget.ts";
