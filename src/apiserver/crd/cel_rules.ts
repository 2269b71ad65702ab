/**
 * The rules of a schema (x-kubernetes-validations), compiled once, and how they are run over an object: at each value that
 * has rules, with the old value where the two can be told to be the same thing.
 *
 * What all rules of an object may cost together is bounded, and so is each rule: an object takes no longer than on the real
 * server, whatever its rules are.
 */
import { CelEnvironment, type CelProgram, type Compiled, noneOptional, optionalOf, perCallLimit } from "../cel/mod.ts";
import { CelOptional, estimateCost, type Range, type Value } from "../cel/mod.ts";
import type { FieldError, Json } from "../model/mod.ts";
import { type DeclaredType, sizesOf, withResourceFields } from "./cel_types.ts";
import { celValueOf } from "./cel_values.ts";
import { type Ratchet, ratchets } from "./_ratchet.ts";
import { child, shownPath } from "./_field_paths.ts";
import { parseFieldPath } from "./simple_paths.ts";
import type { SchemaProps, ValidationRule } from "./schema_props.ts";

/** What all rules may cost for one object, as on the real server. */
export const objectCostBudget = 10_000_000;
const maxMessageBytes = 5 * 1024;

/** A rule that was compiled, or why it was not. */
export interface CompiledRule {
  readonly rule: ValidationRule;
  readonly program: CelProgram | undefined;
  /** Why the rule cannot run; "" for one that can, or that is empty. */
  readonly error: string;
  readonly usesOldSelf: boolean;
  readonly cost: Range | undefined;
  readonly message: CelProgram | undefined;
  /** Why the messageExpression cannot run. */
  readonly messageError: string;
  readonly messageCost: Range | undefined;
  /** Where in the value the error is, e.g. `.spec.x` as `spec.x`. */
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
  return { ...rule, message: compiled.program, messageCost: estimateCost(compiled.checked, sizesOf(declared)) };
}

function fieldPathOf(rule: ValidationRule, schema: SchemaProps): string {
  if (rule.fieldPath === "") return "";
  const parsed = parseFieldPath(rule.fieldPath, schema);
  return parsed.kind === "path" ? parsed.path : "";
}

/** What is left to spend, and what was found. */
export interface RuleRun {
  readonly errors: FieldError[];
  /** Below zero once it is spent: no rule runs after that. */
  budget: number;
}

/** One node's rules, ready to run. */
export class NodeRules {
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
      const why =
        "'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call " +
        `cost exceeds limit for rule: ${title}`;
      this.#fail(run, on.path, why);
      run.budget = -1;
      return;
    }
    if (outcome.kind === "error") return this.#fail(run, on.path, evaluationError(outcome.message, title));
    if (outcome.value === true) return;
    const detail = this.#messageOf(rule, on, oldSelf, run);
    if (detail === undefined) return;
    if (!rule.usesOldSelf && ratchets(on.ratchet)) return;
    run.errors.push(this.#errorOf(rule, on, detail));
  }

  #errorOf(rule: CompiledRule, on: RuleInput, detail: string): FieldError {
    const field = shownPath(rule.fieldPath === "" ? on.path : child(on.path, rule.fieldPath));
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

  /** The message of a rule that was not met; undefined where making it spent the budget. */
  #messageOf(rule: CompiledRule, on: RuleInput, oldSelf: Value, run: RuleRun): string | undefined {
    const plain = rule.rule.message === "" ? `failed rule: ${rule.rule.rule.trim()}` : rule.rule.message.trim();
    if (rule.message === undefined) return plain;
    const outcome = rule.message.run([on.self, oldSelf], perCallLimit);
    const fail = (detail: string): void => {
      const field = shownPath(rule.fieldPath === "" ? on.path : child(on.path, rule.fieldPath));
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
