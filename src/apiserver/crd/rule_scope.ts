/**
 * RuleScope: where in a schema a rule stands, as far as its cost goes: how often its value may occur in one object, and what
 * all rules of the schema cost together. Limits are those of Kubernetes 1.36.
 */
import { cappedProduct } from "../cel/mod.ts";
import { FieldPath, type Problems } from "../kinds/mod.ts";
import { type DeclaredType, declaredTypeOf, maxRequestBytes } from "./cel_types.ts";
import type { SchemaProps } from "./schema_props.ts";

/** What one expression may cost. */
export const expressionCostLimit = 10_000_000;
/** What all expressions of a schema may cost. */
export const schemaCostLimit = 100_000_000;

/** Says that something costs too much. */
export function costMessage(what: string, cost: number, limit: number): string {
  const factor = cost / limit;
  const shown = factor > 100 ? "more than 100x" : factor < 1.5 ? `${factor.toFixed(6)}x` : `${factor.toFixed(1)}x`;
  return `${what} exceeds budget by factor of ${shown} (try simplifying the rule, or adding maxItems, maxProperties, and ` +
    "maxLength where arrays, maps, and strings are declared)";
}

interface ExpressionCost {
  readonly path: FieldPath;
  readonly cost: number;
}

/** Adds up what the expressions of a schema cost. */
export class RuleCosts {
  #total = 0;
  #highest: ExpressionCost[] = [];

  add(path: FieldPath, cost: number): void {
    this.#total += cost;
    // Those below a hundredth of the limit are not worth to be named.
    if (cost < schemaCostLimit / 100) return;
    this.#highest.push({ path, cost });
    this.#highest = this.#highest.toSorted((left, right) => right.cost - left.cost).slice(0, 4);
  }

  /** @param path of the schema */
  report(path: FieldPath, problems: Problems): void {
    if (this.#total <= schemaCostLimit) return;
    for (const { path: rule } of this.#highest) {
      problems.forbidden(
        rule,
        "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema",
      );
    }
    const what = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema";
    problems.forbidden(path, costMessage(what, this.#total, schemaCostLimit));
  }
}

/** A node of a schema. */
export class RuleScope {
  readonly costs: RuleCosts;
  readonly #schema: SchemaProps;
  readonly #isRoot: boolean;
  /** How often the node's value may occur; undefined where nothing bounds it. */
  readonly #cardinality: number | undefined;

  constructor(schema: SchemaProps, cardinality: number | undefined, costs: RuleCosts, isRoot = true) {
    this.#schema = schema;
    this.#cardinality = cardinality;
    this.costs = costs;
    this.#isRoot = isRoot;
  }

  /** The scope of a field, of the items or of the values. */
  child(schema: SchemaProps): RuleScope {
    const most = childrenOf(this.#schema);
    const cardinality = this.#cardinality === undefined || most === undefined
      ? undefined
      : cappedProduct(this.#cardinality, most);
    return new RuleScope(schema, cardinality, this.costs, false);
  }

  /** What expressions see here. */
  declaredType(): DeclaredType | undefined {
    return declaredTypeOf(this.#schema, this.#isRoot || this.#schema.isEmbeddedResource, "selfType");
  }

  /** What an expression may cost over all values of one object. */
  totalCost(cost: number, { minSize }: DeclaredType): number {
    return cappedProduct(cost, this.#cardinality ?? Math.floor(maxRequestBytes / (minSize + 1)));
  }
}

/** How many children a value of the schema may have; undefined where nothing bounds that. */
function childrenOf(schema: SchemaProps): number | undefined {
  const limit = schema.type === "array"
    ? schema.maxItems
    : schema.type === "object" && schema.additionalProperties !== undefined
    ? schema.maxProperties
    : 1;
  return limit === undefined ? undefined : Math.max(0, limit);
}
