/**
 * Pruning and defaulting by a structural schema: drops unknown fields, drops null where it is not allowed, sets defaults.
 * Each function is compiled once per schema and skips the parts of an object where it has nothing to do.
 */
import { type Draft, draftOf, type DraftValue, isDraft, type Json, put, read } from "../../model/mod.ts";
import { readSchema, type SchemaProps, valueSchema } from "./schema_props.ts";

const metaFields = new Set(["apiVersion", "kind", "metadata"]);

/** Prunes an object in place. @returns the sorted paths of dropped fields */
export type Pruner = (object: Draft) => readonly string[];

/** @param isRoot true for a resource: its apiVersion, kind and metadata are never dropped */
export function compilePruner(schema: SchemaProps, isRoot = true): Pruner {
  const prune = pruneNode(isRoot ? { ...schema, isEmbeddedResource: true } : schema);
  return (object) => {
    const dropped: string[] = [];
    prune(object, "", dropped);
    return dropped.sort();
  };
}

type Prune = (value: DraftValue, path: string, dropped: string[]) => void;

const dropAll: Prune = (value, path, dropped) => {
  if (Array.isArray(value)) value.forEach((item, index) => dropAll(item, `${path}[${index}]`, dropped));
  else if (isDraft(value)) {
    for (const key of Object.keys(value)) drop(value, key, path, dropped);
  }
};

function drop(object: Draft, key: string, path: string, dropped: string[]): void {
  dropped.push(path === "" ? key : `${path}.${key}`);
  delete object[key];
}

function pruneNode(schema: SchemaProps | undefined): Prune {
  if (schema === undefined) return dropAll;
  const keepsUnknown = schema.preservesUnknownFields === true;
  const { isEmbeddedResource } = schema;
  const items = keepsUnknown ? keptItems(schema) : pruneNode(schema.items);
  const fields = new Map(Array.from(schema.properties, ([name, property]) => [name, pruneNode(property)]));
  const values = schema.additionalProperties === undefined ? undefined : pruneNode(valueSchema(schema));
  return (value, path, dropped) => {
    if (typeof value !== "object" || value === null) return;
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

/** Sets defaults in place. */
export function compileDefaulter(schema: SchemaProps): ((object: Draft) => void) | undefined {
  return defaultNode(schema);
}

interface Default {
  readonly name: string;
  readonly value: Json;
  readonly nullable: boolean;
}

function defaultNode(schema: SchemaProps): Change | undefined {
  const defaults: Default[] = [];
  const fields = new Map<string, Change>();
  for (const [name, property] of schema.properties) {
    if (property.default !== undefined) defaults.push({ name, value: property.default, nullable: property.nullable });
    const inside = defaultNode(property);
    if (inside !== undefined) fields.set(name, inside);
  }
  const additional = valueSchema(schema);
  const values = additional && defaultsInside(additional);
  const items = schema.items && defaultsInside(schema.items);
  if (defaults.length === 0 && fields.size === 0 && values === undefined && items === undefined) return undefined;
  const known = schema.properties;
  return (value) => {
    if (typeof value !== "object" || value === null) return;
    if (Array.isArray(value)) {
      if (items !== undefined) { for (let index = 0; index < value.length; index++) items.fill(value, index); }
      return;
    }
    for (const { name, value: fallback, nullable } of defaults) {
      const found = read(value, name);
      if (found === undefined || (found === null && !nullable)) put(value, name, draftOf(fallback));
    }
    for (const [name, inside] of fields) {
      const found = read(value, name);
      if (found !== undefined) inside(found);
    }
    if (values === undefined) return;
    for (const key of Object.keys(value)) if (!known.has(key)) values.fill(value, key);
  };
}

interface Filler {
  fill(container: DraftValue[] | Draft, key: number | string): void;
}

/** Sets the defaults of list items and map values. A null is replaced by the default of its schema. */
function defaultsInside(schema: SchemaProps): Filler | undefined {
  const inside = defaultNode(schema);
  const { nullable, default: fallback } = schema;
  if (inside === undefined && fallback === undefined) return undefined;
  const filled = (found: DraftValue): DraftValue => {
    const value = found === null && !nullable && fallback !== undefined ? draftOf(fallback) : found;
    inside?.(value);
    return value;
  };
  return {
    fill: (container, key) => {
      if (Array.isArray(container)) container[Number(key)] = filled(container[Number(key)] ?? null);
      else put(container, String(key), filled(read(container, String(key)) ?? null));
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
