/**
 * compileRuleValidator(): compiles the CEL rules (x-kubernetes-validations) of a schema to one function that validates an
 * object. Rules run at every value that has them, with its old value where the two can be matched. Only the parts of an
 * object whose schema has rules are visited.
 *
 * Guarantees: the cost of each rule and of all rules of an object is limited, so validation never takes longer than on the
 * real server.
 */
import { type FieldError, isJsonArray, isJsonObject, type Json, type JsonObject, read } from "../model/mod.ts";
import { type DeclaredType, declaredTypeOf, escapeName, sizesOf, withResourceFields } from "./cel_types.ts";
import {
  Correlation,
  fieldPath,
  isRatcheted,
  itemPath,
  OldItems,
  parseFieldPath,
  type Ratchet,
  ratchetOfAllOf,
  ratchetOfItem,
  ratchetOfKey,
  rootRatchet,
  type SchemaProps,
  shownPath,
  type ValidationRule,
  valueSchema,
} from "../schema/mod.ts";
import {
  CelEnvironment,
  CelOptional,
  type CelProgram,
  type Compiled,
  estimateCost,
  noneOptional,
  optionalOf,
  perCallLimit,
  type Range,
  type Value,
} from "../language/mod.ts";
import { celValueOf } from "./cel_values.ts";

/** Runs all rules on an object. @param old undefined for a new object */
export type RuleValidator = (object: JsonObject, old: JsonObject | undefined) => readonly FieldError[];

/** Compiles the rules of a resource's schema; undefined when it has none. */
export function compileRuleValidator(schema: SchemaProps): RuleValidator | undefined {
  const walk = compileRuleWalk(schema, true);
  if (walk === undefined) return undefined;
  return (object, old) => {
    const run: RuleRun = { errors: [], budget: objectCostBudget };
    walk(object, old, "", undefined, run);
    if (run.errors.length === 0 || old === undefined) return run.errors;
    // Changes are computed only for invalid objects, because that is expensive.
    const again: RuleRun = { errors: [], budget: objectCostBudget };
    walk(object, old, "", rootRatchet(new Correlation(object, old, schema)), again);
    return again.errors;
  };
}

/** Runs the rules of a value and of the values below it. */
export type RuleWalk = (
  value: Json,
  old: Json | undefined,
  path: string,
  ratchet: Ratchet | undefined,
  run: RuleRun,
) => void;

/** Compiles the rules of a schema and of the schemas below it; undefined when there are none. */
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
 * @param rules the schema with the rules: an allOf has its own rules for the values of the node around it
 * @param node the schema with the types of the values
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
    // CEL cannot see this field, so its rules cannot run.
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
    items(item, oldItems?.find(item), itemPath(path, index), ratchetOfItem(ratchet, index), run);
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
      values(value[key] ?? null, read(oldObject, key), itemPath(path, key), ratchetOfKey(ratchet, key), run);
    }
  }
  for (const [name, walk] of fields) {
    const found = read(value, name);
    if (found === undefined || run.budget < 0) continue;
    walk(found, read(oldObject, name), fieldPath(path, name), ratchetOfKey(ratchet, name), run);
  }
}

/** The cost limit for all rules on one object, as on the real server. */
export const objectCostBudget = 10_000_000;
const maxMessageBytes = 5 * 1024;

/** A compiled rule, or the error of its compilation. */
export interface CompiledRule {
  readonly rule: ValidationRule;
  readonly program: CelProgram | undefined;
  /** The compilation error; "" for a rule that can run or is empty. */
  readonly error: string;
  readonly usesOldSelf: boolean;
  readonly cost: Range | undefined;
  readonly message: CelProgram | undefined;
  /** The compilation error of the messageExpression. */
  readonly messageError: string;
  readonly messageCost: Range | undefined;
  /** Path of the error below the value: `.spec.x` becomes `spec.x`. */
  readonly fieldPath: string;
}

/** Compiles the rules of one node. */
export function compileRules(schema: SchemaProps, declared: DeclaredType): readonly CompiledRule[] {
  const { type } = declared;
  const plain = new CelEnvironment(new Map([["self", type], ["oldSelf", type]]));
  const optional = new CelEnvironment(new Map([["self", type], ["oldSelf", optionalOf(type)]]));
  return schema.rules.map((rule) =>
    compileRule(rule, schema, declared, rule.optionalOldSelf === true ? optional : plain)
  );
}

