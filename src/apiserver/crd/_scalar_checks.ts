/** The checks of numbers and texts: limits, multiples, lengths, patterns and formats. */
import { formatCheck } from "../cel/mod.ts";
import { goFloat, goQuote } from "../model/mod.ts";
import { Regex } from "../re2/mod.ts";
import type { SchemaProps } from "./schema_props.ts";
import type { SchemaResult } from "./_schema_errors.ts";
import { isInt64, typesOf, usedFormat } from "./_type_check.ts";

type StringCheck = (value: string, path: string, result: SchemaResult) => void;
type NumberCheck = (value: number, path: string, result: SchemaResult) => void;

/** Compiles the checks of texts; undefined where there are none. */
export function compileStringChecks(schema: SchemaProps): StringCheck | undefined {
  const format = usedFormat(schema);
  const isOfFormat = format === "" ? undefined : formatCheck(format);
  const checkText = compileTextCheck(schema);
  if (checkText === undefined && isOfFormat === undefined) return undefined;
  return (value, path, result) => {
    checkText?.(value, path, result);
    if (isOfFormat === undefined) return;
    result.matches++;
    if (isOfFormat(value)) return;
    const message = `${path} in body must be of type ${format}: ${goQuote(value)}`;
    result.add({ code: "type", path, value, message });
  };
}

/** Lengths and pattern: only the first that is not met is reported. */
function compileTextCheck({ maxLength, minLength, pattern }: SchemaProps): StringCheck | undefined {
  if (maxLength === undefined && minLength === undefined && pattern === "") return undefined;
  const regex = pattern === "" ? undefined : new Regex(pattern);
  return (value, path, result) => {
    if (maxLength !== undefined && isLonger(value, maxLength)) {
      const message = `${path} in body should be at most ${maxLength} chars long`;
      result.add({ code: "tooLong", path, value, limit: maxLength, message });
    } else if (minLength !== undefined && !isLonger(value, minLength - 1)) {
      result.add({
        code: "invalid",
        path,
        value,
        message: `${path} in body should be at least ${minLength} chars long`,
      });
    } else if (regex?.test(value) === false) {
      result.add({ code: "invalid", path, value, message: `${path} in body should match '${pattern}'` });
    }
  };
}

/** True for more code points than a number. */
function isLonger(text: string, length: number): boolean {
  if (text.length <= length) return false;
  if (text.length > 2 * length) return true;
  let count = 0;
  for (const _ of text) if (++count > length) return true;
  return false;
}

/** Compiles the checks of numbers; undefined where there are none. */
export function compileNumberChecks(schema: SchemaProps): NumberCheck | undefined {
  const [only, ...others] = typesOf(schema);
  const type = others.length === 0 ? only : undefined;
  const format = usedFormat(schema);
  const { multipleOf, maximum, minimum, exclusiveMaximum, exclusiveMinimum } = schema;
  const fits = rangeOf(type, format);
  if (fits === undefined && multipleOf === undefined && maximum === undefined && minimum === undefined) {
    return undefined;
  }
  const title = `value must be of type ${type ?? ""} ${format === "" ? "(default format)" : `with format ${format}`}`;
  return (value, path, result) => {
    const checkRange = (number: number, what: string): boolean => {
      if (fits === undefined || fits(number)) return true;
      result.add({ code: "composite", path, message: `${what} ${title} in ${path}` });
      return false;
    };
    checkRange(value, "Checked");
    if (multipleOf !== undefined) {
      const isNative = checkRange(multipleOf, "MultipleOf");
      checkMultiple(value, multipleOf, isNative && isInt64(value), path, result);
    }
    if (minimum !== undefined) {
      const isNative = checkRange(minimum, "Minimum boundary");
      checkLimit(value, minimum, { isMax: false, isExclusive: exclusiveMinimum, isNative }, path, result);
    }
    if (maximum !== undefined) {
      const isNative = checkRange(maximum, "Maximum boundary");
      checkLimit(value, maximum, { isMax: true, isExclusive: exclusiveMaximum, isNative }, path, result);
    }
  };
}

/** Tells what a number's type and format can hold; undefined for everything. */
function rangeOf(type: string | undefined, format: string): ((value: number) => boolean) | undefined {
  if (type === "integer") {
    return format === "int32"
      ? (value) => Number.isInteger(value) && value >= -(2 ** 31) && value < 2 ** 31
      : (value) => isInt64(value);
  }
  return type === "number" && format === "float" ? (value) => Number.isFinite(Math.fround(value)) : undefined;
}

interface Limit {
  readonly isMax: boolean;
  readonly isExclusive: boolean;
  /** True where an integer is compared as an integer: the limit is cut to one. */
  readonly isNative: boolean;
}

function checkLimit(value: number, limit: number, how: Limit, path: string, result: SchemaResult): void {
  const isInteger = how.isNative && isInt64(value);
  const bound = isInteger ? Math.trunc(limit) : limit;
  const distance = how.isMax ? value - bound : bound - value;
  if (how.isExclusive ? distance < 0 : distance <= 0) return;
  const than = how.isMax ? "less than" : "greater than";
  const shown = isInteger ? String(bound) : goFloat(bound);
  const message = `${path} in body should be ${than}${how.isExclusive ? "" : " or equal to"} ${shown}`;
  result.add({ code: "invalid", path, value, message });
}

function checkMultiple(value: number, factor: number, isNative: boolean, path: string, result: SchemaResult): void {
  const whole = isNative ? Math.trunc(factor) : factor;
  const shown = isNative ? String(whole) : goFloat(whole);
  if (whole <= 0) {
    const message = `factor MultipleOf declared for ${path} must be positive: ${shown}`;
    result.add({ code: "invalid", path, value: whole, message });
    return;
  }
  const isMultiple = isNative ? value % whole === 0 : isJsonInteger(whole < 1 ? 1 / whole * value : value / whole);
  if (isMultiple) return;
  result.add({
    code: "invalid",
    path,
    value,
    message: `${path} in body should be a multiple of ${shown}`,
  });
}

/** True for a number that is an integer but for rounding. */
function isJsonInteger(value: number): boolean {
  if (!Number.isFinite(value) || Math.abs(value) > 2 ** 53 - 1) return false;
  const whole = Math.trunc(value);
  if (value === whole) return true;
  if (value === 0 || whole === 0) return false;
  return Math.abs(value - whole) / (Math.abs(value) + Math.abs(whole)) < 1e-9;
}
