/** The Common Expression Language as in Kubernetes 1.36: parsing, type checking, costs and evaluation. */
export {
  type AccessAttributes,
  AccessCheck,
  authorizerType,
  type DecideAccess,
  resourceCheckType,
} from "./authorizer.ts";
export { type Expr as CelExpr, qualifiedName } from "./ast.ts";
export { CelEnvironment, type Compiled } from "./environment.ts";
export { parseCel } from "./parser.ts";
export type { Checked } from "./_checker.ts";
export { type CelOutcome, type CelProgram, perCallLimit } from "./_planner.ts";
export {
  boolType,
  bytesType,
  type CelType,
  doubleType,
  durationType,
  dynType,
  formatType,
  formatTypeName,
  intType,
  listOf,
  mapOf,
  optionalOf,
  stringType,
  timestampType,
} from "./types.ts";
export {
  CelDuration,
  CelError,
  CelList,
  CelMap,
  CelOpaque,
  CelOptional,
  CelStruct,
  CelTimestamp,
  CelUint,
  itemsOf,
  noneOptional,
  noSuchOverload,
  type Value,
} from "./values.ts";
export type { CelExtension, FindStruct, StructType } from "./structs.ts";
export { overload, unary } from "./functions.ts";
export { equal } from "./_operators.ts";
export { jsonValueOf } from "./json_value.ts";
export { formatDuration, formatTimestamp, parseRfc3339 } from "./_time.ts";
export { dns1035LabelErrors, formatCheck, parseLooseDuration } from "./string_formats.ts";
export { parseRequestUri } from "./net.ts";
export { quantityOf, quantityType } from "./_quantity.ts";
export { versionOf } from "./_semver.ts";
export { cappedProduct, estimateCost, maxEstimate, type Range, type SizeAtPath } from "./cost_estimate.ts";
