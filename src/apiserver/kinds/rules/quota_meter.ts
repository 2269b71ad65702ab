/**
 * QuotaMeter: the amounts that an object of a kind counts for in ResourceQuotas, and arithmetic on amounts. Sources: kubernetes
 * `pkg/quota/v1/evaluator` and apiserver `pkg/quota/v1/resources.go` of 1.36.
 */
import type { JsonObject } from "../../model/mod.ts";
import { compareQuantities, formatQuantity, parseQuantity, sumOfQuantities } from "../types/mod.ts";

/** Measures the objects of one collection. */
export interface QuotaMeter {
  /** The amounts that an object uses. @param now milliseconds since 1970 */
  usage(object: JsonObject, now: number): Amounts;
  /** True for a resource that objects of this kind can use. */
  measures(resource: string): boolean;
  /** Returns an error when an object lacks fields that a quota on these resources requires. */
  missingFieldsError(resources: readonly string[], object: JsonObject): string | undefined;
}

/** Kinds that have an older name beside `count/<name>`. */
const kindsWithOlderNames: ReadonlySet<string> = new Set([
  "configmaps",
  "resourcequotas",
  "replicationcontrollers",
  "secrets",
]);

export function countMeter(collection: string): QuotaMeter {
  const names = [`count/${collection}`, ...(kindsWithOlderNames.has(collection) ? [collection] : [])];
  const usage: Amounts = new Map(names.map((name) => [name, "1"]));
  return { usage: () => usage, measures: (resource) => names.includes(resource), missingFieldsError: () => undefined };
}

/** Quantities by the names of resources. */
export type Amounts = ReadonlyMap<string, string>;

/** Adds amounts; a missing resource counts as 0. */
export function addAmounts(left: Amounts, right: Amounts): Amounts {
  const sum = new Map(left);
  for (const [name, amount] of right) {
    const held = left.get(name);
    sum.set(name, held === undefined ? amount : sumOfQuantities([held, amount]));
  }
  return sum;
}

/** Subtracts `right` from `left`; the results are at least 0. */
export function subtractAmounts(left: Amounts, right: Amounts): Amounts {
  const rest = new Map<string, string>();
  for (const [name, amount] of left) {
    const { nano, format } = parseQuantity(amount);
    const more = nano - parseQuantity(right.get(name) ?? "0").nano;
    rest.set(name, formatQuantity({ nano: more > 0n ? more : 0n, format }));
  }
  for (const name of right.keys()) if (!left.has(name)) rest.set(name, "0");
  return rest;
}

/** Keeps the named resources. */
export function onlyAmounts(amounts: Amounts, names: Iterable<string>): Amounts {
  const included = new Set(names);
  return new Map([...amounts].filter(([name]) => included.has(name)));
}

/** Keeps the amounts that are not 0. */
export function withoutZeros(amounts: Amounts): Amounts {
  return new Map([...amounts].filter(([, amount]) => compareQuantities(amount, "0") !== 0));
}

/** Formats amounts for messages: `pods=1,requests.cpu=2`. */
export function formatAmounts(amounts: Amounts): string {
  return [...amounts].toSorted(([left], [right]) => left < right ? -1 : 1).map(([name, amount]) => `${name}=${amount}`)
    .join(",");
}
