/**
 * SimpleSchema: the short form of a schema, in which a field is a line: `replicas: integer | default=2 minimum=1`. It becomes a
 * zod schema, so that defineResource() makes the definition and the validation of the kind, as for a kind in TypeScript.
 *
 * Types are string, integer, float, number, boolean, object, `[]T`, `map[string]T`, nested objects, and the names of `types`.
 * The syntax is that of kro's ResourceGraphDefinition. A field is optional unless it is `required=true`; an object without
 * required fields and with a default inside has the default `{}`.
 */
import { isJsonObject, type Json, type JsonObject } from "../cel/mod.ts";
import { boundedParse, immutable, integer, z } from "../schema/mod.ts";
import { GraphError, partOf, type Place } from "./graph_error.ts";
import { type Marker, markersOf } from "./markers.ts";

/** A field: its schema without optionality, and whether a value is needed. */
interface Field {
  readonly schema: z.ZodType;
  readonly isRequired: boolean;
  readonly hasDefault: boolean;
}

/** The types that a schema names, and those whose fields are being read. */
interface Types {
  readonly declared: JsonObject;
  readonly place: Place;
  readonly open: readonly string[];
}

/**
 * The zod schema of an object of fields.
 *
 * @param fields The fields in SimpleSchema.
 * @param types The named types, and their place.
 * @throws GraphError with the line of the field
 */
export function simpleSchema(
  fields: JsonObject,
  place: Place,
  types: { readonly declared: JsonObject; readonly place: Place },
): z.ZodType {
  return objectField(fields, place, { ...types, open: [] }).schema;
}

function objectField(fields: JsonObject, place: Place, types: Types): Field {
  const read = Object.entries(fields).map(([name, value]): readonly [string, Field] => [
    name,
    fieldOf(value, partOf(place, name), types),
  ]);
  const shape = Object.fromEntries(
    read.map(([name, { schema, isRequired, hasDefault }]) =>
      [name, isRequired || hasDefault ? schema : schema.optional()] as const
    ),
  );
  const schema = z.object(shape);
  const needsNothing = !read.some(([, field]) => field.isRequired) && read.some(([, field]) => field.hasDefault);
  return { schema: needsNothing ? schema.prefault({}) : schema, isRequired: false, hasDefault: needsNothing };
}

function fieldOf(value: Json, place: Place, types: Types): Field {
  if (isJsonObject(value)) return objectField(value, place, types);
  if (typeof value !== "string") {
    throw new GraphError(place, "a field is a type such as string, or an object of fields");
  }
  const bar = value.indexOf("|");
  const type = (bar < 0 ? value : value.slice(0, bar)).trim();
  const markers = bar < 0 ? [] : markersOf(value.slice(bar + 1), place);
  return withMarkers(typeOf(type, place, types), { type, markers, place });
}

/** The field of a type without markers. */
function typeOf(type: string, place: Place, types: Types): Field {
  if (type.startsWith("[]")) return plain(z.array(typeOf(type.slice(2), place, types).schema));
  const map = /^map\[string\](.+)$/.exec(type)?.[1];
  if (map !== undefined) return plain(z.record(z.string(), typeOf(map, place, types).schema));
  switch (type) {
    case "string":
      return plain(z.string());
    case "integer":
      return plain(integer());
    case "float":
    case "number":
      return plain(z.number());
    case "boolean":
      return plain(z.boolean());
    case "object":
      return plain(z.looseObject({}));
    default:
      return declaredType(type, place, types);
  }
}

function declaredType(type: string, place: Place, types: Types): Field {
  const value = Object.hasOwn(types.declared, type) ? types.declared[type] : undefined;
  if (value === undefined) {
    const names = [
      "string",
      "integer",
      "float",
      "boolean",
      "object",
      "[]T",
      "map[string]T",
      ...Object.keys(types.declared),
    ];
    throw new GraphError(place, `the type "${type}" is unknown. Use one of ${names.join(", ")}`);
  }
  if (types.open.includes(type)) {
    throw new GraphError(place, `the type contains itself: ${[...types.open, type].join(" -> ")}. Break the circle`);
  }
  return fieldOf(value, partOf(types.place, type), { ...types, open: [...types.open, type] });
}

