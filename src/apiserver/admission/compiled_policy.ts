/**
 * CompiledPolicy: a stored ValidatingAdmissionPolicy with its expressions compiled, and PolicyBinding: a stored binding. Both
 * are read once for as long as the object is stored. Also what a MutatingAdmissionPolicy has in common with it: the variables,
 * and the requests that a policy or binding matches.
 */
import {
  CelError,
  CelMap,
  type CelType,
  compileExpression,
  type CostCounter,
  type DeclaredVariables,
  dynType,
  environmentOf,
  type Evaluation,
  type Expression,
  listOf,
  mapOf,
  matchConditionsOf,
  runExpressions,
  type Validation,
  type Value,
  type VariableValues,
} from "../../cel/mod.ts";
import { nameOf, objectAt, objectsAt, textAt, textsAt } from "../kinds/mod.ts";
import { type AdmissionRequest, isJsonObject, type Json, type JsonObject, type Kind, read } from "../model/mod.ts";
import { isSelectedBy, type MatchContext, matchesRule, type RequestRule, ruleOf } from "./matching.ts";

/** What validating and mutating policies have in common. */
export interface PolicyHead {
  readonly name: string;
  readonly match: PolicyMatch | undefined;
  readonly failsOpen: boolean;
  /** `{apiVersion, kind}`. */
  readonly paramKind: JsonObject | undefined;
  readonly conditions: readonly Expression[];
  readonly composition: Composition;
}

/** A ValidatingAdmissionPolicy, ready to run. */
export interface CompiledPolicy extends PolicyHead {
  readonly validations: readonly Validation[];
  /** The expression of each validation. */
  readonly checks: readonly Expression[];
  /** The messageExpression of each validation; undefined when it has none. */
  readonly messages: readonly (Expression | undefined)[];
  readonly annotations: readonly Expression[];
}

/** A binding. */
export interface PolicyBinding {
  readonly name: string;
  readonly policyName: string;
  readonly match: PolicyMatch | undefined;
  readonly paramRef: Json | undefined;
  readonly actions: readonly string[];
}

const policies = new WeakMap<JsonObject, CompiledPolicy>();
const bindings = new WeakMap<JsonObject, PolicyBinding>();

/** Reads a stored policy. */
export function policyOf(object: JsonObject): CompiledPolicy {
  const policy = policies.get(object) ?? compilePolicy(object);
  policies.set(object, policy);
  return policy;
}

/** Reads a stored binding. */
export function bindingOf(object: JsonObject): PolicyBinding {
  const binding = bindings.get(object) ?? readBinding(object);
  bindings.set(object, binding);
  return binding;
}

/** The types that the value of an audit annotation may have. */
export const annotationTypes = ["string", "null_type"];

function compilePolicy(object: JsonObject): CompiledPolicy {
  const spec = objectAt(object, "spec");
  const head = policyHeadOf(object);
  const [hasParams, composed] = [head.paramKind !== undefined, head.composition.types];
  const validations = objectsAt(spec, "validations");
  const environment = environmentOf({ hasParams, hasAuthorizer: true, composed });
  const messageEnvironment = environmentOf({ hasParams, hasAuthorizer: false, composed });
  return {
    ...head,
    validations: validations.map((validation) => ({
      expression: textAt(validation, "expression"),
      message: textAt(validation, "message"),
      reason: textAt(validation, "reason") || "Invalid",
    })),
    checks: validations.map((each) => compileExpression(textAt(each, "expression"), ["bool"], environment)),
    messages: validations.map((each) => {
      const source = textAt(each, "messageExpression");
      return source === "" ? undefined : compileExpression(source, ["string"], messageEnvironment);
    }),
    annotations: objectsAt(spec, "auditAnnotations").map((each) =>
      compileExpression(textAt(each, "valueExpression").trim(), annotationTypes, environment)
    ),
  };
}

/** Reads what validating and mutating policies have in common. */
export function policyHeadOf(object: JsonObject): PolicyHead {
  const spec = objectAt(object, "spec");
  const paramKind = read<Json>(spec, "paramKind");
  const hasParams = isJsonObject(paramKind);
  return {
    name: nameOf(object),
    match: policyMatchOf(spec.matchConstraints),
    failsOpen: spec.failurePolicy === "Ignore",
    paramKind: hasParams ? paramKind : undefined,
    conditions: matchConditionsOf(spec, hasParams),
    composition: compositionOf(objectsAt(spec, "variables"), { hasParams, hasAuthorizer: true }),
  };
}

function readBinding(object: JsonObject): PolicyBinding {
  const spec = objectAt(object, "spec");
  return {
    name: nameOf(object),
    policyName: textAt(spec, "policyName"),
    match: policyMatchOf(spec.matchResources),
    paramRef: spec.paramRef,
    actions: textsAt(spec, "validationActions"),
  };
}

interface NamedRule {
  readonly rule: RequestRule;
  /** Empty for any name. */
  readonly names: readonly string[];
}

/** `matchConstraints` of a policy or `matchResources` of a binding, read once. */
export interface PolicyMatch {
  readonly namespaceSelector: Json;
  readonly objectSelector: Json;
  /** Empty when every request matches. */
  readonly included: readonly NamedRule[];
  readonly excluded: readonly NamedRule[];
  /** Also matches the other versions of a kind. */
  readonly isEquivalent: boolean;
}

