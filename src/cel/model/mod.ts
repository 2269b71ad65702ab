/** JSON, texts and errors as Go and the API server of Kubernetes write them. */
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
export { numberLiteral, parseLiteralJson, withLiterals, withPlainNumbers } from "./number_literal.ts";
export { type FieldError, fieldErrorBody, type FieldErrorType, formatFieldErrors } from "./field_error.ts";
export {
  booleanAt,
  findNumber,
  findObject,
  has,
  numberAt,
  objectAt,
  objectsAt,
  textAt,
  textsAt,
  valuesAt,
} from "./fields.ts";
