/** What the scale subresource asks of an object: its numbers must be numbers. */
import {
  type FieldError,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  read,
  type ScalePaths,
} from "../model/mod.ts";
import { isInt64 } from "./_type_check.ts";
import { stepsOf } from "./simple_paths.ts";

const maxInt32 = 2 ** 31 - 1;

/** What is wrong with the wanted replicas. */
export function scaleSpecErrors(object: JsonObject, { specReplicas }: ScalePaths): readonly FieldError[] {
  return replicasErrors(object, specReplicas);
}

/** What is wrong with the status that scale shows. */
export function scaleStatusErrors(object: JsonObject, paths: ScalePaths): readonly FieldError[] {
  const errors = replicasErrors(object, paths.statusReplicas);
  if (paths.labelSelector === undefined) return errors;
  const found = nested(object, paths.labelSelector, "string", (value) => typeof value === "string");
  if (found.kind !== "failed") return errors;
  return [...errors, { type: "Invalid", field: paths.labelSelector, value: "", detail: found.message }];
}

function replicasErrors(object: JsonObject, path: string): readonly FieldError[] {
  const found = nested(object, path, "int64", (value) => typeof value === "number" && isInt64(value));
  const fail = (
    value: Json,
    detail: string,
  ): readonly FieldError[] => [{ type: "Invalid", field: path, value, detail }];
  if (found.kind === "failed") return fail(0, found.message);
  const count = typeof found.value === "number" ? found.value : 0;
  if (count < 0) return fail(count, "should be a non-negative integer");
  return count > maxInt32 ? fail(count, `should be less than or equal to ${maxInt32}`) : [];
}

type Nested =
  | { readonly kind: "value"; readonly value: Json | undefined }
  | { readonly kind: "failed"; readonly message: string };

function nested(object: JsonObject, path: string, type: string, isOfType: (value: Json) => boolean): Nested {
  const steps = stepsOf(path);
  let value: Json = object;
  for (const [index, step] of steps.entries()) {
    if (!isJsonObject(value)) return failed(steps.slice(0, index + 1), value, "map[string]interface{}");
    const next: Json | undefined = read(value, step);
    if (next === undefined) return { kind: "value", value: undefined };
    value = next;
  }
  return isOfType(value) ? { kind: "value", value } : failed(steps, value, type);
}

function failed(steps: readonly string[], value: Json, type: string): Nested {
  const [shown, found] = [plain(value), goTypeOf(value)];
  return {
    kind: "failed",
    message: `.${steps.join(".")} accessor error: ${shown} is of the type ${found}, expected ${type}`,
  };
}

/** As Go's `%v`. */
function plain(value: Json): string {
  if (value === null) return "<nil>";
  if (isJsonArray(value)) return `[${value.map(plain).join(" ")}]`;
  if (!isJsonObject(value)) return String(value);
  return `map[${Object.keys(value).sort().map((key) => `${key}:${plain(value[key] ?? null)}`).join(" ")}]`;
}

function goTypeOf(value: Json): string {
  if (value === null) return "<nil>";
  if (isJsonArray(value)) return "[]interface {}";
  if (isJsonObject(value)) return "map[string]interface {}";
  if (typeof value === "number") return isInt64(value) ? "int64" : "float64";
  return typeof value === "boolean" ? "bool" : "string";
}
