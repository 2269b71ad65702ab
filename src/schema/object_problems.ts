/**
 * objectProblems(): what the API server would reject or drop in a stored object under a new schema. `install-crds`
 * checks every stored object with it before it narrows a kind.
 *
 * Guarantees: checks all keywords of a StructuralSchema except CEL rules, which only the API server evaluates; checks
 * formats as the API server does, and ignores those that it ignores; does not change its input.
 */
import { printExactJson } from "../api/mod.ts";
import { formatCheck } from "../cel/mod.ts";
import { sameJson } from "./_json.ts";
import type { StructuralSchema } from "./structural_schema.ts";

/** One problem of a stored object under a new schema. {@link objectProblems} reports them. */
export interface ObjectProblem {
  /** `invalid`: the API server would reject the next write. `lost`: the API server would drop the field. */
  readonly kind: "invalid" | "lost";
  /** The path of the field, e.g. `spec.replicas` or `spec.ports[0].name`. */
  readonly path: string;
  /** A sentence for people, e.g. `spec.replicas is 12, the maximum is 10`. */
  readonly message: string;
}

/**
 * Validates a stored object against a schema, as the API server does on the next write. It does not evaluate CEL rules.
 *
 * @param schema The schema of the whole object, as a CRD has it for each version.
 * @param object The object as it is stored. It is not changed.
 * @returns The problems in the order of the schema; empty when the object is valid.
 *
 * @example
 * ```ts
 * import { objectProblems, structuralSchema } from "@pintle/controller/schema";
 * import { z } from "@pintle/controller";
 *
 * const schema = structuralSchema(z.object({ size: z.int32().max(10) }), "Foo");
 * const [problem] = objectProblems(schema, { size: 12 });
 * console.assert(problem?.message === "size is 12, the maximum is 10");
 * ```
 */
export function objectProblems(schema: StructuralSchema, object: unknown): readonly ObjectProblem[] {
  return validate(schema, object, { path: "", isRoot: true });
}

interface At {
  readonly path: string;
  /** True for the object itself and for embedded objects: they have apiVersion, kind and metadata in every schema. */
  readonly isRoot: boolean;
}

/** Fields that every object has; the API server validates them itself. */
const objectFieldNames: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata"]);

function validate(schema: StructuralSchema, value: unknown, at: At): ObjectProblem[] {
  if (value === null) {
    return schema.nullable === true || schema.type === undefined ? [] : [invalid(at, "is null, which is not allowed")];
  }
  const wrongType = typeProblem(schema, value, at);
  if (wrongType !== undefined) return [wrongType];
  return [
    ...scalarProblems(schema, value).map((text) => invalid(at, text)),
    ...(isObject(value) ? objectFields(schema, value, at) : []),
    ...(Array.isArray(value) ? listItems(schema, value, at) : []),
    ...combinedProblems(schema, value, at),
  ];
}

function typeProblem(schema: StructuralSchema, value: unknown, at: At): ObjectProblem | undefined {
  if (schema["x-kubernetes-int-or-string"] === true) {
    const fits = typeof value === "string" || isInteger(value);
    return fits ? undefined : invalid(at, `is ${shown(value)}, neither an integer nor a string`);
  }
  const { type } = schema;
  if (type === undefined || hasType(value, type)) return undefined;
  return invalid(at, `is ${shown(value)}, the type is ${type}`);
}

function hasType(value: unknown, type: NonNullable<StructuralSchema["type"]>): boolean {
  switch (type) {
    case "object":
      return isObject(value);
    case "array":
      return Array.isArray(value);
    case "integer":
      return isInteger(value);
    case "string":
      return typeof value === "string";
    case "number":
      return isNumber(value);
    case "boolean":
      return typeof value === "boolean";
    default:
      return type satisfies never;
  }
}

/** A number of JSON: a decoded object has a bigint where a number of JavaScript would be rounded. */
function isNumber(value: unknown): value is number | bigint {
  return typeof value === "number" || typeof value === "bigint";
}

function isInteger(value: unknown): boolean {
  return typeof value === "bigint" || Number.isInteger(value);
}