function plain(schema: z.ZodType): Field {
  return { schema, isRequired: false, hasDefault: false };
}

interface Marked {
  readonly type: string;
  readonly markers: readonly Marker[];
  readonly place: Place;
}

/** Applies the markers: bounds first, then what surrounds the schema. */
function withMarkers(field: Field, { type, markers, place }: Marked): Field {
  const valueOf = (name: string) => markers.find((marker) => marker.name === name)?.value;
  let schema = bounded(field.schema, { type, markers, place });
  const rule = valueOf("validation");
  if (rule !== undefined) schema = schema.meta({ cel: [{ rule }] });
  const description = valueOf("description");
  if (description !== undefined) schema = schema.meta({ ...schema.meta(), description });
  if (valueOf("immutable") === "true") schema = immutable(schema);
  const given = valueOf("default");
  if (given === undefined) return { ...field, schema, isRequired: field.isRequired || valueOf("required") === "true" };
  const value = literalOf(given, type, place);
  const parsed = boundedParse(schema, value);
  if (parsed.kind === "invalid") {
    throw new GraphError(place, `the default ${given} is not valid: ${parsed.issues[0]?.message}`);
  }
  return { schema: schema.prefault(value), isRequired: false, hasDefault: true };
}

/** The schema with the bounds of the markers. */
function bounded(schema: z.ZodType, { type, markers, place }: Marked): z.ZodType {
  const bounds = Object.fromEntries(markers.map(({ name, value }) => [name, value]));
  const numberAt = (name: string) => bounds[name] === undefined ? undefined : numberOf(bounds[name], name, place);
  const [min, max] = [numberAt("minimum"), numberAt("maximum")];
  if (bounds.enum !== undefined) return enumOf(bounds.enum, type, place);
  if (type === "integer") return integer({ min, max });
  if (schema instanceof z.ZodNumber) {
    const above = min === undefined ? schema : schema.min(min);
    return max === undefined ? above : above.max(max);
  }
  if (schema instanceof z.ZodString) {
    const checks = [
      ...lengthChecks(numberAt("minLength"), numberAt("maxLength")),
      ...(bounds.pattern === undefined ? [] : [z.regex(patternOf(bounds.pattern, place))]),
    ];
    return checks.length === 0 ? schema : schema.check(...checks);
  }
  if (schema instanceof z.ZodArray) {
    const checks = lengthChecks(numberAt("minItems"), numberAt("maxItems"));
    const list = checks.length === 0 ? schema : schema.check(...checks);
    return bounds.uniqueItems === "true" ? list.meta({ "x-kubernetes-list-type": "set" }) : list;
  }
  return schema;
}

function lengthChecks(min: number | undefined, max: number | undefined) {
  return [...(min === undefined ? [] : [z.minLength(min)]), ...(max === undefined ? [] : [z.maxLength(max)])];
}

function enumOf(text: string, type: string, place: Place): z.ZodType {
  const values = text.split(",").map((value) => value.trim());
  if (type === "string") return z.enum(values);
  if (type === "integer") return z.literal(values.map((value) => numberOf(value, "enum", place)));
  throw new GraphError(place, `an enum of the type ${type} is not supported. Use string or integer`);
}

function patternOf(text: string, place: Place): RegExp {
  try {
    return new RegExp(text);
  } catch (cause) {
    throw new GraphError(place, `the pattern is no regular expression. Correct it`, { cause });
  }
}

function numberOf(text: string, name: string, place: Place): number {
  const value = Number(text);
  if (text.trim() !== "" && Number.isFinite(value)) return value;
  throw new GraphError(place, `${name} is "${text}", which is no number`);
}

/** The value of a default, in the syntax of its type. */
function literalOf(text: string, type: string, place: Place): unknown {
  if (type === "string") return text;
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new GraphError(place, `the default ${text} is no ${type} in JSON. Write it as JSON`, { cause });
  }
}
