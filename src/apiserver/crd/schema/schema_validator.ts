/**
 * compileValidator(): compiles a schema to a function that validates values as kube-openapi's validator does, message for
 * message. Only the checks that the schema needs are compiled; a valid value allocates nothing but its paths.
 *
 * With a correlation (on updates), errors of unchanged values are dropped, as CRDValidationRatcheting does. When none of
 * several schemas (anyOf, oneOf) matches, the errors of the one with the most matches are reported too.
 */
import { printExactJson } from "../../../api/mod.ts";
import {
  goFloat,
  goQuote,
  isJsonArray,
  isJsonObject,
  isSameJson,
  type Json,
  type JsonObject,
  patternOf,
} from "../../model/mod.ts";
import type { Correlation } from "../../../cel/mod.ts";
import { SchemaResult } from "./schema_result.ts";
import type { SchemaProps } from "../../../cel/mod.ts";
import { isInt64, kindOf, typesOf, usedFormat } from "../../../cel/mod.ts";
import { WorkBudget, WorkExceededError } from "./work_budget.ts";
import { formatCheck } from "../../../cel/mod.ts";

/** Checks one value and adds its errors. `path` begins at the validated root. */
export type Check = (value: Json, path: string, result: SchemaResult, link: Correlation | undefined) => void;

/** Validates a value. */
export type Validator = (value: Json, link?: Correlation) => SchemaResult;

/** Compiles a schema. */
export function compileValidator(schema: SchemaProps): Validator {
  const check = ratcheted(compileCheck(schema));
  return (value, link) => {
    const result = new SchemaResult(new WorkBudget());
    try {
      check(value, "", result, link);
    } catch (error) {
      if (!(error instanceof WorkExceededError)) throw error;
      result.stop("the object has too many values or errors for the checks of its schema, the rest is not validated");
    }
    return result;
  };
}

/** A check that drops its errors when the value did not change. */
function ratcheted(check: Check): Check {
  return (value, path, result, link) => {
    const count = result.errors.length;
    check(value, path, result, link);
    if (link !== undefined && result.errors.length > count && link.isEqual) result.truncate(count);
  };
}

/** Compiles one node. */
export function compileCheck(schema: SchemaProps): Check {
  const hasTypeCheck = typesOf(schema).length > 0 || usedFormat(schema) !== "";
  const checkType = hasTypeCheck ? compileTypeCheck(schema) : undefined;
  const checkCombinators = compileCombinators(schema);
  const checkString = compileStringChecks(schema);
  const checkNumber = compileNumberChecks(schema);
  const checkList = compileListChecks(schema);
  const checkObject = compileObjectChecks(schema);
  const checkEnum = schema.enum.length === 0 ? undefined : compileEnumCheck(schema.enum);
  // The combinators, the enum and the value each count as one match, and so does the type when it is checked.
  const matches = hasTypeCheck ? 4 : 3;
  return (value, path, result, link) => {
    result.budget.spend(1);
    checkType?.(value, path, result, link);
    if (value === null) return checkEnum?.(value, path, result, link);
    result.matches += matches;
    checkCombinators?.(value, path, result, link);
    switch (typeof value) {
      case "string":
        checkString?.(value, path, result);
        result.matches++;
        break;
      case "number":
      case "bigint":
        checkNumber?.(value, path, result);
        result.matches += 2;
        break;
      case "object":
        result.matches++;
        if (isJsonArray(value)) checkList(value, path, result, link);
        break;
      default:
    }
    checkEnum?.(value, path, result, link);
    if (isJsonObject(value)) checkObject(value, path, result, link);
  };
}

function compileEnumCheck(values: readonly Json[]): Check {
  const scalars = new Set<Json>(values.filter((value) => value !== null && typeof value !== "object"));
  const others = values.filter((value) => value !== null && typeof value === "object");
  let shown: string | undefined;
  return (value, path, result) => {
    if (value !== null && scalars.has(value)) return;
    if (value !== null && typeof value === "object") {
      result.budget.spend(others.length);
      if (others.some((other) => isSameJson(other, value))) return;
    }
    shown ??= values.map((each) => typeof each === "string" ? each : printExactJson(each)).join(" ");
    result.add({ code: "enum", path, value, values, message: `${path} in body should be one of [${shown}]` });
  };
}

