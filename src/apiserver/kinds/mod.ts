/** The kinds of Kubernetes itself: their types, names, defaults and rules. */
export { BuiltinKind } from "./builtin_kind.ts";
export {
  bodyFamilies,
  builtinFamilies,
  type BuiltinFamily,
  type BuiltinKindsOptions,
  type TableMaker,
  typeLibrary,
} from "./builtin_kinds.ts";
export { builtinGroups, type BuiltinNames } from "./kind_names.ts";
export type { Depth, KindRules, RuleBook } from "./kind_rules.ts";
export { openApiOf, referencesOf } from "./open_api_of.ts";
export { FieldPath, Problems } from "./problems.ts";
export { UndecodableError } from "./undecodable_error.ts";
export type { GroupVersionKind, WireScalarName, WireStruct, WireType } from "./wire_type.ts";
export { fullNameOf, packageNames, structNames, wireStruct } from "./wire_types.ts";
export { checkClientConfig, webhookRules } from "./rules/webhooks.ts";
export { policyRules } from "./rules/policies.ts";
export type { ExpressionChecks, PolicyExpressionChecks } from "./expression_checks.ts";
export { columns as publishedColumns } from "./generated/columns.ts";
export {
  draftAt,
  draftsAt,
  findDraft,
  findNumber,
  findObject,
  flagAt,
  has,
  nameOf,
  numberAt,
  objectAt,
  objectIn,
  objectsAt,
  setIfAbsent,
  textAt,
  textMapAt,
  textsAt,
} from "./fields.ts";
export { compareQuantities, formatQuantity, parseQuantity, sumOfQuantities } from "./quantity.ts";
export { aggregated, serviceClassOf } from "./pods/aggregate.ts";
