/**
 * Whether the defaults of a schema are right: they hold no fields that the schema does not know, and they are valid by it,
 * its rules included. Order and texts of apiextensions `schema/defaulting/validation.go` of Kubernetes 1.36.
 */
import type { FieldPath } from "../kinds/mod.ts";
import { type FieldError, isJsonObject, isSameJson, type Json } from "../model/mod.ts";
import { objectCostBudget, type RuleRun } from "./cel_rules.ts";
import { prunedDefault } from "./compiled_schema.ts";
import { compileEmbeddedCheck } from "./embedded.ts";
import { child } from "./_field_paths.ts";
import { compileRuleWalk } from "./rule_validator.ts";
import { fieldErrorsOf } from "./_schema_errors.ts";
import type { SchemaProps } from "./schema_props.ts";
import { compileValidator } from "./schema_validator.ts";

/** What is wrong with the defaults of a resource's schema. @param path of the schema */
export function defaultErrors(schema: SchemaProps, path: FieldPath): readonly FieldError[] {
  const run: RuleRun = { errors: [], budget: objectCostBudget };
  checkNode({ ...schema, isEmbeddedResource: true }, path, false, run);
  return run.errors;
}

function checkNode(schema: SchemaProps, path: FieldPath, isInMetadata: boolean, run: RuleRun): void {
  const isInside = isInMetadata && !schema.isEmbeddedResource;
  if (schema.default !== undefined) checkDefault(schema.default, schema, path.child("default"), isInside, run);
  // Values of maps have none: they may not stand there.
  if (schema.items !== undefined && run.budget >= 0) checkNode(schema.items, path.child("items"), isInside, run);
  for (const [name, property] of schema.properties) {
    if (run.budget < 0) return;
    const isMeta = schema.isEmbeddedResource && ["metadata", "apiVersion", "kind"].includes(name);
    checkNode(property, path.child("properties").key(name), isInside || isMeta, run);
  }
}

function checkDefault(value: Json, schema: SchemaProps, path: FieldPath, isInMetadata: boolean, run: RuleRun): void {
  const field = path.toString();
  if (!isInMetadata && !isSameJson(prunedDefault(value, schema), value)) {
    run.errors.push({ type: "Invalid", field, value, detail: "must not have unknown fields" });
  }
  const embedded = isJsonObject(value) ? compileEmbeddedCheck(schema)?.(value) ?? [] : [];
  if (embedded.length > 0) {
    run.errors.push(...embedded.map((error) => ({ ...error, field: child(field, error.field) })));
    return;
  }
  const errors = fieldErrorsOf(compileValidator(schema)(value), field);
  if (errors.length > 0) {
    run.errors.push(...errors);
    return;
  }
  checkRules(value, schema, field, run);
}

/** Runs the rules as for a change that changes nothing, and as for a new value. */
function checkRules(value: Json, schema: SchemaProps, field: string, run: RuleRun): void {
  const walk = compileRuleWalk(schema, schema.isEmbeddedResource);
  if (walk === undefined) return;
  const before = run.errors.length;
  const fresh: RuleRun = { errors: run.errors, budget: run.budget };
  walk(value, value, field, undefined, run);
  if (run.errors.length > before) return;
  walk(value, undefined, field, undefined, fresh);
  run.budget = Math.min(run.budget, fresh.budget);
}
