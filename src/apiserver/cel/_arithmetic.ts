/** The arithmetic operators. Integers have 64 bits and refuse to overflow, as do spans of time. */
import { CelDuration, CelError, CelList, CelTimestamp, CelUint, noSuchOverload, type Value } from "./values.ts";
import { joined } from "./_lists.ts";

const minInt = -(2n ** 63n);
const maxInt = 2n ** 63n - 1n;
const maxUint = 2n ** 64n - 1n;
/** 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z in seconds. */
export const minUnixSeconds = -62_135_596_800n;
export const maxUnixSeconds = 253_402_300_799n;

/** `left + right`. */
export function add(left: Value, right: Value): Value {
  if (typeof left === "bigint" && typeof right === "bigint") return int(left + right);
  if (typeof left === "number" && typeof right === "number") return left + right;
  if (typeof left === "string" && typeof right === "string") return left + right;
  if (left instanceof CelList && right instanceof CelList) return joined(left, right);
  if (left instanceof CelUint && right instanceof CelUint) return uint(left.value + right.value);
  if (left instanceof Uint8Array && right instanceof Uint8Array) return new Uint8Array([...left, ...right]);
  if (left instanceof CelDuration) {
    if (right instanceof CelDuration) return duration(left.ns + right.ns);
    if (right instanceof CelTimestamp) return timestamp(right.ns + left.ns, right.offsetMinutes);
  }
  if (left instanceof CelTimestamp && right instanceof CelDuration) {
    return timestamp(left.ns + right.ns, left.offsetMinutes);
  }
  return noSuchOverload(left, right);
}

/** `left - right`. */
export function subtract(left: Value, right: Value): Value {
  if (typeof left === "bigint" && typeof right === "bigint") return int(left - right);
  if (typeof left === "number" && typeof right === "number") return left - right;
  if (left instanceof CelUint && right instanceof CelUint) return uint(left.value - right.value);
  if (left instanceof CelDuration && right instanceof CelDuration) return duration(left.ns - right.ns);
  if (left instanceof CelTimestamp) {
    if (right instanceof CelDuration) return timestamp(left.ns - right.ns, left.offsetMinutes);
    if (right instanceof CelTimestamp) return duration(left.ns - right.ns);
  }
  return noSuchOverload(left, right);
}

/** `left * right`. */
export function multiply(left: Value, right: Value): Value {
  if (typeof left === "bigint" && typeof right === "bigint") return int(left * right);
  if (typeof left === "number" && typeof right === "number") return left * right;
  if (left instanceof CelUint && right instanceof CelUint) return uint(left.value * right.value);
  return noSuchOverload(left, right);
}

/** `left / right`. */
export function divide(left: Value, right: Value): Value {
  if (typeof left === "number" && typeof right === "number") return left / right;
  if (typeof left === "bigint" && typeof right === "bigint") {
    return right === 0n ? new CelError("division by zero") : int(left / right);
  }
  if (left instanceof CelUint && right instanceof CelUint) {
    return right.value === 0n ? new CelError("division by zero") : uint(left.value / right.value);
  }
  return noSuchOverload(left, right);
}

/** `left % right`. */
export function modulo(left: Value, right: Value): Value {
  if (typeof left === "bigint" && typeof right === "bigint") {
    return right === 0n ? new CelError("modulus by zero") : int(left % right);
  }
  if (left instanceof CelUint && right instanceof CelUint) {
    return right.value === 0n ? new CelError("modulus by zero") : uint(left.value % right.value);
  }
  return noSuchOverload(left, right);
}

/** `-value`. */
export function negate(value: Value): Value {
  if (typeof value === "bigint") return int(-value);
  if (typeof value === "number") return -value;
  if (value instanceof CelDuration) return duration(-value.ns);
  return noSuchOverload(value);
}

/** An int, or the error of one that has more than 64 bits. */
export function int(value: bigint): Value {
  return value >= minInt && value <= maxInt ? value : new CelError("integer overflow");
}

/** A uint, or the error of one that has more than 64 bits. */
export function uint(value: bigint): Value {
  return value >= 0n && value <= maxUint ? new CelUint(value) : new CelError("unsigned integer overflow");
}

/** A span of time, or the error of one whose nanoseconds have more than 64 bits. */
export function duration(ns: bigint): Value {
  return ns >= minInt && ns <= maxInt ? new CelDuration(ns) : new CelError("duration overflow");
}

/** An instant, or the error of one before the year 1 or after 9999. */
export function timestamp(ns: bigint, offsetMinutes = 0): Value {
  const seconds = ns / 1_000_000_000n;
  if (seconds < minUnixSeconds || seconds > maxUnixSeconds) return new CelError("timestamp overflow");
  return new CelTimestamp(ns, offsetMinutes);
}