/** Reads a match; undefined when it is absent, which matches every request. */
function policyMatchOf(match: Json | undefined): PolicyMatch | undefined {
  if (!isJsonObject(match)) return undefined;
  return {
    namespaceSelector: match.namespaceSelector ?? null,
    objectSelector: match.objectSelector ?? null,
    included: objectsAt(match, "resourceRules").map(namedRuleOf),
    excluded: objectsAt(match, "excludeResourceRules").map(namedRuleOf),
    isEquivalent: match.matchPolicy === "Equivalent",
  };
}

function namedRuleOf(rule: JsonObject): NamedRule {
  return { rule: ruleOf(rule), names: textsAt(rule, "resourceNames") };
}

/** The version of the kind for which the request matches; undefined when it does not match. */
export function matchingKindOf(
  match: PolicyMatch | undefined,
  request: AdmissionRequest,
  context: MatchContext,
): Kind | undefined {
  if (match === undefined) return request.kind;
  if (!isSelectedBy(match, request, context)) return undefined;
  const others = match.isEquivalent ? context.otherKinds : [];
  if (foundIn(match.excluded, request, others) !== undefined) return undefined;
  return match.included.length === 0 ? request.kind : foundIn(match.included, request, others);
}

function foundIn(
  rules: readonly NamedRule[],
  request: AdmissionRequest,
  others: readonly Kind[],
): Kind | undefined {
  const named = rules.filter(({ names }) => names.length === 0 || names.includes(request.name));
  if (named.some(({ rule }) => matchesRule(rule, request, request.kind.version))) return request.kind;
  for (const { rule } of named) {
    const other = others.find(({ version }) => matchesRule(rule, request, version));
    if (other !== undefined) return other;
  }
  return undefined;
}

/** The variables of a policy by name, and their types. */
export interface Composition {
  readonly expressions: ReadonlyMap<string, Expression>;
  readonly types: ReadonlyMap<string, CelType>;
}

/** Compiles the variables in order: each one may use those before it. */
export function compositionOf(variables: readonly JsonObject[], declared: DeclaredVariables): Composition {
  const expressions = new Map<string, Expression>();
  const types = new Map<string, CelType>();
  for (const { name, expression } of variables) {
    const environment = environmentOf({ ...declared, composed: new Map(types) });
    const compiled = compileExpression(`${expression}`, [], environment);
    expressions.set(`${name}`, compiled);
    types.set(`${name}`, compiled.kind === "program" ? variableType(compiled.type) : dynType);
  }
  return { expressions, types };
}

/** The type of a field of `variables`: only scalars, lists and maps keep theirs. */
function variableType(type: CelType): CelType {
  switch (type.kind) {
    case "list":
      return listOf(variableType(type.item));
    case "map":
      return mapOf(variableType(type.key), variableType(type.value));
    case "object":
    case "opaque":
    case "type":
    case "param":
      return dynType;
    default:
      return type;
  }
}

/** Evaluates a list of expressions with its own variables, whose cost counts for this list. */
export function evaluateWithVariables(
  { composition }: PolicyHead,
  expressions: readonly (Expression | undefined)[],
  values: VariableValues,
  budget: number,
): Evaluation {
  if (composition.expressions.size === 0) return runExpressions(expressions, values, budget);
  const variables = new ComposedVariables(composition.expressions, values);
  return runExpressions(expressions, variables.values, budget, variables);
}

/** The value of `variables` for one list of expressions. A variable is evaluated once, on first use. */
class ComposedVariables extends CelMap implements CostCounter {
  readonly #expressions: ReadonlyMap<string, Expression>;
  readonly #values: VariableValues;
  readonly #found = new Map<string, Value>();
  #cost = 0;

  /** @param values the other variables */
  constructor(expressions: ReadonlyMap<string, Expression>, values: VariableValues) {
    super();
    this.#expressions = expressions;
    this.#values = new Map(values).set("variables", this);
  }

  /** All variables, including these. */
  get values(): VariableValues {
    return this.#values;
  }

  takeCost(): number {
    const cost = this.#cost;
    this.#cost = 0;
    return cost;
  }

  override get size(): number {
    return this.#expressions.size;
  }

  override keys(): Iterable<Value> {
    return this.#expressions.keys();
  }

  override find(key: Value): Value | undefined {
    if (typeof key !== "string") return undefined;
    const expression = this.#expressions.get(key);
    if (expression === undefined) return undefined;
    const known = this.#found.get(key);
    if (known !== undefined) return known;
    const value = this.#run(key, expression);
    this.#found.set(key, value);
    return value;
  }

  #run(name: string, expression: Expression): Value {
    if (expression.kind === "invalid") {
      return new CelError(`composited variable "${name}" fails to compile: ${expression.message}`);
    }
    const outcome = expression.program.run(expression.names.map((each) => this.#values.get(each) ?? null));
    this.#cost += outcome.cost;
    if (outcome.kind === "value") return outcome.value;
    const message = outcome.kind === "error" ? outcome.message : "operation cancelled: actual cost limit exceeded";
    return new CelError(`composited variable "${name}" fails to evaluate: ${message}`);
  }
}
