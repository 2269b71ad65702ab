/**
 * SchemaResult: the errors of validating a value against a schema, as kube-openapi reports them, and their translation to
 * the field errors of apiextensions. The code of an error decides the type of the field error.
 *
 * Guarantees: of two errors with the same message only the first counts.
 */
import { type FieldError, goJson, goQuote, type Json } from "../../model/mod.ts";
import type { WorkBudget } from "./work_budget.ts";
import { fieldPath, shownPath } from "../../../cel/mod.ts";

/** The kind of an error. `composite` belongs to no field. */
export type SchemaErrorCode = "required" | "enum" | "tooLong" | "tooMany" | "type" | "invalid" | "composite";

/** One error. */
export interface SchemaError {
  readonly code: SchemaErrorCode;
  /** Path from the validated value; may begin with a dot. */
  readonly path: string;
  readonly value?: Json;
  /** The limit, for `tooLong` and `tooMany`. */
  readonly limit?: number;
  /** For `enum`. */
  readonly values?: readonly Json[];
  readonly message: string;
}

/** The errors of one validation. */
export class SchemaResult {
  readonly errors: SchemaError[] = [];
  /** Shared by the results of all alternatives. */
  readonly budget: WorkBudget;
  readonly #messages = new Set<string>();
  /** The number of matches. When no alternative is valid, the errors of the alternative with the most matches are shown. */
  matches = 0;

  constructor(budget: WorkBudget) {
    this.budget = budget;
  }

  /** Adds an error. @throws WorkExceededError when there are too many */
  add(error: SchemaError): void {
    this.budget.spendOnError(error.message);
    if (this.#messages.has(error.message)) return;
    this.#messages.add(error.message);
    this.errors.push(error);
  }

  merge(other: SchemaResult): void {
    for (const error of other.errors) this.add(error);
    this.matches += other.matches;
  }

  /** Adds the error that there are more errors than shown. */
  stop(message: string): void {
    this.errors.push({ code: "composite", path: "", message });
  }

  /** Drops the errors after the first `count`. */
  truncate(count: number): void {
    for (const error of this.errors.splice(count)) this.#messages.delete(error.message);
  }
}

/** The errors as field errors. @param base path of the validated value: "" or `status` */
export function fieldErrorsOf(result: SchemaResult, base: string): FieldError[] {
  return result.errors.map((error) => fieldErrorOf(error, base));
}

function fieldErrorOf(error: SchemaError, base: string): FieldError {
  if (error.code === "composite") return { type: "Invalid", field: shownPath(base), value: "", detail: error.message };
  const relative = error.path.replace(/^\./, "");
  const field = shownPath(relative === "" ? base : fieldPath(base, relative));
  const value = error.value ?? "";
  switch (error.code) {
    case "required":
      return { type: "Required", field, detail: "" };
    case "enum": {
      const values = error.values?.map((allowed) => goQuote(typeof allowed === "string" ? allowed : goJson(allowed))) ??
        [];
      const detail = values.length === 0 ? "" : `supported values: ${values.join(", ")}`;
      return { type: "NotSupported", field, value: error.value ?? null, detail };
    }
    case "tooLong":
      return { type: "TooLong", field, detail: atMost("may not be more than", error.limit ?? 0, "byte") };
    case "tooMany":
      return { type: "TooMany", field, value, detail: atMost("must have at most", error.limit ?? 0, "item") };
    case "type":
      return { type: "TypeInvalid", field, value, detail: error.message };
    case "invalid":
      return { type: "Invalid", field, value, detail: error.message };
    default:
      return error.code satisfies never;
  }
}

function atMost(what: string, limit: number, unit: string): string {
  return `${what} ${limit} ${unit}${limit === 1 ? "" : "s"}`;
}