type ListCheck = (value: readonly Json[], path: string, result: SchemaResult, link: Correlation | undefined) => void;

function compileListChecks(schema: SchemaProps): ListCheck {
  const { minItems, maxItems, uniqueItems } = schema;
  const checkItem = schema.items === undefined ? undefined : ratcheted(compileCheck(schema.items));
  return (value, path, result, link) => {
    if (checkItem !== undefined) {
      for (let index = 0; index < value.length; index++) {
        checkItem(value[index] ?? null, `${path}[${index}]`, result, link?.index(index));
      }
    }
    const size = value.length;
    if (minItems !== undefined && size < minItems) {
      result.add({
        code: "invalid",
        path,
        value: size,
        message: `${path} in body should have at least ${minItems} items`,
      });
    }
    if (maxItems !== undefined && size > maxItems) {
      const message = `${path} in body should have at most ${maxItems} items`;
      result.add({ code: "tooMany", path, value: size, limit: maxItems, message });
    }
    if (uniqueItems && hasDuplicates(value)) {
      result.add({ code: "invalid", path, message: `${path} in body shouldn't contain duplicates` });
    }
    result.matches++;
  };
}

function hasDuplicates(items: readonly Json[]): boolean {
  return items.some((item, index) => items.slice(0, index).some((other) => isSameJson(item, other)));
}

type ObjectCheck = (value: JsonObject, path: string, result: SchemaResult, link: Correlation | undefined) => void;

function compileObjectChecks(schema: SchemaProps): ObjectCheck {
  const checkSize = compileSizeChecks(schema);
  const checkKeys = compileKeyChecks(schema);
  const properties = Array.from(schema.properties, ([name, property]) => ({
    name,
    dotted: `.${name}`,
    check: ratcheted(compileCheck(property)),
  }));
  const required = schema.required.map((name) => ({ name, dotted: `.${name}` }));
  return (value, path, result, link) => {
    checkSize?.(value, path, result, link);
    checkKeys?.(value, path, result, link);
    const isRoot = path === "";
    for (const { name, dotted, check } of properties) {
      if (!Object.hasOwn(value, name)) continue;
      check(value[name] ?? null, isRoot ? name : path + dotted, result, childLink(link, name, isRoot));
    }
    for (const { name, dotted } of required) {
      if (Object.hasOwn(value, name)) continue;
      result.add({ code: "required", path: path + dotted, message: `${path}${dotted} in body is required` });
    }
  };
}

/** apiVersion and kind have no old value: both states are shown in the same version. */
function childLink(link: Correlation | undefined, name: string, isRoot: boolean): Correlation | undefined {
  if (link === undefined || (isRoot && (name === "apiVersion" || name === "kind"))) return undefined;
  return link.key(name);
}

function compileSizeChecks({ minProperties, maxProperties }: SchemaProps): ObjectCheck | undefined {
  if (minProperties === undefined && maxProperties === undefined) return undefined;
  return (value, path, result) => {
    const size = Object.keys(value).length;
    if (minProperties !== undefined && size < minProperties) {
      const message = `${path} in body should have at least ${minProperties} properties`;
      result.add({ code: "invalid", path, value: size, message });
    }
    if (maxProperties !== undefined && size > maxProperties) {
      const message = `${path} in body should have at most ${maxProperties} properties`;
      result.add({ code: "tooMany", path, value: size, limit: maxProperties, message });
    }
  };
}

/** Checks the keys without a property. */
function compileKeyChecks({ additionalProperties, properties }: SchemaProps): ObjectCheck | undefined {
  if (additionalProperties === undefined || additionalProperties === true) return undefined;
  if (additionalProperties === false) {
    return (value, path, result) => {
      for (const key of Object.keys(value)) {
        if (properties.has(key)) continue;
        result.add({ code: "invalid", path, value: key, message: `${path}.${key} in body is a forbidden property` });
      }
    };
  }
  const check = ratcheted(compileCheck(additionalProperties));
  return (value, path, result, link) => {
    const isRoot = path === "";
    for (const key of Object.keys(value)) {
      if (!properties.has(key)) check(value[key] ?? null, `${path}.${key}`, result, childLink(link, key, isRoot));
    }
  };
}

