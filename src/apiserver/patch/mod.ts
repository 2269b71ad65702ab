/**
 * Patches and field ownership as pure functions: JSON patch, merge patch, strategic merge patch, server-side apply, and the
 * managed fields of each write.
 */
export { type FieldValidation, jsonPatch, PatchApplyError, type Patched } from "./json_patch.ts";
export { ConfigurationError, mergeConfiguration } from "./merge_configuration.ts";
export { mergePatch } from "./merge_patch.ts";
export { strategicMergePatch } from "./strategic_merge_patch.ts";
export { applyConfiguration, applyConflict, type ApplyFields, type ApplyOutcome, type FieldConflict } from "./apply.ts";
export { type FieldContext, unchangedButTimes, type UpdateFields, updateManagedFields } from "./update.ts";
export {
  type ManagedFields,
  managedFieldsDraft,
  managedFieldsOf,
  managedFieldsProblem,
  type ManagerOperation,
  withManagedFields,
} from "./managed_fields.ts";
export { managedFieldsAfterScale, type ReplicasPaths, scaleManagedFields, type ScaleWrite } from "./scale_fields.ts";
export {
  differenceOf,
  type FieldPath,
  type FieldSet,
  fieldSetOf,
  hasField,
  intersectionOf,
  isEmptySet,
  noFields,
  pathsOf,
  pathText,
  readFieldSet,
  unionOf,
  withoutFields,
} from "./field_set.ts";
export { compareFields, type Comparison, ownedFields } from "./compare_fields.ts";
export type { Convert, Versioned } from "./_conversion.ts";
export type { ResetFields } from "./updater.ts";
