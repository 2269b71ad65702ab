/**
 * compareSchemas(): what a new schema would break for objects that are stored and for people who write them.
 *
 * Guarantees: whatever was valid under the old schema and is not under the new one, or would lose a field, is
 * reported. Patterns, formats and CEL rules cannot be compared by meaning, so that any change that may narrow them
 * is reported. Widening is silent, unless it takes a new rule to say it (an enum that becomes nullable).
 */
import { sameJson } from "./_json.ts";
import type { StructuralSchema, ValidationRule } from "./structural_schema.ts";

/** One thing a change breaks. */
export interface BreakingChange {
  /**
   * - `removed`: a field is gone, its stored values would be pruned.
   * - `type`: values have another type or structure.
   * - `narrowed`: values that were legal are refused.
   * - `required`: objects without a field are refused.
   * - `default`: objects that leave a field out mean something else.
   * - `rule`: a CEL rule came, stored objects may not satisfy it.
   * - `version`: a version of the kind is gone or no longer served.
   * - `identity`: group, kind, plural or scope changed, which is another kind to the server.
   */
  readonly kind: "removed" | "type" | "narrowed" | "required" | "default" | "rule" | "version" | "identity";
  /** `spec.replicas`; lists add `[]`, maps `{}`. */
  readonly path: string;
  /** `spec.replicas is removed: stored values would be lost`. */
  readonly message: string;
  /** The version of the kind that breaks; absent where it is the kind itself, or a schema alone was compared. */
  readonly version?: string;
}

const lowerBounds = ["minLength", "minItems", "minProperties"] as const;
const upperBounds = ["maxLength", "maxItems", "maxProperties"] as const;

/** What the server admits by format alone. */
const int32Range = { minimum: -(2 ** 31), maximum: 2 ** 31 - 1 };

/**
 * Compares two schemas of one value.
 *
 * @param path Where the value stands, for messages. @default ""
 * @returns What breaks, in the order of the schema; empty when nothing does.
 *
 * @example
 * ```ts
 * import { compareSchemas, structuralSchema, z } from "@pintle/controller";
 *
 * const before = structuralSchema(z.object({ size: z.int32() }), "Foo");
 * const after = structuralSchema(z.object({ size: z.int32().max(10) }), "Foo");
 * const [change] = compareSchemas(before, after);
 * console.assert(change?.message === "size has the new maximum 10");
 * ```
 */
export function compareSchemas(old: StructuralSchema, next: StructuralSchema, path = ""): readonly BreakingChange[] {
  if (sameJson(old, next)) return [];
  const typeChange = compareTypes(old, next, path);
  if (typeChange !== undefined) return [typeChange];
  return [
    ...compareValues(old, next, path),
    ...compareBounds(old, next, path),
    ...compareRules(old, next, path),
    ...compareProperties(old, next, path),
    ...compareElements(old, next, path),
  ];
}

function compareTypes(old: StructuralSchema, next: StructuralSchema, path: string): BreakingChange | undefined {
  const [before, after] = [typeName(old), typeName(next)];
  // Integers are numbers, and whatever is kept unseen admits every type.
  const widened = after === "anything" || (before === "integer" && (after === "number" || after === "int-or-string")) ||
    (before === "string" && after === "int-or-string");
  if (before === after || widened) return undefined;
  return breaking("type", path, `changes from ${before} to ${after}`);
}

function typeName(schema: StructuralSchema): string {
  if (schema["x-kubernetes-int-or-string"] === true) return "int-or-string";
  if (schema.type === undefined) return "anything";
  return schema.type === "object" && isMap(schema) ? "map" : schema.type;
}

function isMap(schema: StructuralSchema): boolean {
  return typeof schema.additionalProperties === "object";
}

function compareValues(old: StructuralSchema, next: StructuralSchema, path: string): BreakingChange[] {
  const changes: BreakingChange[] = [];
  const kept = next.enum === undefined ? undefined : new Set(next.enum.map((value) => JSON.stringify(value)));
  const gone = (old.enum ?? []).filter((value) => kept !== undefined && !kept.has(JSON.stringify(value)));
  if (gone.length > 0) changes.push(breaking("narrowed", path, `no longer admits ${listed(gone)}`));
  if (old.enum === undefined && next.enum !== undefined) {
    changes.push(breaking("narrowed", path, `admits only ${listed(next.enum)}`));
  }
  if (old.nullable === true && next.nullable !== true) {
    changes.push(breaking("narrowed", path, "no longer admits null"));
  }
  if (next.default === undefined ? old.default !== undefined : !sameJson(old.default, next.default)) {
    changes.push(...compareDefaults(old, next, path));
  }
  if (old["x-kubernetes-preserve-unknown-fields"] === true && next["x-kubernetes-preserve-unknown-fields"] !== true) {
    changes.push(breaking("removed", path, "no longer keeps unknown fields: stored ones would be lost"));
  }
  return changes;
}

/** A default that comes is harmless: whoever left the field out had nothing there. */
function compareDefaults(old: StructuralSchema, next: StructuralSchema, path: string): BreakingChange[] {
  if (old.default === undefined) return [];
  const before = JSON.stringify(old.default);
  if (next.default === undefined) return [breaking("default", path, `loses its default ${before}`)];
  return [breaking("default", path, `changes its default from ${before} to ${JSON.stringify(next.default)}`)];
}

