/**
 * objectProblems(): what the API server would have against a stored object under a schema it was not written with, and
 * what of it would be lost. `install-crds` asks this of every stored object before it narrows a kind.
 *
 * Guarantees: knows all keywords of a StructuralSchema but CEL rules, which the server alone evaluates; unknown formats
 * are let through, as the server does; what it is given is not changed.
 */
import { type Finding, formatProblem, numberProblems, shown, stringProblems } from "./_value_problems.ts";
import { sameJson } from "./_json.ts";
import type { StructuralSchema } from "./structural_schema.ts";

/** One thing that is wrong with a stored object. */
export interface ObjectProblem {
  /** `invalid`: the server would refuse it when it is written next. `lost`: the server would drop it. */
  readonly kind: "invalid" | "lost";
  /** `spec.replicas`, `spec.ports[0].name`. */
  readonly path: string;
  /** `spec.replicas is 12, the maximum is 10`. */
  readonly message: string;
}

/**
 * Judges an object by a schema.
 *
 * @param schema That of the whole object, as a CRD has it for each version.
 * @returns The problems in the order of the schema; empty when the object fits.
 *
 * @example
 * ```ts
 * import { objectProblems, structuralSchema, z } from "@pintle/controller";
 *
 * const schema = structuralSchema(z.object({ size: z.int32().max(10) }), "Foo");
 * const [problem] = objectProblems(schema, { size: 12 });
 * console.assert(problem?.message === "size is 12, the maximum is 10");
 * ```
 */
export function objectProblems(schema: StructuralSchema, object: unknown): readonly ObjectProblem[] {
  return judge(schema, object, { path: "", isRoot: true });
}

interface At {
  readonly path: string;
  /** The object itself, or one that is embedded: it has apiVersion, kind and metadata whatever the schema says. */
  readonly isRoot: boolean;
}

/** What every object has; the server validates it itself. */
const identity: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata"]);

function judge(schema: StructuralSchema, value: unknown, at: At): ObjectProblem[] {
  if (value === null) {
    return schema.nullable === true || schema.type === undefined ? [] : [invalid(at, "is null, which is not admitted")];
  }
  const wrongType = typeProblem(schema, value, at);
  if (wrongType !== undefined) return [wrongType];
  return [
    ...leafProblems(schema, value).map((text) => invalid(at, text)),
    ...(isObject(value) ? objectFields(schema, value, at) : []),
    ...(Array.isArray(value) ? listItems(schema, value, at) : []),
    ...junctors(schema, value, at),
  ];
}

function typeProblem(schema: StructuralSchema, value: unknown, at: At): ObjectProblem | undefined {
  if (schema["x-kubernetes-int-or-string"] === true) {
    const fits = typeof value === "string" || Number.isInteger(value);
    return fits ? undefined : invalid(at, `is ${shown(value)}, neither an integer nor a string`);
  }
  const { type } = schema;
  if (type === undefined || hasType(value, type)) return undefined;
  return invalid(at, `is ${shown(value)}, which is no ${type}`);
}

function hasType(value: unknown, type: NonNullable<StructuralSchema["type"]>): boolean {
  switch (type) {
    case "object":
      return isObject(value);
    case "array":
      return Array.isArray(value);
    case "integer":
      return Number.isInteger(value);
    case "string":
      return typeof value === "string";
    case "number":
      return typeof value === "number";
    case "boolean":
      return typeof value === "boolean";
    default:
      return type satisfies never;
  }
}

function leafProblems(schema: StructuralSchema, value: unknown): readonly Finding[] {
  const findings: Finding[] = [];
  if (schema.enum !== undefined && !schema.enum.some((one) => sameJson(one, value))) {
    findings.push(`is ${shown(value)}, which is none of ${schema.enum.map((one) => JSON.stringify(one)).join(", ")}`);
  }
  const format = formatProblem(schema, value);
  // The format says in a word what a pattern beside it says in a hundred.
  if (format !== undefined) return [...findings, format];
  if (typeof value === "string") findings.push(...stringProblems(schema, value));
  if (typeof value === "number") findings.push(...numberProblems(schema, value));
  return findings;
}

function objectFields(schema: StructuralSchema, value: Record<string, unknown>, at: At): ObjectProblem[] {
  const { properties = {}, additionalProperties, required = [] } = schema;
  const problems = sizeProblems(Object.keys(value).length, "keys", schema.minProperties, schema.maxProperties, at);
  const isWhole = at.isRoot || schema["x-kubernetes-embedded-resource"] === true;
  for (const [name, child] of Object.entries(value)) {
    if (isWhole && identity.has(name)) continue;
    const below = { path: pathTo(at.path, name), isRoot: false };
    const known = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (known !== undefined) problems.push(...judge(known, child, below));
    else if (typeof additionalProperties === "object") problems.push(...judge(additionalProperties, child, below));
    else if (!keepsUnknown(schema)) problems.push(lost(below, child));
  }
  for (const name of required) {
    // The server sets defaults before it looks for what is required.
    const hasDefault = Object.hasOwn(properties, name) && properties[name]?.default !== undefined;
    if (Object.hasOwn(value, name) || hasDefault || (isWhole && identity.has(name))) continue;
    problems.push(invalid({ path: pathTo(at.path, name), isRoot: false }, "is missing and required"));
  }
  return problems;
}

function keepsUnknown(schema: StructuralSchema): boolean {
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
    ...value.flatMap((item, index) => judge(items, item, { path: `${at.path}[${index}]`, isRoot: false })),
  ];
}

/** Lists of type set and map have no two items of one identity. */
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
    const identity = JSON.stringify(
      listType === "map" && isObject(item) ? keys.map((key) => Object.hasOwn(item, key) ? item[key] : null) : item,
    );
    if (seen.has(identity)) return invalid(at, `has two items ${identity}`);
    seen.add(identity);
  }
  return undefined;
}

/** What stands under allOf and anyOf only narrows; nothing is pruned by it. */
function junctors(schema: StructuralSchema, value: unknown, at: At): ObjectProblem[] {
  if (schema["x-kubernetes-int-or-string"] === true) return [];
  const invalids = (part: StructuralSchema) => judge(part, value, at).filter(({ kind }) => kind === "invalid");
  const all = (schema.allOf ?? []).flatMap(invalids);
  const { anyOf } = schema;
  if (anyOf === undefined || anyOf.some((part) => invalids(part).length === 0)) return all;
  return [...all, invalid(at, `is ${shown(value)}, which fits none of the forms it may have`)];
}

function sizeProblems(
  size: number,
  unit: string,
  least: number | undefined,
  most: number | undefined,
  at: At,
): ObjectProblem[] {
  if (least !== undefined && size < least) return [invalid(at, `has ${size} ${unit}, at least ${least} are wanted`)];
  if (most !== undefined && size > most) return [invalid(at, `has ${size} ${unit}, at most ${most} are admitted`)];
  return [];
}

function invalid({ path }: At, state: string): ObjectProblem {
  return { kind: "invalid", path, message: `${path === "" ? "the object" : path} ${state}` };
}

function lost({ path }: At, value: unknown): ObjectProblem {
  return { kind: "lost", path, message: `${path} is ${shown(value)} and would be lost` };
}

function pathTo(path: string, name: string): string {
  if (!/^[\w$-]+$/.test(name)) return `${path}[${JSON.stringify(name)}]`;
  return path === "" ? name : `${path}.${name}`;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
