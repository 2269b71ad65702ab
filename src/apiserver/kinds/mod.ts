/** The kinds of Kubernetes itself: their types, names, defaults and rules. */
export { BuiltinKind } from "./builtin_kind.ts";
export {
  builtinFamilies,
  type BuiltinFamily,
  type BuiltinKindsOptions,
  type TableMaker,
  typeLibrary,
} from "./builtin_kinds.ts";
export type { BuiltinNames } from "./kind_names.ts";
export type { Depth, KindRules, RuleBook } from "./kind_rules.ts";
export { openApiOf, referencesOf } from "./open_api_of.ts";
export { FieldPath, Problems } from "./problems.ts";
export { UndecodableError } from "./undecodable_error.ts";
export type { GroupVersionKind, WireScalarName, WireStruct, WireType } from "./wire_type.ts";
export { fullNameOf, packageNames, structNames, wireStruct } from "./wire_types.ts";
export { checkClientConfig } from "./rules/webhooks.ts";
