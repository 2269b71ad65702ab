/** The capacities of devices and their request policies: which amounts a claim may request of a shared device. */
import type { JsonObject } from "../../model/mod.ts";
import type { FieldPath, Problems } from "../rules/mod.ts";
import {
  canonicalQuantity,
  compareQuantities,
  findObject,
  has,
  parseQuantity,
  sumOfQuantities,
  textAt,
  valuesAt,
} from "../types/mod.ts";

const maxOptions = 10;
const unit = 1_000_000_000n;

/** Checks one capacity. @param isShared true for a device that several claims may get */
export function checkCapacity(capacity: JsonObject, isShared: boolean, path: FieldPath, problems: Problems): void {
  const policy = findObject(capacity, "requestPolicy");
  if (policy === undefined) return;
  const place = path.child("requestPolicy");
  if (!isShared) return problems.forbidden(place, "allowMultipleAllocations must be true");
  const values = valuesAt(policy, "validValues").map(String);
  const range = findObject(policy, "validRange");
  if (values.length > 0 && range !== undefined) {
    const both = 'cannot specify "validValues" and "validRange" at the same time';
    return problems.forbidden(place, `exactly one policy can be specified, ${both}`);
  }
  const name = values.length > 0 ? "validValues" : range !== undefined ? "validRange" : undefined;
  if (name === undefined) return;
  if (!has(policy, "default")) return problems.required(place.child("default"), `required when ${name} is defined`);
  const [amount, most] = [textAt(policy, "default"), textAt(capacity, "value")];
  if (range !== undefined) checkRange(amount, most, range, place.child(name), problems);
  else checkValues(amount, most, values, place.child(name), problems);
}

function checkValues(
  amount: string,
  most: string,
  values: readonly string[],
  path: FieldPath,
  problems: Problems,
): void {
  values.forEach((value, index) => {
    const before = values[index - 1];
    if (before === undefined || compareQuantities(before, value) <= 0) return;
    problems.invalid(path.index(index), canonicalQuantity(value), "values must be sorted in ascending order");
  });
  if (values.length > maxOptions) problems.tooMany(path, values.length, maxOptions);
  else {
    values.forEach((value, index) => {
      if (compareQuantities(value, most) <= 0) return;
      problems.invalid(path.index(index), canonicalQuantity(value), `option is larger than capacity value: ${most}`);
    });
    const keys = values.map((value) => String(wholeOf(value)));
    keys.forEach((key, index) => {
      if (keys.indexOf(key) < index) problems.duplicate(path.index(index), key);
    });
  }
  // Too many options are not searched for the default.
  if (values.length <= maxOptions && values.some((value) => compareQuantities(value, amount) === 0)) return;
  problems.invalid(path, amount, "default value is not valid according to the requestPolicy");
}

function checkRange(
  amount: string,
  most: string,
  range: JsonObject,
  path: FieldPath,
  problems: Problems,
): void {
  if (!has(range, "min")) return problems.required(path.child("min"), "required when validRange is defined");
  const [min, max, step] = ["min", "max", "step"].map((key) => textAt(range, key));
  if (min === undefined || max === undefined || step === undefined) return;
  const report = (key: string, value: string, why: string) => problems.invalid(path.child(key), value, why);
  if (compareQuantities(min, most) > 0) report("min", min, `min is larger than capacity value: ${most}`);
  if (compareQuantities(amount, min) < 0) report("min", amount, `default is less than min: ${min}`);
  if (max !== "") {
    if (compareQuantities(min, max) > 0) report("max", min, `min is larger than max: ${max}`);
    if (compareQuantities(max, most) > 0) report("max", max, `max is larger than capacity value: ${most}`);
    if (compareQuantities(amount, max) > 0) report("max", amount, `default is more than max: ${max}`);
  }
  if (step === "") return;
  const first = sumOfQuantities([min, step]);
  if (compareQuantities(first, most) > 0) {
    report("step", step, `one step ${first} is larger than capacity value: ${most}`);
  }
  for (const value of max === "" ? [amount] : [amount, max]) {
    if (wholeOf(step) === 0n || (wholeOf(value) - wholeOf(min)) % wholeOf(step) === 0n) continue;
    report("step", value, `value is not a multiple of a given step (${step}) from (${min})`);
  }
}

/** The whole number of a quantity, rounded up. */
function wholeOf(text: string): bigint {
  const { nano } = parseQuantity(text);
  return nano > 0n ? (nano + unit - 1n) / unit : nano / unit;
}
