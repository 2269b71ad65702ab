/**
 * resourceRules(): runs the CEL rules of a kind on its objects, for `safeParse()`, with the code that the embedded API server
 * runs on a write.
 *
 * Guarantees: the rules are compiled at the first object, once; a kind without rules costs nothing; the cost of the rules of
 * one object is limited as on the API server.
 * Assumptions: the object has been parsed by zod, so its fields have the types of the schema.
 */
import {
  compileRuleValidator,
  isJsonObject,
  type Json,
  type JsonObject,
  read,
  readSchema,
  type RuleValidator,
} from "../cel/mod.ts";
import type { ParseIssue } from "./custom_resource.ts";
import type { StructuralSchema } from "./structural_schema.ts";

/** What the rules say about an object, and about its change from an old one. */
export type ResourceRules = (object: unknown, old: unknown) => readonly ParseIssue[];

/** The rules of the schema of a kind. */
export function resourceRules(schema: StructuralSchema): ResourceRules {
  let compiled: { readonly validate: RuleValidator | undefined } | undefined;
  return (object, old) => {
    compiled ??= { validate: isJsonObject(schema) ? compileRuleValidator(readSchema(schema)) : undefined };
    if (compiled.validate === undefined || !isJsonObject(object)) return [];
    const errors = compiled.validate(named(object), isJsonObject(old) ? old : undefined);
    return errors.map(({ field, detail, type }) => ({
      path: field === "<nil>" ? "" : field,
      message: detail === "" ? `is a ${type.toLowerCase()} value` : detail,
    }));
  };
}

/** The object with a name as long as the one that the API server generates before it evaluates rules. */
function named(object: JsonObject): JsonObject {
  const metadata = read(object, "metadata");
  if (!isJsonObject(metadata) || typeof read(metadata, "name") === "string") return object;
  const prefix = read(metadata, "generateName");
  return { ...object, metadata: { ...metadata, name: typeof prefix === "string" ? `${prefix}xxxxx` : "" } };
}

/** True for a value that JSON can have, and for an integer beyond 2^53. What is inside is not looked at. */
export function isJson(value: unknown): value is Json {
  return ["string", "number", "bigint", "boolean", "object"].includes(typeof value);
}