/** Compiles the check of a value's type and format. */
function compileTypeCheck(schema: SchemaProps): Check {
  const types = typesOf(schema);
  const format = usedFormat(schema);
  const { nullable } = schema;
  const expected = types.join(",");
  const isNumeric = types.includes("integer") || types.includes("number");
  return (value, path, result) => {
    const wrong = (wanted: string, found: string): void => {
      const message = `${path} in body must be of type ${wanted}: "${found}"`;
      result.add({ code: "type", path, value: found, message });
    };
    if (value === null) {
      if (types.length > 0 && !nullable) return wrong(expected, "null");
      result.matches++;
      return;
    }
    const [type, ownFormat] = kindOf(value);
    const isMet = types.includes(type) || (type === "integer" && types.includes("number")) ||
      (type === "number" && types.includes("integer") && Number.isInteger(value) && Math.abs(Number(value)) < 2 ** 53);
    const isTextual = type === "string" || type === "array";
    if (!isTextual && format !== "" && !isMet && ownFormat !== format) return wrong(format, ownFormat);
    if (!isMet && types.length > 0 && (isNumeric || format === "" || !isTextual)) return wrong(expected, type);
    result.matches++;
  };
}

type StringCheck = (value: string, path: string, result: SchemaResult) => void;
type NumberCheck = (value: number | bigint, path: string, result: SchemaResult) => void;

