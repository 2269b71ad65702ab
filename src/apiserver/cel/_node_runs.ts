/**
 * How planned nodes run that are no plain function: loops over containers, rows of `&&` and `||`, optional values, and calls
 * with any number of arguments.
 */
import type { Implementation } from "./functions.ts";
import { charge, type Evaluate } from "./_frame.ts";
import type { callCostOf } from "./_runtime_cost.ts";
import { CelError, CelList, CelMap, CelOptional, noneOptional, noSuchOverload, type Value } from "./values.ts";

/** Calls `turn` for each item or key until it answers false. */
export function goThrough(
  container: Value,
  hasTwo: boolean,
  turn: (one: Value, two: Value) => boolean,
): CelError | undefined {
  if (container instanceof CelList) {
    for (let index = 0; index < container.size; index++) {
      const item = container.at(index);
      if (!(hasTwo ? turn(BigInt(index), item) : turn(item, null))) break;
    }
    return undefined;
  }
  if (!(container instanceof CelMap)) return noSuchOverload(container);
  for (const key of container.keys()) {
    if (!turn(key, hasTwo ? container.find(key) ?? null : null)) break;
  }
  return undefined;
}

/** A row of `&&` (decided by false) or `||` (decided by true). An error counts only when nothing decides. */
export function junction(terms: readonly Evaluate[], decides: boolean): Evaluate {
  return (frame) => {
    let problem: CelError | undefined;
    for (const term of terms) {
      const value = term(frame);
      if (value === decides) return decides;
      if (typeof value !== "boolean") problem ??= noSuchOverload(value);
    }
    return problem ?? !decides;
  };
}

/** `a.or(b)`, and with `isValue` `a.orValue(b)`. */
export function orElse([optional, other]: readonly Evaluate[], isValue: boolean): Evaluate {
  return (frame) => {
    const value = optional?.(frame) ?? null;
    if (!(value instanceof CelOptional)) return value instanceof CelError ? value : noSuchOverload(value);
    if (value.value !== undefined) return isValue ? value.value : value;
    return other?.(frame) ?? null;
  };
}

/** A function whose cost depends on its arguments. */
export function called(
  evaluates: readonly Evaluate[],
  run: Implementation,
  costOf: ReturnType<typeof callCostOf>,
): Evaluate {
  return (frame) => {
    const args: Value[] = [];
    for (const evaluate of evaluates) {
      const value = evaluate(frame);
      if (value instanceof CelError) return value;
      args.push(value);
    }
    charge(frame, costOf(args, undefined));
    return run(...args);
  };
}

/** A function whose cost depends on its result. */
export function calledThenCharged(
  evaluates: readonly Evaluate[],
  run: Implementation,
  costOf: ReturnType<typeof callCostOf>,
): Evaluate {
  const call = called(evaluates, run, () => 0);
  return (frame) => {
    const value = call(frame);
    charge(frame, costOf([], value));
    return value;
  };
}

/** What is found inside an optional, as an optional. */
export function within(optional: CelOptional, find: (inside: Value) => Value | undefined): Value {
  if (optional.value === undefined) return noneOptional;
  const found = find(optional.value);
  if (found === undefined) return noneOptional;
  return found instanceof CelError ? found : new CelOptional(found);
}

/** A field of a map; undefined where it has none of that name. */
export function fieldOf(target: Value, field: string): Value | undefined {
  return target instanceof CelMap ? target.find(field) : noSuchOverload(target);
}
