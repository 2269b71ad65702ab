/**
 * FieldError: one validation error of one field, and the message and causes of a list of them. The texts are those of
 * apimachinery `util/validation/field` of Kubernetes 1.36, because users and programs read them.
 */
import type { StatusCause } from "../../api/mod.ts";
import { goFloat, goJson, goQuote } from "./go_text.ts";
import type { Json } from "./json.ts";

/** The type of an error. */
export type FieldErrorType =
  | "Required"
  | "Invalid"
  | "Duplicate"
  | "NotFound"
  | "NotSupported"
  | "Forbidden"
  | "TooLong"
  | "TooMany"
  | "TypeInvalid"
  | "Internal";

/** A validation error. */
export interface FieldError {
  readonly type: FieldErrorType;
  /** `spec.containers[0].image`. */
  readonly field: string;
  /** The invalid value. The message does not show it for Required, Forbidden, TooLong and Internal, or when it is absent. */
  readonly value?: Json;
  /** The value as the message shows it, where that is not its JSON: Go writes the fields of a struct in their own order. */
  readonly shown?: string;
  /** What is required. For NotSupported: `supported values: "A", "B"`; for TooLong and TooMany the rest of the message. */
  readonly detail: string;
}

/** The reasons in the causes of a Status. */
const reasons: Readonly<Record<FieldErrorType, string>> = {
  Required: "FieldValueRequired",
  Invalid: "FieldValueInvalid",
  Duplicate: "FieldValueDuplicate",
  NotFound: "FieldValueNotFound",
  NotSupported: "FieldValueNotSupported",
  Forbidden: "FieldValueForbidden",
  TooLong: "FieldValueTooLong",
  TooMany: "FieldValueTooMany",
  TypeInvalid: "FieldValueTypeInvalid",
  Internal: "InternalError",
};

const titles: Readonly<Record<FieldErrorType, string>> = {
  Required: "Required value",
  Invalid: "Invalid value",
  Duplicate: "Duplicate value",
  NotFound: "Not found",
  NotSupported: "Unsupported value",
  Forbidden: "Forbidden",
  TooLong: "Too long",
  TooMany: "Too many",
  TypeInvalid: "Invalid value",
  Internal: "Internal error",
};

/** The message of one error without its field, as a cause has it. */
export function fieldErrorBody(error: FieldError): string {
  const title = titles[error.type];
  const { value } = error;
  const isShown = value !== undefined && hasValue(error.type);
  const shown = isShown ? `${title}: ${error.shown ?? shownValue(value)}` : title;
  return error.detail === "" ? shown : `${shown}: ${error.detail}`;
}

/**
 * Characters of all errors of a Status. kube-apiserver has no limit: there a list of 200,000 wrong items, 400 KB, gets an
 * answer of 48 MB. No object that somebody wrote has as many errors.
 */
const maxCharacters = 256 * 1024;

/** The message and the causes of several errors, as a Status has them. Of very many errors only the first are formatted. */
export function formatFieldErrors(errors: readonly FieldError[]): { message: string; causes: readonly StatusCause[] } {
  const unique = new Set<string>();
  const causes: StatusCause[] = [];
  let left = maxCharacters;
  for (const error of errors) {
    const message = cut(fieldErrorBody(error));
    const field = cut(error.field);
    left -= field.length + message.length;
    if (left < 0 && causes.length > 0) {
      unique.add(`and ${errors.length - causes.length} more errors`);
      break;
    }
    unique.add(`${field}: ${message}`);
    causes.push({ reason: reasons[error.type], message, field });
  }
  const texts = [...unique];
  const message = texts.length === 1 ? texts[0] ?? "" : texts.length === 0 ? "" : `[${texts.join(", ")}]`;
  return { message, causes };
}

/** A single value, or a key, may be as long as the request. */
function cut(text: string): string {
  return text.length <= maxCharacters ? text : `${text.slice(0, maxCharacters)}…`;
}

function hasValue(type: FieldErrorType): boolean {
  return !["Required", "Forbidden", "TooLong", "Internal"].includes(type);
}

function shownValue(value: Json): string {
  if (typeof value === "string") return goQuote(value);
  if (typeof value === "number") return Number.isSafeInteger(value) ? String(value) : goFloat(value);
  return goJson(value);
}
