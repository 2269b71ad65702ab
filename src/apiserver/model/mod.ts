/** What all folders of the API server share: JSON, kinds, type schemas, the request chain, errors and their texts. */
export {
  type Draft,
  draftOf,
  type DraftValue,
  isDraft,
  isJsonArray,
  isJsonNumber,
  isJsonObject,
  isSameJson,
  type Json,
  type JsonObject,
  put,
  read,
} from "./json.ts";
export {
  type AnySchema,
  type ListSchema,
  type MapSchema,
  objectMetaName,
  type PatchStrategy,
  type ScalarSchema,
  type StructSchema,
  TypeLibrary,
  type TypeSchema,
  typeSchemaOf,
} from "./type_schema.ts";
export {
  alreadyExists,
  badRequest,
  conflict,
  expired,
  forbidden,
  internalError,
  invalid,
  methodNotSupported,
  notFound,
  notServed,
  StatusError,
  type Subject,
} from "./status_error.ts";
export {
  dnsLabelErrors,
  dnsSubdomainErrors,
  labelKeyErrors,
  labelValueErrors,
  maskTrailingDash,
  pathSegmentErrors,
  regexError,
  utf8Length,
} from "./formats.ts";
export {
  goAggregate,
  goFloat,
  goJson,
  goPlain,
  goQuote,
  goSyntax,
  goType,
  humanDuration,
  jsonTypeName,
} from "./go_text.ts";
export { Pattern, type PatternMatch, patternOf, patternSize } from "./pattern.ts";
export { jsonError } from "./json_error.ts";
export { JsonPath, JsonPathError, jsonPathError } from "./json_path.ts";
export { numberLiteral, parseLiteralJson, withLiterals, withPlainNumbers } from "./number_literal.ts";
export { type FieldError, fieldErrorBody, type FieldErrorType, formatFieldErrors } from "./field_error.ts";
export type {
  Column,
  ConvertedForm,
  DeletionRules,
  Kind,
  KindNames,
  NumberRule,
  ObjectReader,
  ScalePaths,
  Subresource,
  Table,
  Verb,
  WriteContext,
} from "./kind.ts";
export {
  type Attributes,
  type Authenticator,
  type Authorizer,
  type Connection,
  type Decision,
  deniedError,
  type FlowControl,
  type FlowTicket,
  nodeNameOf,
  type RequiredField,
  type User,
} from "./access.ts";
export type { AdmissionPlugin, AdmissionRequest, Operation } from "./admission.ts";
