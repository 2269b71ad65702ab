/**
 * mergeConfiguration(): merges an apply configuration of a MutatingAdmissionPolicy into an object with the semantics of
 * server-side apply, but without owners. As apiserver `policy/mutating/patch/smd.go` of Kubernetes 1.36.
 *
 * Guarantees: a configuration with an atomic list or object is refused, because the fields that it leaves out would be lost.
 */
import { isJsonArray, isJsonObject, type Json, type JsonObject, type TypeSchema } from "../model/mod.ts";
import { FieldsError } from "./_element.ts";
import { fieldsOf, fieldTypeOf, isNamedField } from "./_shape.ts";
import { validateValue } from "./_validate_value.ts";
import { mergeValues } from "./updater.ts";

/** The configuration cannot be merged. */
export class ConfigurationError extends Error {
  override readonly name = "ConfigurationError";
}

/**
 * The object with the fields of the configuration. Unchanged parts are shared with `live`.
 *
 * @param applied with the apiVersion and kind of `live`
 * @throws ConfigurationError
 */
export function mergeConfiguration(live: JsonObject, applied: JsonObject, type: TypeSchema): JsonObject {
  step("failed to convert patch object to typed object", () => validateValue(applied, type));
  const atomics = [...atomicPaths(applied, type, "")];
  if (atomics.length > 0) {
    const why = `may not mutate atomic arrays, maps or structs: ${atomics.join(", ")}`;
    throw new ConfigurationError(`invalid ApplyConfiguration: ${why}`);
  }
  step("failed to convert original object to typed object", () => validateValue(live, type, { mayRepeat: true }));
  return step("failed to merge patch", () => fieldsOf(mergeValues(live, applied, type) ?? live));
}

function step<Result>(what: string, run: () => Result): Result {
  try {
    return run();
  } catch (error) {
    throw error instanceof FieldsError ? new ConfigurationError(`${what}: ${error.message}`, { cause: error }) : error;
  }
}

/** The paths of atomic lists and objects, e.g. `.spec.selector`. */
function* atomicPaths(value: Json, type: TypeSchema, path: string): Generator<string, void, void> {
  if (isJsonArray(value)) {
    if (type.kind !== "list" && type.kind !== "any") return;
    if (type.kind === "any" || type.listType === "atomic") yield path;
    const itemType = type.kind === "any" ? type : type.items;
    for (const [index, item] of value.entries()) yield* atomicPaths(item, itemType, `${path}[${index}]`);
  } else if (isJsonObject(value)) {
    if ((type.kind === "struct" || type.kind === "map") && type.isAtomic) yield path;
    for (const [name, field] of Object.entries(value)) {
      if (isNamedField(type, name)) yield* atomicPaths(field, fieldTypeOf(type, name), `${path}.${name}`);
    }
  }
}