function scalarProblems(schema: StructuralSchema, value: unknown): readonly Finding[] {
  const findings: Finding[] = [];
  if (schema.enum !== undefined && !schema.enum.some((one) => sameJson(one, value))) {
    findings.push(`is ${shown(value)}, which is none of ${schema.enum.map((one) => printExactJson(one)).join(", ")}`);
  }
  const format = formatProblem(schema, value);
  // The name of the format explains more than the long pattern beside it.
  if (format !== undefined) return [...findings, format];
  if (typeof value === "string") findings.push(...stringProblems(schema, value));
  if (isNumber(value)) findings.push(...numberProblems(schema, value));
  return findings;
}

function objectFields(schema: StructuralSchema, value: Record<string, unknown>, at: At): ObjectProblem[] {
  const { properties = {}, additionalProperties, required = [] } = schema;
  const problems = sizeProblems(Object.keys(value).length, "keys", schema.minProperties, schema.maxProperties, at);
  const isWhole = at.isRoot || schema["x-kubernetes-embedded-resource"] === true;
  for (const [name, child] of Object.entries(value)) {
    if (isWhole && objectFieldNames.has(name)) continue;
    const below = { path: pathTo(at.path, name), isRoot: false };
    const known = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (known !== undefined) problems.push(...validate(known, child, below));
    else if (typeof additionalProperties === "object") problems.push(...validate(additionalProperties, child, below));
    else if (!preservesUnknown(schema)) problems.push(lost(below, child));
  }
  for (const name of required) {
    // The API server sets defaults before it checks for required fields.
    const hasDefault = Object.hasOwn(properties, name) && properties[name]?.default !== undefined;
    if (Object.hasOwn(value, name) || hasDefault || (isWhole && objectFieldNames.has(name))) continue;
    problems.push(invalid({ path: pathTo(at.path, name), isRoot: false }, "is required but missing"));
  }
  return problems;
}

function preservesUnknown(schema: StructuralSchema): boolean {
  return schema["x-kubernetes-preserve-unknown-fields"] === true || schema.additionalProperties === true;
}

function listItems(schema: StructuralSchema, value: readonly unknown[], at: At): ObjectProblem[] {
  const { items } = schema;
  const problems = sizeProblems(value.length, "items", schema.minItems, schema.maxItems, at);
  const duplicate = duplicateProblem(schema, value, at);
  if (duplicate !== undefined) problems.push(duplicate);
  if (items === undefined) return problems;
  return [
    ...problems,
    ...value.flatMap((item, index) => validate(items, item, { path: `${at.path}[${index}]`, isRoot: false })),
  ];
}

/** Lists of type set and map must not have two items with the same key. */
function duplicateProblem(
  schema: StructuralSchema,
  value: readonly unknown[],
  at: At,
): ObjectProblem | undefined {
  const listType = schema["x-kubernetes-list-type"] ?? "atomic";
  if (listType === "atomic") return undefined;
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  const seen = new Set<string>();
  for (const item of value) {
    const identity = printExactJson(
      listType === "map" && isObject(item) ? keys.map((key) => Object.hasOwn(item, key) ? item[key] : null) : item,
    );
    if (seen.has(identity)) return invalid(at, `has two items ${identity}`);
    seen.add(identity);
  }
  return undefined;
}

/** Schemas under allOf, anyOf, oneOf and not only reject values; they prune nothing. */
function combinedProblems(schema: StructuralSchema, value: unknown, at: At): ObjectProblem[] {
  if (schema["x-kubernetes-int-or-string"] === true) return [];
  const invalids = (part: StructuralSchema) => validate(part, value, at).filter(({ kind }) => kind === "invalid");
  const isValid = (part: StructuralSchema) => invalids(part).length === 0;
  const problems = (schema.allOf ?? []).flatMap(invalids);
  const { anyOf, oneOf, not } = schema;
  if (anyOf !== undefined && !anyOf.some(isValid)) {
    problems.push(invalid(at, `is ${shown(value)}, which matches none of the allowed forms`));
  }
  const forms = oneOf?.filter(isValid).length ?? 1;
  if (forms !== 1) {
    problems.push(invalid(at, `is ${shown(value)}, which matches ${forms} of the forms that exclude each other`));
  }
  if (not !== undefined && isValid(not)) {
    problems.push(invalid(at, `is ${shown(value)}, which matches the forbidden form`));
  }
  return problems;
}

