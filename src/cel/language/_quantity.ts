/** Kubernetes quantities (`1.5Gi`, `200m`) in expressions, exact to 1e-9, as on the real server. */
import {
  binary,
  type FunctionDecl,
  type Guard,
  isInt,
  isText,
  method,
  type Overload,
  overload,
  unary,
} from "./functions.ts";
import { boolType, type CelType, doubleType, intType, stringType } from "./types.ts";
import { CelError, CelOpaque, type Value } from "./values.ts";

/** `kubernetes.Quantity`. */
export const quantityType: CelType = { kind: "opaque", name: "kubernetes.Quantity", of: [], isObject: true };

const nano = 1_000_000_000n;
/** Largest length of a quantity in UTF-16 units. */
const maxLength = 1_000;
const max = (2n ** 63n - 1n) * nano;

const decimalPowers: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  "": 0,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};
const binaryPowers: Readonly<Record<string, bigint>> = { Ki: 10n, Mi: 20n, Gi: 30n, Ti: 40n, Pi: 50n, Ei: 60n };

/** A quantity. */
export class CelQuantity extends CelOpaque {
  override readonly type = quantityType;
  /** The amount times 1e9. */
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    super();
    this.nanos = nanos;
  }

  override equals(other: CelOpaque): boolean {
    return other instanceof CelQuantity && other.nanos === this.nanos;
  }

  override toText(): string {
    return String(Number(this.nanos) / 1e9);
  }
}

/** The quantity that a text is; an error when it is none. */
export function quantityOf(text: string): Value {
  const nanos = parseQuantity(text);
  return nanos instanceof CelError ? nanos : new CelQuantity(nanos);
}

/** Parses a quantity; undefined when it is invalid. Digits below 1e-9 are rounded up. */
export function parseQuantity(text: string): bigint | CelError {
  const found = text.length > maxLength
    ? null
    : /^([+-]?)([0-9]*)(?:\.([0-9]*))?([eEinumkKMGTP]*[-+]?[0-9]*)$/.exec(text);
  const [, sign = "", whole = "", fraction = "", suffix = ""] = found ?? [];
  if (found === null || whole + fraction === "") {
    return new CelError("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
  }
  const scale = scaleOf(suffix);
  if (scale === undefined) return new CelError("unable to parse quantity's suffix");
  const digits = BigInt(whole + fraction);
  const nanos = scaled(digits * scale.factor, scale.power10 + 9 - fraction.length);
  const capped = nanos > max ? max : nanos;
  return sign === "-" ? -capped : capped;
}

function scaleOf(suffix: string): { factor: bigint; power10: number } | undefined {
  const binaryPower = Object.hasOwn(binaryPowers, suffix) ? binaryPowers[suffix] : undefined;
  if (binaryPower !== undefined) return { factor: 2n ** binaryPower, power10: 0 };
  const power10 = Object.hasOwn(decimalPowers, suffix) ? decimalPowers[suffix] : undefined;
  if (power10 !== undefined) return { factor: 1n, power10 };
  const exponent = /^[eE]([-+]?[0-9]{1,9})$/.exec(suffix);
  return exponent === null ? undefined : { factor: 1n, power10: Number(exponent[1]) };
}

function scaled(value: bigint, power10: number): bigint {
  if (value === 0n) return 0n;
  if (power10 >= 0) return power10 > 40 ? max + 1n : value * 10n ** BigInt(power10);
  if (power10 < -100) return 1n;
  const divisor = 10n ** BigInt(-power10);
  return (value + divisor - 1n) / divisor;
}

const isQuantity: Guard<CelQuantity> = (value) => value instanceof CelQuantity;

/** The functions of quantities. `isGreaterThan`, `isLessThan` and `compareTo` are shared with versions. */
export const quantityFunctions: readonly FunctionDecl[] = [
  one("quantity", overload("string_to_quantity", [stringType], quantityType, unary(isText, quantityOf))),
  one("isQuantity", overload("is_quantity_string", [stringType], boolType, unary(isText, isQuantityText))),
  one("sign", overload("quantity_sign", [quantityType], intType, unary(isQuantity, signOf))),
  one("isGreaterThan", both("quantity_is_greater_than", boolType, (a, b) => a.nanos > b.nanos)),
  one("isLessThan", both("quantity_is_less_than", boolType, (a, b) => a.nanos < b.nanos)),
  one(
    "compareTo",
    both("quantity_compare_to", intType, (a, b) => a.nanos < b.nanos ? -1n : a.nanos > b.nanos ? 1n : 0n),
  ),
  one(
    "asApproximateFloat",
    method("quantity_get_float", [quantityType], doubleType, unary(isQuantity, (value) => Number(value.nanos) / 1e9)),
  ),
  one("asInteger", method("quantity_get_int", [quantityType], intType, unary(isQuantity, integerOf))),
  one(
    "isInteger",
    method("quantity_is_integer", [quantityType], boolType, unary(isQuantity, (value) => value.nanos % nano === 0n)),
  ),
  {
    name: "add",
    overloads: [
      both("quantity_add", quantityType, (a, b) => new CelQuantity(a.nanos + b.nanos)),
      withInt("quantity_add_int", (a, b) => new CelQuantity(a.nanos + b * nano)),
    ],
  },
  {
    name: "sub",
    overloads: [
      both("quantity_sub", quantityType, (a, b) => new CelQuantity(a.nanos - b.nanos)),
      withInt("quantity_sub_int", (a, b) => new CelQuantity(a.nanos - b * nano)),
    ],
  },
];

function one(name: string, only: Overload): FunctionDecl {
  return { name, overloads: [only] };
}

function both(id: string, result: CelType, run: (a: CelQuantity, b: CelQuantity) => Value): Overload {
  return method(id, [quantityType, quantityType], result, binary(isQuantity, isQuantity, run));
}

function withInt(id: string, run: (a: CelQuantity, b: bigint) => Value): Overload {
  return method(id, [quantityType, intType], quantityType, binary(isQuantity, isInt, run));
}

function isQuantityText(text: string): Value {
  return !(parseQuantity(text) instanceof CelError);
}

function signOf(value: CelQuantity): Value {
  return value.nanos < 0n ? -1n : value.nanos > 0n ? 1n : 0n;
}

function integerOf(value: CelQuantity): Value {
  return value.nanos % nano === 0n ? value.nanos / nano : new CelError("cannot convert value to integer");
}
