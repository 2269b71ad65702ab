/**
 * QuotaMeter: the amounts that an object of a kind counts for in ResourceQuotas, and arithmetic on amounts. Sources: kubernetes
 * `pkg/quota/v1/evaluator` and apiserver `pkg/quota/v1/resources.go` of 1.36.
 */
import type { JsonObject } from "../../model/mod.ts";
import { compareQuantities, formatQuantity, parseQuantity, sumOfQuantities } from "../types/mod.ts";

/** Measures the objects of one collection. */
export interface QuotaMeter {
  /** What an object counts for. @param now milliseconds since 1970 */
  usage(object: JsonObject, now: number): Amounts;
  /** True for a resource that objects of this kind can count for. */
  measures(resource: string): boolean;
  /** What an object has to say so that it can be measured; undefined when it says it. */
  missing(resources: readonly string[], object: JsonObject): string | undefined;
}

/** Kinds that could be counted before `count/` was invented. */
const aliases: ReadonlySet<string> = new Set(["configmaps", "resourcequotas", "replicationcontrollers", "secrets"]);

export function countMeter(collection: string): QuotaMeter {
  const names = [`count/${collection}`, ...(aliases.has(collection) ? [collection] : [])];
  const usage: Amounts = new Map(names.map((name) => [name, "1"]));
  return { usage: () => usage, measures: (resource) => names.includes(resource), missing: () => undefined };
}

/** Quantities by the names of resources. */
export type Amounts = ReadonlyMap<string, string>;

/** The sums; a resource that one of them lacks counts as 0 there. */
export function addAmounts(left: Amounts, right: Amounts): Amounts {
  const sum = new Map(left);
  for (const [name, amount] of right) {
    const held = left.get(name);
    sum.set(name, held === undefined ? amount : sumOfQuantities([held, amount]));
  }
  return sum;
}

/** What `left` has more than `right`, never less than 0. */
export function lessAmounts(left: Amounts, right: Amounts): Amounts {
  const rest = new Map<string, string>();
  for (const [name, amount] of left) {
    const { nano, format } = parseQuantity(amount);
    const more = nano - parseQuantity(right.get(name) ?? "0").nano;
    rest.set(name, formatQuantity({ nano: more > 0n ? more : 0n, format }));
  }
  for (const name of right.keys()) if (!left.has(name)) rest.set(name, "0");
  return rest;
}

/** Those of the resources that are named. */
export function onlyAmounts(amounts: Amounts, names: Iterable<string>): Amounts {
  const wanted = new Set(names);
  return new Map([...amounts].filter(([name]) => wanted.has(name)));
}

/** Those that are not 0. */
export function withoutZeros(amounts: Amounts): Amounts {
  return new Map([...amounts].filter(([, amount]) => compareQuantities(amount, "0") !== 0));
}

/** `pods=1,requests.cpu=2`, as messages show them. */
export function amountsText(amounts: Amounts): string {
  return [...amounts].toSorted(([left], [right]) => left < right ? -1 : 1).map(([name, amount]) => `${name}=${amount}`)
    .join(",");
}
