/**
 * OwnFields: lets a kind have fields with the names of members of Object, such as `constructor` and `toString`. zod reads a
 * field as `input[name]`, so it would take the inherited member for the value of a field that is absent.
 *
 * Guarantees: zod sees objects without a prototype where the schema has such a name, and callers get ordinary ones. Kinds
 * without such a name are not copied. It goes as deep as the schema, however deep the value is.
 */
import type { Json, StructuralSchema } from "./structural_schema.ts";

/** The places of a schema at and below which objects have fields with inherited names. */
export interface OwnFields {
  readonly properties: ReadonlyMap<string, OwnFields>;
  /** Of the items of a list, or the values of a map. */
  readonly elements: OwnFields | undefined;
  readonly default: Json | undefined;
}

/** Returns the places of a schema; undefined when it has none, as nearly all schemas. */
export function ownFieldsOf(schema: StructuralSchema): OwnFields | undefined {
  const fields = Object.entries(schema.properties ?? {});
  const properties = new Map(fields.flatMap(([name, field]) => {
    const own = ownFieldsOf(field);
    return own === undefined ? [] : [[name, own] as const];
  }));
  const { items, additionalProperties = true } = schema;
  const element = items ?? (typeof additionalProperties === "boolean" ? undefined : additionalProperties);
  const elements = element === undefined ? undefined : ownFieldsOf(element);
  const hasPlace = fields.some(([name]) => name in Object.prototype) || properties.size > 0 || elements !== undefined;
  return hasPlace ? { properties, elements, default: schema.default } : undefined;
}

/**
 * The value for zod: without inherited fields, and with the defaults of these places, which zod would put in with a
 * prototype. The defaults are those of the API server.
 */
export function withoutPrototypes(value: unknown, own: OwnFields): unknown {
  const copied = copy(value, own, withoutPrototypes);
  if (typeof copied !== "object" || copied === null || Array.isArray(copied)) return copied;
  for (const [name, field] of own.properties) {
    if (field.default === undefined || Object.hasOwn(copied, name)) continue;
    Object.defineProperty(copied, name, { value: withoutPrototypes(field.default, field), enumerable: true });
  }
  return Object.setPrototypeOf(copied, null);
}

/** The value for callers: all objects are ordinary ones. */
export function withPrototypes(value: unknown, own: OwnFields): unknown {
  return copy(value, own, withPrototypes);
}

function copy(value: unknown, own: OwnFields, below: (value: unknown, own: OwnFields) => unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  const of = (held: unknown, place: OwnFields | undefined) => place === undefined ? held : below(held, place);
  if (Array.isArray(value)) return value.map((item) => of(item, own.elements));
  // fromEntries() defines properties, so that no setter runs.
  return Object.fromEntries(
    Object.entries(value).map(([name, held]) => [name, of(held, own.properties.get(name) ?? own.elements)]),
  );
}
