/** The variables of a policy: each an expression that other expressions name, run when it is first asked for and once. */
import { CelError, CelMap, type CelType, dynType, type Value } from "../cel/mod.ts";
import type { JsonObject } from "../model/mod.ts";
import { type DeclaredVariables, environmentOf, type VariableValues } from "./cel_variables.ts";
import { compileExpression, type Expression, type Spending } from "./expression.ts";

/** Expressions by their names, and what types they have. */
export interface Composition {
  readonly expressions: ReadonlyMap<string, Expression>;
  readonly types: ReadonlyMap<string, CelType>;
}

/** Compiles the variables in their order: each may name those before it. */
export function compositionOf(variables: readonly JsonObject[], declared: DeclaredVariables): Composition {
  const expressions = new Map<string, Expression>();
  const types = new Map<string, CelType>();
  for (const { name, expression } of variables) {
    const environment = environmentOf({ ...declared, composed: new Map(types) });
    const compiled = compileExpression(`${expression}`, [], environment);
    expressions.set(`${name}`, compiled);
    types.set(`${name}`, compiled.kind === "program" ? compiled.type : dynType);
  }
  return { expressions, types };
}

/** `variables` for one row of expressions. */
export class ComposedVariables extends CelMap implements Spending {
  readonly #expressions: ReadonlyMap<string, Expression>;
  readonly #values: VariableValues;
  readonly #found = new Map<string, Value>();
  #cost = 0;

  /** @param values of the other variables */
  constructor(expressions: ReadonlyMap<string, Expression>, values: VariableValues) {
    super();
    this.#expressions = expressions;
    this.#values = new Map(values).set("variables", this);
  }

  /** All variables, these ones included. */
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
    if (expression.kind === "broken") {
      return new CelError(`composited variable "${name}" fails to compile: ${expression.why}`);
    }
    const outcome = expression.program.run(expression.names.map((one) => this.#values.get(one) ?? null));
    this.#cost += outcome.cost;
    if (outcome.kind === "value") return outcome.value;
    const why = outcome.kind === "error" ? outcome.message : "operation cancelled: actual cost limit exceeded";
    return new CelError(`composited variable "${name}" fails to evaluate: ${why}`);
  }
}