function sizeProblems(
  size: number,
  unit: string,
  min: number | undefined,
  max: number | undefined,
  at: At,
): ObjectProblem[] {
  if (min !== undefined && size < min) return [invalid(at, `has ${size} ${unit}, the minimum is ${min}`)];
  if (max !== undefined && size > max) return [invalid(at, `has ${size} ${unit}, the maximum is ${max}`)];
  return [];
}

function invalid({ path }: At, state: string): ObjectProblem {
  return { kind: "invalid", path, message: `${path === "" ? "the object" : path} ${state}` };
}

function lost({ path }: At, value: unknown): ObjectProblem {
  return { kind: "lost", path, message: `${path} is ${shown(value)} and would be lost` };
}

function pathTo(path: string, name: string): string {
  if (!/^[\w$-]+$/.test(name)) return `${path}[${printExactJson(name)}]`;
  return path === "" ? name : `${path}.${name}`;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A message without its subject, e.g. `is 12, the maximum is 10`. */
type Finding = string;

/** Checks the length and the pattern of a string. Counts code points, as the API server does. */
function stringProblems(schema: StructuralSchema, value: string): readonly Finding[] {
  const { minLength, maxLength, pattern } = schema;
  const findings: Finding[] = [];
  const length = [...value].length;
  if (minLength !== undefined && length < minLength) {
    findings.push(`has ${length} characters, the minimum is ${minLength}`);
  }
  if (maxLength !== undefined && length > maxLength) {
    findings.push(`has ${length} characters, the maximum is ${maxLength}`);
  }
  if (pattern !== undefined && matches(pattern, value) === false) {
    findings.push(`is ${shown(value)}, which does not match ${cut(pattern)}`);
  }
  return findings;
}

/** Checks the range and the step of a number. */
function numberProblems(schema: StructuralSchema, value: number | bigint): readonly Finding[] {
  const { minimum, maximum, exclusiveMinimum = false, exclusiveMaximum = false, multipleOf } = schema;
  const findings: Finding[] = [];
  if (minimum !== undefined && (exclusiveMinimum ? value <= minimum : value < minimum)) {
    findings.push(`is ${value}, ${exclusiveMinimum ? "it must be above" : "the minimum is"} ${minimum}`);
  }
  if (maximum !== undefined && (exclusiveMaximum ? value >= maximum : value > maximum)) {
    findings.push(`is ${value}, ${exclusiveMaximum ? "it must be below" : "the maximum is"} ${maximum}`);
  }
  if (multipleOf !== undefined && !isMultiple(value, multipleOf)) {
    findings.push(`is ${value}, which is not a multiple of ${multipleOf}`);
  }
  return findings;
}

/** Checks the format of a value; undefined when it is valid, or when the API server ignores the format. */
function formatProblem(schema: StructuralSchema, value: unknown): Finding | undefined {
  if (schema.format === undefined || fitsFormat(schema, value)) return undefined;
  return `is ${shown(value)}, which is not a valid ${schema.format}`;
}

function fitsFormat({ type, format = "" }: StructuralSchema, value: unknown): boolean {
  if (typeof value === "string") return formatCheck(format)?.(value) !== false;
  if (!isNumber(value)) return true;
  if (type === "number") return format !== "float" || Number.isFinite(Math.fround(Number(value)));
  if (type !== "integer" || (format !== "int32" && format !== "int64")) return true;
  return BigInt.asIntN(format === "int32" ? 32 : 64, BigInt(value)) === BigInt(value);
}

/** A value for a message, cut to 60 characters. */
function shown(value: unknown): string {
  return cut(printExactJson(value) ?? String(value));
}

function cut(text: string): string {
  return text.length <= 60 ? text : `${text.slice(0, 57)}...`;
}

/** Matches a pattern; undefined when only RE2 understands it. */
function matches(pattern: string, value: string): boolean | undefined {
  const [, flags = "", source = pattern] = /^\(\?([ims]+)\)(.*)$/s.exec(pattern) ?? [];
  try {
    return new RegExp(source.replaceAll("(?P<", "(?<").replaceAll(/\\x\{([0-9a-fA-F]+)\}/g, "\\u{$1}"), `u${flags}`)
      .test(value);
  } catch {
    return undefined;
  }
}

function isMultiple(value: number | bigint, step: number): boolean {
  if (typeof value === "bigint" && Number.isInteger(step)) return value % BigInt(step) === 0n;
  const quotient = Number(value) / step;
  return Math.abs(quotient - Math.round(quotient)) < 1e-9;
}
