/**
 * compileRuleValidator: all rules of a schema as one function over objects. Only the parts of a schema that hold rules are
 * walked.
 */
import { type FieldError, isJsonArray, isJsonObject, type Json, type JsonObject, read } from "../model/mod.ts";
import { escapeName } from "./_cel_names.ts";
import { compileRules, NodeRules, objectCostBudget, type RuleRun } from "./cel_rules.ts";
import { type DeclaredType, declaredTypeOf } from "./cel_types.ts";
import { Correlation, OldItems } from "./correlation.ts";
import { at, child, shownPath } from "./_field_paths.ts";
import { type Ratchet, ratchetOfAllOf, ratchetOfItem, ratchetOfKey, rootRatchet } from "./_ratchet.ts";
import { type SchemaProps, valueSchema } from "./schema_props.ts";

/** Runs all rules over an object. @param old undefined for a new one */
export type RuleValidator = (object: JsonObject, old: JsonObject | undefined) => readonly FieldError[];

/** Compiles the rules of a resource's schema; undefined where it has none. */
export function compileRuleValidator(schema: SchemaProps): RuleValidator | undefined {
  const walk = compileRuleWalk(schema, true);
  if (walk === undefined) return undefined;
  return (object, old) => {
    const run: RuleRun = { errors: [], budget: objectCostBudget };
    walk(object, old, "", undefined, run);
    if (run.errors.length === 0 || old === undefined) return run.errors;
    // Only where something is wrong is it worth to look at what has changed.
    const again: RuleRun = { errors: [], budget: objectCostBudget };
    walk(object, old, "", rootRatchet(new Correlation(object, old, schema)), again);
    return again.errors;
  };
}

/** Runs the rules at and below a value. */
export type RuleWalk = (
  value: Json,
  old: Json | undefined,
  path: string,
  ratchet: Ratchet | undefined,
  run: RuleRun,
) => void;

/** Compiles the rules at and below a schema; undefined where there are none. */
export function compileRuleWalk(schema: SchemaProps, isResource: boolean): RuleWalk | undefined {
  if (!hasRules(schema)) return undefined;
  return compileNode(schema, schema, isResource, declaredTypeOf(schema, isResource, "selfType"));
}

function hasRules(schema: SchemaProps): boolean {
  const additional = valueSchema(schema);
  return schema.rules.length > 0 || (schema.items !== undefined && hasRules(schema.items)) ||
    (additional !== undefined && hasRules(additional)) || [...schema.properties.values()].some(hasRules);
}

/**
 * @param rules the schema whose rules are run: an allOf has rules of its own about the values of the node it stands in
 * @param node the schema that says what the values are
 */
function compileNode(
  rules: SchemaProps,
  node: SchemaProps,
  isResource: boolean,
  declared: DeclaredType | undefined,
): RuleWalk | undefined {
  const own = ownRules(rules, node, isResource, declared);
  const items = rules.items && node.items &&
    compileNode(rules.items, node.items, node.items.isEmbeddedResource, declared?.element);
  const [ruleValues, nodeValues] = [valueSchema(rules), valueSchema(node)];
  const values = ruleValues && nodeValues &&
    compileNode(ruleValues, nodeValues, nodeValues.isEmbeddedResource, declared?.element);
  const fields = compileFields(rules, node, declared);
  const allOf = rules.allOf.map((part) => compileNode(part, node, isResource, declared)).filter((walk) =>
    walk !== undefined
  );
  if (own === undefined && items === undefined && values === undefined && fields.size === 0 && allOf.length === 0) {
    return undefined;
  }
  return (value, old, path, ratchet, run) => {
    if (value === null || run.budget < 0) return;
    own?.(value, old, path, ratchet, run);
    for (const walk of allOf) if (run.budget >= 0) walk(value, old, path, ratchetOfAllOf(ratchet), run);
    if (isJsonArray(value)) {
      if (items !== undefined) walkItems(items, node, value, old, path, ratchet, run);
    } else if (isJsonObject(value)) walkFields(values, fields, value, old, path, ratchet, run);
  };
}

function ownRules(
  rules: SchemaProps,
  node: SchemaProps,
  isResource: boolean,
  declared: DeclaredType | undefined,
): RuleWalk | undefined {
  if (rules.rules.length === 0) return undefined;
  if (declared === undefined) {
    const detail = "rule compiler initialization error: failed to convert to declType for CEL validation rules";
    return (_value, _old, path, _ratchet, run) => {
      run.errors.push({ type: "Invalid", field: shownPath(path), value: node.type, detail });
    };
  }
  const compiled = new NodeRules(compileRules({ ...node, rules: rules.rules }, declared), node, isResource);
  return (value, old, path, ratchet, run) => compiled.run(value, old, path, ratchet, run);
}

function compileFields(
  rules: SchemaProps,
  node: SchemaProps,
  declared: DeclaredType | undefined,
): ReadonlyMap<string, RuleWalk> {
  const fields = new Map<string, RuleWalk>();
  for (const [name, property] of rules.properties) {
    const nodeProperty = node.properties.get(name);
    if (nodeProperty === undefined) continue;
    const escaped = escapeName(name);
    const type = escaped === undefined
      ? declaredTypeOf(nodeProperty, nodeProperty.isEmbeddedResource, "selfType")
      : declared?.fields?.get(escaped);
    // Fields that expressions cannot see have no rules that could run.
    if (type === undefined) continue;
    const walk = compileNode(property, nodeProperty, nodeProperty.isEmbeddedResource, type);
    if (walk !== undefined) fields.set(name, walk);
  }
  return fields;
}

function walkItems(
  items: RuleWalk,
  node: SchemaProps,
  value: readonly Json[],
  old: Json | undefined,
  path: string,
  ratchet: Ratchet | undefined,
  run: RuleRun,
): void {
  const isKnown = node.listType === "map" && old !== undefined && isJsonArray(old);
  const oldItems = isKnown ? new OldItems(old, node.listMapKeys) : undefined;
  for (let index = 0; index < value.length && run.budget >= 0; index++) {
    const item = value[index] ?? null;
    items(item, oldItems?.find(item), at(path, index), ratchetOfItem(ratchet, index), run);
  }
}

function walkFields(
  values: RuleWalk | undefined,
  fields: ReadonlyMap<string, RuleWalk>,
  value: JsonObject,
  old: Json | undefined,
  path: string,
  ratchet: Ratchet | undefined,
  run: RuleRun,
): void {
  const oldObject = isJsonObject(old) ? old : {};
  if (values !== undefined) {
    for (const key of Object.keys(value)) {
      if (run.budget < 0) return;
      values(value[key] ?? null, read(oldObject, key), at(path, key), ratchetOfKey(ratchet, key), run);
    }
  }
  for (const [name, walk] of fields) {
    const found = read(value, name);
    if (found === undefined || run.budget < 0) continue;
    walk(found, read(oldObject, name), child(path, name), ratchetOfKey(ratchet, name), run);
  }
}
