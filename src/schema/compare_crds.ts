/**
 * compareCrds() and compareSchemas(): the changes of a CustomResourceDefinition that break stored objects or clients.
 * `install-crds` compares the CRD in the cluster with that of the program before it replaces it.
 *
 * Guarantees: reports every value that the old schema allows and the new one rejects or prunes. Patterns, formats and
 * CEL rules cannot be compared by meaning, so any change that may narrow them is reported.
 * Caveats: a wider schema is not reported, unless it needs a new rule (an enum that becomes nullable).
 */
import { printExactJson } from "../api/mod.ts";
import type { Crd, CrdVersion } from "./crd.ts";
import { sameJson } from "./_json.ts";
import type { StructuralSchema, ValidationRule } from "./structural_schema.ts";

/** Options of {@link compareCrds}. */
export interface CompareCrdsOptions {
  /**
   * `status.storedVersions` of the CRD in the cluster: versions in which etcd may hold objects.
   * @default the old storage version
   */
  readonly storedVersions?: readonly string[];
}

/**
 * Lists what breaks when a CRD replaces another one: stored objects that become invalid or lose fields, and clients whose
 * version is no longer served. It reports a change when it cannot decide whether it breaks something.
 *
 * @param old The CRD in the cluster.
 * @param next The CRD that replaces it.
 * @param options The versions in which objects are stored.
 * @returns The changes, in the order of the versions; empty when nothing breaks.
 *
 * @example
 * ```ts
 * import { defineResource, z } from "@pintle/controller";
 * import { compareCrds } from "@pintle/controller/schema";
 *
 * const names = { group: "example.dev", version: "v1", kind: "Site", scope: "Namespaced" } as const;
 * const before = defineResource({ ...names, spec: z.object({ host: z.string() }) });
 * const after = defineResource({ ...names, spec: z.object({ host: z.string().max(10) }) });
 * const [change] = compareCrds(before.crd, after.crd);
 * console.assert(change?.kind === "narrowed" && change.path === "spec.host");
 * ```
 */
export function compareCrds(
  old: Pick<Crd, "spec">,
  next: Pick<Crd, "spec">,
  options: CompareCrdsOptions = {},
): readonly BreakingChange[] {
  const stored = options.storedVersions ??
    old.spec.versions.filter((version) => version.storage).map(({ name }) => name);
  return [
    ...compareIdentity(old.spec, next.spec),
    ...old.spec.versions.flatMap((version) => compareVersion(version, next, stored.includes(version.name))),
  ];
}

function compareIdentity(old: Crd["spec"], next: Crd["spec"]): BreakingChange[] {
  const pairs: readonly [string, string, string][] = [
    ["group", old.group, next.group],
    ["scope", old.scope, next.scope],
    ["kind", old.names.kind, next.names.kind],
    ["plural", old.names.plural, next.names.plural],
  ];
  return pairs.filter(([, before, after]) => before !== after).map(([name, before, after]) => ({
    kind: "identity",
    path: "",
    message: `the ${name} changes from ${before} to ${after}`,
  }));
}

function compareVersion(version: CrdVersion, next: Pick<Crd, "spec">, isStored: boolean): BreakingChange[] {
  const { name } = version;
  // The API server has warned the clients of a deprecated version on each request.
  const isInUse = version.served && version.deprecated !== true;
  const counterpart = next.spec.versions.find((candidate) => candidate.name === name);
  if (counterpart === undefined) {
    const reason = isStored ? "objects may be stored in it" : "clients may use it";
    return isInUse || isStored ? [versionChange(name, `is removed: ${reason}`)] : [];
  }
  const unserved = isInUse && !counterpart.served
    ? [versionChange(name, "is no longer served: clients may use it")]
    : [];
  const changes = compareSchemas(version.schema.openAPIV3Schema, counterpart.schema.openAPIV3Schema);
  const lost = version.subresources?.status !== undefined && counterpart.subresources?.status === undefined
    ? [versionChange(name, "loses its status subresource")]
    : [];
  const named = changes.map((change) => ({ ...change, version: name, message: `${name}: ${change.message}` }));
  return [...unserved, ...lost, ...named];
}

function versionChange(name: string, state: string): BreakingChange {
  return { kind: "version", path: "", version: name, message: `version ${name} ${state}` };
}

