/**
 * Patches as pure functions, and field ownership: JSON patch, merge patch, strategic merge patch, server-side apply, and the
 * managed fields of every write.
 */
export { type FieldValidation, jsonPatch, type Patched, PatchMisfit } from "./json_patch.ts";
export { goPlain } from "./_go_text.ts";
export { mergePatch } from "./merge_patch.ts";
export { strategicMergePatch } from "./strategic_merge_patch.ts";
export { applyConfiguration, type ApplyFields, type ApplyOutcome } from "./apply.ts";
export { applyConflict, type FieldConflict } from "./conflict.ts";
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
export { ownedFields } from "./owned_fields.ts";
export { compareFields, type Comparison } from "./compare_fields.ts";
export type { Convert, Versioned } from "./_conversion.ts";
export type { ResetFields } from "./_updater.ts";
