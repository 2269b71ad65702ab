/**
 * Pruning and defaulting by a structural schema: drops unknown fields, drops null where it is not allowed, sets defaults.
 * Each function is compiled once per schema and skips the parts of an object where it has nothing to do.
 */
import { printExactJson } from "../../../api/mod.ts";
import { type Draft, draftOf, type DraftValue, isDraft, type Json, put, read, StatusError } from "../../model/mod.ts";
import { readSchema, type SchemaProps, valueSchema } from "../../../cel/mod.ts";

const metaFields = new Set(["apiVersion", "kind", "metadata"]);

/** Prunes an object in place. @returns the sorted paths of dropped fields */
export type Pruner = (object: Draft) => readonly string[];

/** @param isRoot true for a resource: its apiVersion, kind and metadata are never dropped */
export function compilePruner(schema: SchemaProps, isRoot = true): Pruner {
  const prune = pruneNode(isRoot ? { ...schema, isEmbeddedResource: true } : schema);
  return (object) => {
    const dropped = new DroppedPaths();
    prune(object, "", dropped);
    return dropped.sorted();
  };
}

/** Characters of the paths that are reported. Each path has the keys of all its parents. */
const maxPathCharacters = 256 * 1024;

/** The paths of dropped fields, as many as fit. */
class DroppedPaths {
  readonly #paths: string[] = [];
  #left = maxPathCharacters;

  add(path: string): void {
    this.#left -= path.length;
    if (this.#left >= 0 || this.#paths.length === 0) this.#paths.push(path);
  }

  sorted(): readonly string[] {
    return this.#paths.sort();
  }
}

type Prune = (value: DraftValue, path: string, dropped: DroppedPaths) => void;

const dropAll: Prune = (value, path, dropped) => {
  if (Array.isArray(value)) value.forEach((item, index) => dropAll(item, `${path}[${index}]`, dropped));
  else if (isDraft(value)) {
    for (const key of Object.keys(value)) drop(value, key, path, dropped);
  }
};

function drop(object: Draft, key: string, path: string, dropped: DroppedPaths): void {
  dropped.add(path === "" ? key : `${path}.${key}`);
  delete object[key];
}

function pruneNode(schema: SchemaProps | undefined): Prune {
  if (schema === undefined) return dropAll;
  const keepsUnknown = schema.preservesUnknownFields === true;
  const { isEmbeddedResource } = schema;
  // On first use: a default, which needs its own function, has few of the fields of a large schema.
  const parts = once(() => ({
    items: keepsUnknown ? keptItems(schema) : pruneNode(schema.items),
    fields: new Map(Array.from(schema.properties, ([name, property]) => [name, pruneNode(property)])),
    values: schema.additionalProperties === undefined ? undefined : pruneNode(valueSchema(schema)),
  }));
  return (value, path, dropped) => {
    if (typeof value !== "object" || value === null) return;
    const { items, fields, values } = parts();
    if (Array.isArray(value)) {
      for (let index = 0; index < value.length; index++) items(value[index] ?? null, `${path}[${index}]`, dropped);
      return;
    }
    for (const key of Object.keys(value)) {
      if (isEmbeddedResource && metaFields.has(key)) continue;
      const prune = fields.get(key) ?? values;
      if (prune !== undefined) prune(value[key] ?? null, path === "" ? key : `${path}.${key}`, dropped);
      else if (keepsUnknown) continue;
      else if (path === "" && metaFields.has(key)) delete value[key];
      else drop(value, key, path, dropped);
    }
  };
}

function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
}

/** Items of a list that preserves unknown fields preserve them too. */
function keptItems(schema: SchemaProps): Prune {
  return schema.items === undefined ? () => {} : pruneNode({ ...schema.items, preservesUnknownFields: true });
}

/** Drops nulls that are not allowed and that no default replaces. */
export function compileNullPruner(schema: SchemaProps): (object: Draft) => void {
  const prune = pruneNulls(schema);
  return (object) => prune?.(object);
}

type Change = (value: DraftValue) => void;

function pruneNulls(schema: SchemaProps): Change | undefined {
  const items = schema.items === undefined ? undefined : pruneNulls(schema.items);
  const fields = new Map(
    Array.from(
      schema.properties,
      ([name, property]) => [name, { isDropped: dropsNull(property), inside: pruneNulls(property) }],
    ),
  );
  const additional = valueSchema(schema);
  const values = additional && { isDropped: dropsNull(additional), inside: pruneNulls(additional) };
  if (items === undefined && values === undefined && fields.size === 0) return undefined;
  return (value) => {
    if (typeof value !== "object" || value === null) return;
    if (Array.isArray(value)) {
      if (items !== undefined) { for (const item of value) items(item); }
      return;
    }
    for (const key of Object.keys(value)) {
      const field = fields.get(key) ?? values;
      if (field === undefined) continue;
      const inside = value[key] ?? null;
      if (inside === null && field.isDropped) delete value[key];
      else field.inside?.(inside);
    }
  };
}