/** One change that breaks stored objects or clients. {@link compareCrds} reports them. */
export interface BreakingChange {
  /**
   * - `removed`: a field is removed, its stored values would be pruned.
   * - `type`: values have another type or structure.
   * - `narrowed`: values that were valid are rejected.
   * - `required`: objects without a field are rejected.
   * - `default`: objects without a field get another value.
   * - `rule`: a CEL rule is new, stored objects may violate it.
   * - `version`: a version of the kind is removed or no longer served.
   * - `identity`: group, kind, plural or scope changed, which makes it another kind for the API server.
   */
  readonly kind: "removed" | "type" | "narrowed" | "required" | "default" | "rule" | "version" | "identity";
  /** `spec.replicas`; lists add `[]`, maps `{}`. */
  readonly path: string;
  /** `spec.replicas is removed: stored values would be lost`. */
  readonly message: string;
  /** The version of the kind that breaks; absent when the whole kind breaks or only schemas were compared. */
  readonly version?: string;
}

const lowerBounds = ["minLength", "minItems", "minProperties"] as const;
const upperBounds = ["maxLength", "maxItems", "maxProperties"] as const;

/** The range that the API server enforces for the format int32. */
const int32Range = { minimum: -(2 ** 31), maximum: 2 ** 31 - 1 };

/**
 * Lists what breaks when a schema of a value replaces another one.
 *
 * @param old The schema under which values are stored.
 * @param next The schema that replaces it.
 * @param path The path of the value, for messages. @default ""
 * @returns The breaking changes, in the order of the schema; empty when nothing breaks.
 *
 * @example
 * ```ts
 * import { compareSchemas, structuralSchema } from "@pintle/controller/schema";
 * import { z } from "@pintle/controller";
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
  // An integer is also a number, and a schema without a type allows every value.
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
  const kept = next.enum === undefined ? undefined : new Set(next.enum.map((value) => printExactJson(value)));
  const gone = (old.enum ?? []).filter((value) => kept !== undefined && !kept.has(printExactJson(value)));
  if (gone.length > 0) changes.push(breaking("narrowed", path, `no longer allows ${listed(gone)}`));
  if (old.enum === undefined && next.enum !== undefined) {
    changes.push(breaking("narrowed", path, `allows only ${listed(next.enum)}`));
  }
  if (old.nullable === true && next.nullable !== true) {
    changes.push(breaking("narrowed", path, "no longer allows null"));
  }
  if (next.default === undefined ? old.default !== undefined : !sameJson(old.default, next.default)) {
    changes.push(...compareDefaults(old, next, path));
  }
  if (old["x-kubernetes-preserve-unknown-fields"] === true && next["x-kubernetes-preserve-unknown-fields"] !== true) {
    changes.push(breaking("removed", path, "no longer preserves unknown fields: stored ones would be lost"));
  }
  return changes;
}

/** A new default is harmless: objects without the field had no value there. */
function compareDefaults(old: StructuralSchema, next: StructuralSchema, path: string): BreakingChange[] {
  if (old.default === undefined) return [];
  const before = printExactJson(old.default);
  if (next.default === undefined) return [breaking("default", path, `loses its default ${before}`)];
  return [breaking("default", path, `changes its default from ${before} to ${printExactJson(next.default)}`)];
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
    // compareRanges() has compared what the format of an integer means.
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
    changes.push(breaking("narrowed", path, `no longer allows its minimum ${after.minimum}`));
  }
  if (after.maximum === before.maximum && next.exclusiveMaximum && !old.exclusiveMaximum) {
    changes.push(breaking("narrowed", path, `no longer allows its maximum ${after.maximum}`));
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
  // Whether a change under allOf, anyOf, oneOf or not narrows the schema is not decided here: each one is reported.
  const combined = (["allOf", "anyOf", "oneOf", "not"] as const)
    .filter((name) =>
      next[name] !== undefined && next["x-kubernetes-int-or-string"] !== true && !sameJson(old[name], next[name])
    )
    .map((name) => breaking("narrowed", path, `changes its ${name}`));
  return [...rules, ...combined];
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
    // The API server sets defaults before it checks for required fields.
    if (Object.hasOwn(after, name) && after[name]?.default !== undefined) continue;
    changes.push(breaking("required", path === "" ? name : `${path}.${name}`, "is now required"));
  }
  return changes;
}

function compareElements(old: StructuralSchema, next: StructuralSchema, path: string): BreakingChange[] {
  const changes: BreakingChange[] = [];
  const [before, after] = [old["x-kubernetes-list-type"] ?? "atomic", next["x-kubernetes-list-type"] ?? "atomic"];
  if (before !== after && after !== "atomic") {
    changes.push(breaking("narrowed", path, `becomes a list of type ${after}: stored duplicates would be rejected`));
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
  return values.map((value) => printExactJson(value)).join(", ");
}

function breaking(kind: BreakingChange["kind"], path: string, state: string): BreakingChange {
  return { kind, path, message: `${path === "" ? "the object" : path} ${state}` };
}
