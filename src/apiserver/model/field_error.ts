/**
 * FieldError: one thing that is wrong with one field, and the text and cause a list of them becomes. Words as in
 * apimachinery `util/validation/field` of Kubernetes 1.36, since people and programs read them.
 */
import type { StatusCause } from "../../api/mod.ts";
import { goFloat, goJson, goQuote } from "./go_text.ts";
import type { Json } from "./json.ts";

/** What is wrong with a field. */
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

/** One wrong field. */
export interface FieldError {
  readonly type: FieldErrorType;
  /** `spec.containers[0].image`. */
  readonly field: string;
  /** What stood there; not shown for Required, Forbidden, TooLong and Internal, nor where it is left out. */
  readonly value?: Json;
  /** The value as the message shows it, where that is not its JSON: a type of Go whose fields stand in their own order. */
  readonly shown?: string;
  /** What would be right. For NotSupported: `supported values: "A", "B"`; for TooLong and TooMany the whole tail. */
  readonly detail: string;
}

/** The reasons that causes carry. */
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

/** The text of one error without its field, as a cause carries it. */
export function fieldErrorBody(error: FieldError): string {
  const title = titles[error.type];
  const { value } = error;
  const isShown = value !== undefined && hasValue(error.type);
  const shown = isShown ? `${title}: ${error.shown ?? shownValue(value)}` : title;
  return error.detail === "" ? shown : `${shown}: ${error.detail}`;
}

/** The message and the causes of several errors, as a Status carries them. */
export function formatFieldErrors(errors: readonly FieldError[]): { message: string; causes: readonly StatusCause[] } {
  const texts = errors.map((error) => `${error.field}: ${fieldErrorBody(error)}`);
  const unique = [...new Set(texts)];
  const causes = errors.map((error): StatusCause => ({
    reason: reasons[error.type],
    message: fieldErrorBody(error),
    field: error.field,
  }));
  const message = unique.length === 1 ? unique[0] ?? "" : unique.length === 0 ? "" : `[${unique.join(", ")}]`;
  return { message, causes };
}

function hasValue(type: FieldErrorType): boolean {
  return !["Required", "Forbidden", "TooLong", "Internal"].includes(type);
}

function shownValue(value: Json): string {
  if (typeof value === "string") return goQuote(value);
  if (typeof value === "number") return Number.isSafeInteger(value) ? String(value) : goFloat(value);
  return goJson(value);
}