function dropsNull(schema: SchemaProps): boolean {
  return !schema.nullable && schema.default === undefined;
}

/**
 * The most characters of JSON that defaults add to an object, as many as a request may have. A list of 100,000 empty items
 * may get each a default of 1 MB.
 */
const maxDefaultCharacters = 3 * 1024 * 1024;

/** Sets defaults in place; it throws a StatusError 413 when they are too large. */
export function compileDefaulter(schema: SchemaProps): ((object: Draft) => void) | undefined {
  const setDefaults = defaultNode(schema);
  if (setDefaults === undefined) return undefined;
  return (object) => setDefaults(object, new DefaultBudget());
}

class DefaultBudget {
  #left = maxDefaultCharacters;

  /** @throws StatusError */
  spend(characters: number): void {
    this.#left -= characters;
    if (this.#left >= 0) return;
    const message =
      `Request entity too large: the defaults of the object have more than ${maxDefaultCharacters} characters`;
    throw new StatusError(413, "RequestEntityTooLarge", message);
  }
}

/** Sets the defaults inside a value. */
type SetDefaults = (value: DraftValue, budget: DefaultBudget) => void;

interface Default {
  readonly name: string;
  readonly value: Json;
  readonly nullable: boolean;
  readonly characters: number;
}

function charactersOf(value: Json): number {
  return printExactJson(value).length;
}

function defaultNode(schema: SchemaProps): SetDefaults | undefined {
  const defaults: Default[] = [];
  const fields = new Map<string, SetDefaults>();
  for (const [name, property] of schema.properties) {
    const { default: value, nullable } = property;
    if (value !== undefined) defaults.push({ name, value, nullable, characters: name.length + charactersOf(value) });
    const inside = defaultNode(property);
    if (inside !== undefined) fields.set(name, inside);
  }
  const additional = valueSchema(schema);
  const values = additional && defaultsInside(additional);
  const items = schema.items && defaultsInside(schema.items);
  if (defaults.length === 0 && fields.size === 0 && values === undefined && items === undefined) return undefined;
  const known = schema.properties;
  return (value, budget) => {
    if (typeof value !== "object" || value === null) return;
    if (Array.isArray(value)) {
      if (items !== undefined) { for (let index = 0; index < value.length; index++) items.fill(value, index, budget); }
      return;
    }
    for (const { name, value: fallback, nullable, characters } of defaults) {
      const found = read(value, name);
      if (found !== undefined && (found !== null || nullable)) continue;
      budget.spend(characters);
      put(value, name, draftOf(fallback));
    }
    for (const [name, inside] of fields) {
      const found = read(value, name);
      if (found !== undefined) inside(found, budget);
    }
    if (values === undefined) return;
    for (const key of Object.keys(value)) if (!known.has(key)) values.fill(value, key, budget);
  };
}

interface Filler {
  fill(container: DraftValue[] | Draft, key: number | string, budget: DefaultBudget): void;
}

/** Sets the defaults of list items and map values. A null is replaced by the default of its schema. */
function defaultsInside(schema: SchemaProps): Filler | undefined {
  const inside = defaultNode(schema);
  const { nullable, default: fallback } = schema;
  if (inside === undefined && fallback === undefined) return undefined;
  const characters = fallback === undefined ? 0 : charactersOf(fallback);
  const filled = (found: DraftValue, budget: DefaultBudget): DraftValue => {
    const isFilled = found === null && !nullable && fallback !== undefined;
    if (isFilled) budget.spend(characters);
    const value = isFilled ? draftOf(fallback) : found;
    inside?.(value, budget);
    return value;
  };
  return {
    fill: (container, key, budget) => {
      if (Array.isArray(container)) container[Number(key)] = filled(container[Number(key)] ?? null, budget);
      else put(container, String(key), filled(read(container, String(key)) ?? null, budget));
    },
  };
}

/** A schema whose defaults have no unknown fields. */
export function withPrunedDefaults(schema: SchemaProps): SchemaProps {
  const additional = schema.additionalProperties;
  const properties = new Map(Array.from(schema.properties, ([name, props]) => [name, withPrunedDefaults(props)]));
  return {
    ...schema,
    default: schema.default === undefined ? undefined : prunedDefault(schema.default, schema),
    properties,
    items: schema.items && withPrunedDefaults(schema.items),
    additionalProperties: typeof additional === "object" ? withPrunedDefaults(additional) : additional,
  };
}

/** A default without its unknown fields. */
export function prunedDefault(value: Json, schema: SchemaProps): Json {
  if (typeof value !== "object" || value === null) return value;
  const draft: DraftValue = draftOf(value);
  // The pruner takes objects only, so a list is pruned as a field of one.
  const holder: Draft = isDraft(draft) ? draft : { value: draft };
  if (isDraft(draft)) compilePruner(schema, false)(holder);
  else compilePruner(schemaWithValue(schema), false)(holder);
  return draft;
}

function schemaWithValue(schema: SchemaProps): SchemaProps {
  return { ...readSchema({ type: "object" }), properties: new Map([["value", schema]]) };
}