function compileRule(
  rule: ValidationRule,
  schema: SchemaProps,
  declared: DeclaredType,
  environment: CelEnvironment,
): CompiledRule {
  const empty: CompiledRule = {
    rule,
    program: undefined,
    error: "",
    usesOldSelf: false,
    cost: undefined,
    message: undefined,
    messageError: "",
    messageCost: undefined,
    fieldPath: "",
  };
  if (rule.rule.trim() === "") return empty;
  const compiled = environment.compile(rule.rule);
  if (compiled.kind === "failed") return { ...empty, error: `compilation failed: ${compiled.message}` };
  if (compiled.checked.type.kind !== "bool") return { ...empty, error: "cel expression must evaluate to a bool" };
  if (compiled.constantError !== undefined) {
    return { ...empty, error: `program instantiation failed: ${compiled.constantError}` };
  }
  const made: CompiledRule = {
    ...empty,
    program: compiled.program,
    usesOldSelf: compiled.program.used.has("oldSelf"),
    cost: estimateCost(compiled.checked, sizesOf(declared)),
    fieldPath: fieldPathOf(rule, schema),
  };
  return rule.messageExpression === ""
    ? made
    : withMessage(made, environment.compile(rule.messageExpression), declared);
}

function withMessage(rule: CompiledRule, compiled: Compiled, declared: DeclaredType): CompiledRule {
  if (compiled.kind === "failed") {
    return { ...rule, messageError: `messageExpression compilation failed: ${compiled.message}` };
  }
  if (compiled.checked.type.kind !== "string") {
    return { ...rule, messageError: "messageExpression must evaluate to a string" };
  }
  if (compiled.constantError !== undefined) {
    return { ...rule, messageError: `messageExpression instantiation failed: ${compiled.constantError}` };
  }
  return { ...rule, message: compiled.program, messageCost: estimateCost(compiled.checked, sizesOf(declared)) };
}

function fieldPathOf(rule: ValidationRule, schema: SchemaProps): string {
  if (rule.fieldPath === "") return "";
  const parsed = parseFieldPath(rule.fieldPath, schema);
  return parsed.kind === "path" ? parsed.path : "";
}

/** The state of a validation: its errors and the remaining budget. */
export interface RuleRun {
  readonly errors: FieldError[];
  /** Negative when it is spent; then no further rule runs. */
  budget: number;
}

/** The rules of one node, ready to run. */
class NodeRules {
  readonly #rules: readonly CompiledRule[];
  readonly #schema: SchemaProps;
  readonly #valueSchema: SchemaProps;
  readonly #usesOldSelf: boolean;

  /** @param isResource true for the schema of a resource */
  constructor(rules: readonly CompiledRule[], schema: SchemaProps, isResource: boolean) {
    this.#rules = rules;
    this.#schema = schema;
    this.#valueSchema = isResource ? withResourceFields(schema) : schema;
    this.#usesOldSelf = rules.some((rule) => rule.usesOldSelf);
  }

