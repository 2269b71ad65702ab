/** The words all parts of the API server share: drafts and stored objects, kinds, type schemas, refusals. */
export {
  type Draft,
  draftOf,
  type DraftValue,
  isDraft,
  isJsonArray,
  isJsonObject,
  isSameJson,
  type Json,
  type JsonObject,
  put,
  read,
} from "./json.ts";
export type {
  AnySchema,
  ListSchema,
  MapSchema,
  PatchStrategy,
  ScalarSchema,
  StructSchema,
  TypeSchema,
} from "./type_schema.ts";
export { objectMetaName, TypeLibrary, typeSchemaOf } from "./type_schema_of.ts";
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
  Refusal,
  type Subject,
} from "./refusal.ts";
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
export { goFloat, goJson, goQuote } from "./go_text.ts";
export { Pattern, type PatternMatch } from "./pattern.ts";
export { humanDuration } from "./human_duration.ts";
export { jsonError } from "./json_error.ts";
export { type FieldError, fieldErrorBody, type FieldErrorType, formatFieldErrors } from "./field_error.ts";
export type {
  Column,
  DeletionRules,
  Kind,
  KindNames,
  ObjectReader,
  ScalePaths,
  Subresource,
  Table,
  Verb,
  WriteContext,
} from "./kind.ts";
export type { AdmissionPlugin, AdmissionRequest, Operation } from "./admission.ts";
export type { Attributes, Authenticator, Authorizer, Decision, User } from "./access.ts";