function compareBounds(old: StructuralSchema, next: StructuralSchema, path: string): BreakingChange[] {
  const changes = compareRanges(old, next, path);
  for (const name of lowerBounds) {
    const after = next[name] ?? 0;
    if (after > (old[name] ?? 0)) changes.push(boundChange(name, old[name], after, path));
  }
  for (const name of upperBounds) {
    const after = next[name] ?? Infinity;
    if (after < (old[name] ?? Infinity)) changes.push(boundChange(name, old[name], after, path));
  }
  for (const name of ["pattern", "format", "multipleOf"] as const) {
    const after = next[name];
    // The range of an integer says what its format says.
    if (after === undefined || after === old[name] || (name === "format" && next.type === "integer")) continue;
    changes.push(breaking("narrowed", path, `has the new ${name} ${after}`));
  }
  return changes;
}

function compareRanges(old: StructuralSchema, next: StructuralSchema, path: string): BreakingChange[] {
  const [before, after] = [rangeOf(old), rangeOf(next)];
  const changes: BreakingChange[] = [];
  if (after.minimum > before.minimum) changes.push(boundChange("minimum", old.minimum, after.minimum, path));
  if (after.maximum < before.maximum) changes.push(boundChange("maximum", old.maximum, after.maximum, path));
  if (after.minimum === before.minimum && next.exclusiveMinimum && !old.exclusiveMinimum) {
    changes.push(breaking("narrowed", path, `no longer admits its minimum ${after.minimum}`));
  }
  if (after.maximum === before.maximum && next.exclusiveMaximum && !old.exclusiveMaximum) {
    changes.push(breaking("narrowed", path, `no longer admits its maximum ${after.maximum}`));
  }
  return changes;
}

function rangeOf(schema: StructuralSchema): { readonly minimum: number; readonly maximum: number } {
  const widest = schema.format === "int32" ? int32Range : { minimum: -Infinity, maximum: Infinity };
  return { minimum: schema.minimum ?? widest.minimum, maximum: schema.maximum ?? widest.maximum };
}

function boundChange(
  name: string,
  before: number | undefined,
  after: number | undefined,
  path: string,
): BreakingChange {
  const state = before === undefined
    ? `has the new ${name} ${after}`
    : `changes its ${name} from ${before} to ${after}`;
  return breaking("narrowed", path, state);
}

function compareRules(old: StructuralSchema, next: StructuralSchema, path: string): BreakingChange[] {
  const key = (rule: ValidationRule) => `${rule.rule} ${rule.optionalOldSelf ?? false}`;
  const known = new Set((old["x-kubernetes-validations"] ?? []).map(key));
  const rules = (next["x-kubernetes-validations"] ?? [])
    .filter((rule) => !known.has(key(rule)))
    .map((rule) => breaking("rule", path, `has the new rule ${rule.rule}`));
  // What stands under allOf and anyOf narrows in ways that have no name here.
  const junctors = (["allOf", "anyOf"] as const)
    .filter((name) =>
      next[name] !== undefined && next["x-kubernetes-int-or-string"] !== true && !sameJson(old[name], next[name])
    )
    .map((name) => breaking("narrowed", path, `changes its ${name}`));
  return [...rules, ...junctors];
}

function compareProperties(old: StructuralSchema, next: StructuralSchema, path: string): BreakingChange[] {
  if (next.type !== "object") return [];
  const [before, after] = [old.properties ?? {}, next.properties ?? {}];
  const keepsAll = next["x-kubernetes-preserve-unknown-fields"] === true;
  const changes: BreakingChange[] = [];
  for (const [name, schema] of Object.entries(before)) {
    const at = path === "" ? name : `${path}.${name}`;
    const counterpart = Object.hasOwn(after, name) ? after[name] : undefined;
    if (counterpart !== undefined) changes.push(...compareSchemas(schema, counterpart, at));
    else if (!keepsAll) changes.push(breaking("removed", at, "is removed: stored values would be lost"));
  }
  for (const name of next.required ?? []) {
    if (old.required?.includes(name) === true) continue;
    // The server sets defaults before it looks for what is required.
    if (Object.hasOwn(after, name) && after[name]?.default !== undefined) continue;
    changes.push(breaking("required", path === "" ? name : `${path}.${name}`, "is required now"));
  }
  return changes;
}

function compareElements(old: StructuralSchema, next: StructuralSchema, path: string): BreakingChange[] {
  const changes: BreakingChange[] = [];
  const [before, after] = [old["x-kubernetes-list-type"] ?? "atomic", next["x-kubernetes-list-type"] ?? "atomic"];
  if (before !== after && after !== "atomic") {
    changes.push(breaking("narrowed", path, `becomes a list of type ${after}: stored duplicates would be refused`));
  }
  const [keys, nextKeys] = [old["x-kubernetes-list-map-keys"], next["x-kubernetes-list-map-keys"]];
  if (before === "map" && after === "map" && !sameJson(keys, nextKeys)) {
    changes.push(breaking("narrowed", path, `changes its list map keys from ${keys} to ${nextKeys}`));
  }
  if (old.items !== undefined && next.items !== undefined) {
    changes.push(...compareSchemas(old.items, next.items, `${path}[]`));
  }
  const [values, nextValues] = [old.additionalProperties, next.additionalProperties];
  if (typeof values === "object" && typeof nextValues === "object") {
    changes.push(...compareSchemas(values, nextValues, `${path}{}`));
  }
  return changes;
}

function listed(values: readonly unknown[]): string {
  return values.map((value) => JSON.stringify(value)).join(", ");
}

function breaking(kind: BreakingChange["kind"], path: string, state: string): BreakingChange {
  return { kind, path, message: `${path === "" ? "the object" : path} ${state}` };
}