/** Compiles the checks of strings; undefined when there are none. */
function compileStringChecks(schema: SchemaProps): StringCheck | undefined {
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

/** Steps of a pattern that take as long as a visit. */
const stepsPerUnit = 8;

/** Checks lengths and pattern. Only the first violation is reported. */
function compileTextCheck({ maxLength, minLength, pattern }: SchemaProps): StringCheck | undefined {
  if (maxLength === undefined && minLength === undefined && pattern === "") return undefined;
  const regex = pattern === "" ? undefined : patternOf(pattern);
  return (value, path, result) => {
    if (maxLength !== undefined && isLonger(value, maxLength)) {
      const message = `${path} in body should be at most ${maxLength} chars long`;
      result.add({ code: "tooLong", path, value, limit: maxLength, message });
      return;
    }
    if (minLength !== undefined && !isLonger(value, minLength - 1)) {
      result.add({
        code: "invalid",
        path,
        value,
        message: `${path} in body should be at least ${minLength} chars long`,
      });
      return;
    }
    if (regex === undefined) return;
    result.budget.spend(Math.ceil(regex.workOn(value) / stepsPerUnit));
    if (!regex.test(value)) {
      result.add({ code: "invalid", path, value, message: `${path} in body should match '${pattern}'` });
    }
  };
}

/** True when the text has more code points than `length`. */
function isLonger(text: string, length: number): boolean {
  if (text.length <= length) return false;
  if (text.length > 2 * length) return true;
  let count = 0;
  for (const _ of text) if (++count > length) return true;
  return false;
}

/** Compiles the checks of numbers; undefined when there are none. */
function compileNumberChecks(schema: SchemaProps): NumberCheck | undefined {
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
    const checkRange = (number: number | bigint, what: string): boolean => {
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

/** Checks the range of a type and format; undefined when it has no limits. */
function rangeOf(type: string | undefined, format: string): ((value: number | bigint) => boolean) | undefined {
  if (type === "integer") {
    return format === "int32"
      ? (value) => typeof value === "number" && Number.isInteger(value) && value >= -(2 ** 31) && value < 2 ** 31
      : (value) => isInt64(value);
  }
  return type === "number" && format === "float" ? (value) => Number.isFinite(Math.fround(Number(value))) : undefined;
}

interface Limit {
  readonly isMax: boolean;
  readonly isExclusive: boolean;
  /** Compares as an integer: the limit is truncated to an integer. */
  readonly isNative: boolean;
}

function checkLimit(value: number | bigint, limit: number, how: Limit, path: string, result: SchemaResult): void {
  const isInteger = how.isNative && isInt64(value);
  const bound = isInteger ? Math.trunc(limit) : limit;
  const isInside = how.isMax ? value < bound : value > bound;
  if (isInside || (!how.isExclusive && (how.isMax ? value <= bound : value >= bound))) return;
  const than = how.isMax ? "less than" : "greater than";
  const shown = isInteger ? String(bound) : goFloat(bound);
  const message = `${path} in body should be ${than}${how.isExclusive ? "" : " or equal to"} ${shown}`;
  result.add({ code: "invalid", path, value, message });
}

function checkMultiple(
  value: number | bigint,
  factor: number,
  isNative: boolean,
  path: string,
  result: SchemaResult,
): void {
  const whole = isNative ? Math.trunc(factor) : factor;
  const shown = isNative ? String(whole) : goFloat(whole);
  if (whole <= 0) {
    const message = `factor MultipleOf declared for ${path} must be positive: ${shown}`;
    result.add({ code: "invalid", path, value: whole, message });
    return;
  }
  const isMultiple = isNative
    ? Number(BigInt(value) % BigInt(whole)) === 0
    : isJsonInteger(whole < 1 ? 1 / whole * Number(value) : Number(value) / whole);
  if (isMultiple) return;
  result.add({
    code: "invalid",
    path,
    value,
    message: `${path} in body should be a multiple of ${shown}`,
  });
}

/** True for a number that is an integer up to rounding errors. */
function isJsonInteger(value: number): boolean {
  if (!Number.isFinite(value) || Math.abs(value) > 2 ** 53 - 1) return false;
  const whole = Math.trunc(value);
  if (value === whole) return true;
  if (value === 0 || whole === 0) return false;
  return Math.abs(value - whole) / (Math.abs(value) + Math.abs(whole)) < 1e-9;
}

/** Compiles anyOf, oneOf, allOf and not; undefined when the schema has none of them. */
function compileCombinators({ anyOf, oneOf, allOf, not }: SchemaProps): Check | undefined {
  if (anyOf.length + oneOf.length + allOf.length === 0 && not === undefined) return undefined;
  const any = anyOf.map(compileCheck);
  const one = oneOf.map(compileCheck);
  const all = allOf.map(compileCheck);
  const none = not === undefined ? undefined : compileCheck(not);
  return (value, path, result, link) => {
    const run = (check: Check): SchemaResult => {
      const alone = new SchemaResult(result.budget);
      check(value, path, alone, link);
      return alone;
    };
    if (any.length > 0) checkAny(any, run, path, result);
    if (one.length > 0) checkOne(one, run, path, result);
    if (all.length > 0) checkAll(all, run, path, result);
    if (none !== undefined && run(none).errors.length === 0) {
      composite(result, path, `${goQuote(path)} must not validate the schema (not)`);
    }
  };
}

type Run = (check: Check) => SchemaResult;

/** When no schema matches, also reports the errors of the schema with the most matches. */
function checkAny(checks: readonly Check[], run: Run, path: string, result: SchemaResult): void {
  let best: SchemaResult | undefined;
  for (const check of checks) {
    const found = run(check);
    if (found.errors.length === 0) return result.merge(found);
    if (best === undefined || found.matches > best.matches) best = found;
  }
  composite(result, path, `${goQuote(path)} must validate at least one schema (anyOf)`);
  if (best !== undefined) result.merge(best);
}

function checkOne(checks: readonly Check[], run: Run, path: string, result: SchemaResult): void {
  let best: SchemaResult | undefined;
  let valid: SchemaResult | undefined;
  let count = 0;
  for (const check of checks) {
    const found = run(check);
    if (found.errors.length === 0) {
      count++;
      best = undefined;
      valid ??= found;
    } else if (count === 0 && (best === undefined || found.matches > best.matches)) best = found;
  }
  if (count === 1) {
    if (valid !== undefined) result.merge(valid);
    return;
  }
  const reason = count === 0 ? "Found none valid" : `Found ${count} valid alternatives`;
  composite(result, path, `${goQuote(path)} must validate one and only one schema (oneOf). ${reason}`);
  if (best !== undefined) result.merge(best);
}

function checkAll(checks: readonly Check[], run: Run, path: string, result: SchemaResult): void {
  let count = 0;
  for (const check of checks) {
    const found = run(check);
    if (found.errors.length === 0) count++;
    result.merge(found);
  }
  if (count === checks.length) return;
  composite(
    result,
    path,
    `${goQuote(path)} must validate all the schemas (allOf)${count === 0 ? ". None validated" : ""}`,
  );
}

function composite(result: SchemaResult, path: string, message: string): void {
  result.add({ code: "composite", path, message });
}