  run(value: Json, old: Json | undefined, path: string, ratchet: Ratchet | undefined, run: RuleRun): void {
    if (value === null || this.#rules.length === 0) return;
    const fail = (detail: string): void => this.#fail(run, path, detail);
    if (run.budget <= 0) {
      fail("validation failed due to running out of cost budget, no further validation rules will be run");
      run.budget = -1;
      return;
    }
    const self = celValueOf(value, this.#valueSchema);
    const oldSelf = this.#usesOldSelf && old !== undefined && old !== null
      ? celValueOf(old, this.#valueSchema)
      : undefined;
    for (const rule of this.#rules) {
      if (rule.error !== "") fail(`rule compile error: ${rule.error}`);
      if (rule.program === undefined) continue;
      this.#runRule(rule, rule.program, { value, self, oldSelf, path, ratchet }, run);
      if (run.budget < 0) return;
    }
  }

  #runRule(rule: CompiledRule, program: CelProgram, on: RuleInput, run: RuleRun): void {
    const isOptional = rule.rule.optionalOldSelf === true;
    if (rule.usesOldSelf && on.oldSelf === undefined && !isOptional) return;
    const oldSelf: Value = isOptional
      ? (on.oldSelf === undefined ? noneOptional : new CelOptional(on.oldSelf))
      : on.oldSelf ?? null;
    const outcome = program.run([on.self, oldSelf], perCallLimit);
    const title = titleOf(rule.rule);
    if (outcome.cost > run.budget) {
      this.#fail(
        run,
        on.path,
        "validation failed due to running out of cost budget, no further validation rules will be run",
      );
      run.budget = -1;
      return;
    }
    run.budget -= outcome.cost;
    if (outcome.kind === "exceeded") {
      const reason =
        "'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call " +
        `cost exceeds limit for rule: ${title}`;
      this.#fail(run, on.path, reason);
      run.budget = -1;
      return;
    }
    if (outcome.kind === "error") return this.#fail(run, on.path, evaluationError(outcome.message, title));
    if (outcome.value === true) return;
    const detail = this.#messageOf(rule, on, oldSelf, run);
    if (detail === undefined) return;
    if (!rule.usesOldSelf && isRatcheted(on.ratchet)) return;
    run.errors.push(this.#errorOf(rule, on, detail));
  }

  #errorOf(rule: CompiledRule, on: RuleInput, detail: string): FieldError {
    const field = shownPath(rule.fieldPath === "" ? on.path : fieldPath(on.path, rule.fieldPath));
    const { type } = this.#schema;
    const shown = type === "object" || type === "array" ? {} : { value: on.value };
    switch (rule.rule.reason) {
      case "FieldValueForbidden":
        return { type: "Forbidden", field, detail };
      case "FieldValueRequired":
        return { type: "Required", field, detail };
      case "FieldValueDuplicate":
        return { type: "Duplicate", field, ...shown, detail: "" };
      default:
        return { type: "Invalid", field, ...shown, detail };
    }
  }

  /** The message of a violated rule; undefined when its evaluation spent the budget. */
  #messageOf(rule: CompiledRule, on: RuleInput, oldSelf: Value, run: RuleRun): string | undefined {
    const plain = rule.rule.message === "" ? `failed rule: ${rule.rule.rule.trim()}` : rule.rule.message.trim();
    if (rule.message === undefined) return plain;
    const outcome = rule.message.run([on.self, oldSelf], perCallLimit);
    const fail = (detail: string): void => {
      const field = shownPath(rule.fieldPath === "" ? on.path : fieldPath(on.path, rule.fieldPath));
      run.errors.push({ type: "Invalid", field, value: this.#schema.type, detail });
      run.budget = -1;
    };
    if (outcome.cost > run.budget) {
      fail(
        "messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run",
      );
      return undefined;
    }
    if (outcome.kind === "exceeded") {
      fail(
        "no further validation rules will be run due to call cost exceeds limit for messageExpression: " +
          JSON.stringify(rule.rule.messageExpression),
      );
      return undefined;
    }
    run.budget -= outcome.cost;
    const text = outcome.kind === "value" && typeof outcome.value === "string" ? outcome.value.trim() : "";
    const isUsable = text !== "" && !text.includes("\n") && new TextEncoder().encode(text).length <= maxMessageBytes;
    return isUsable ? text : plain;
  }

  #fail(run: RuleRun, path: string, detail: string): void {
    run.errors.push({ type: "Invalid", field: shownPath(path), value: this.#schema.type, detail });
  }
}

interface RuleInput {
  readonly value: Json;
  readonly self: Value;
  readonly oldSelf: Value | undefined;
  readonly path: string;
  readonly ratchet: Ratchet | undefined;
}

function titleOf(rule: ValidationRule): string {
  return (rule.message === "" ? rule.rule : rule.message).trim();
}

function evaluationError(message: string, title: string): string {
  if (!message.startsWith("no such overload")) return `${message} evaluating rule: ${title}`;
  return `'${message}': call arguments did not match a supported operator, function or macro signature for rule: ${title}`;
}
