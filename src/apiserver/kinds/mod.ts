/** The built-in kinds of Kubernetes: their names, types, defaults, rules, tables and quota meters. */
export { checkClientConfig, mutatingRules, policyRules, webhookRules } from "./admissionregistration/mod.ts";
export { scaleTable } from "./autoscaling/mod.ts";
export { BuiltinKind, UndecodableError } from "./builtin_kind.ts";
export {
  bodyFamilies,
  builtinFamilies,
  type BuiltinFamily,
  type BuiltinKindsOptions,
  typeLibrary,
} from "./builtin_kinds.ts";
export { type CertificateSubject, certificateSubject } from "./certificates/mod.ts";
export { coversScopes, firstServiceIp, serviceCidr } from "./core/mod.ts";
export { builtinTable, meterOf } from "./kind_groups.ts";
export { type KindEffect, kindEffects } from "./kind_effects.ts";
export { builtinGroups, type BuiltinNames } from "./kind_names.ts";
export { removedVersions, serveRemovedVersion } from "./removed_versions.ts";
export { systemPriorities, systemPriorityClasses } from "./other_groups/mod.ts";
export { aggregateResources, claimNames, configMapNames, secretNames } from "./pods/mod.ts";
export { type SelectorCheck, selectorRules } from "./resource/mod.ts";
export {
  addAmounts,
  type Amounts,
  type ExpressionChecks,
  FieldPath,
  formatAmounts,
  isInRange,
  type KindRules,
  networkOf,
  onlyAmounts,
  parseCidr,
  parseIp,
  type PolicyExpressionChecks,
  Problems,
  type QuotaMeter,
  type RuleBook,
  subtractAmounts,
  withoutZeros,
} from "./rules/mod.ts";
export {
  booleanAt,
  compareQuantities,
  draftAt,
  draftsAt,
  findDraft,
  findNumber,
  findObject,
  formatQuantity,
  fullNameOf,
  type GroupVersionKind,
  has,
  hasWireStruct,
  nameOf,
  numberAt,
  objectAt,
  objectIn,
  objectsAt,
  openApiOf,
  packageNames,
  parseQuantity,
  readWireStruct,
  referencesOf,
  setIfAbsent,
  structNames,
  sumOfQuantities,
  textAt,
  textMapAt,
  textsAt,
  unionFieldOf,
  unionFields,
  type WireScalarName,
  type WireStruct,
  wireStruct,
  type WireType,
} from "./types/mod.ts";
