/**
 * Types between expressions and schemas: which type of an expression fits which field, the types of a kind's objects, and the
 * schema of a status field whose value is an expression.
 */
import {
  type CelType,
  declaredTypeOf,
  dynType,
  formatType,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  read,
  readSchema,
  type SchemaProps,
  unescapeName,
  valueSchema,
} from "../cel/mod.ts";
import { integer, z } from "../schema/mod.ts";

/** The schema of the objects of a kind, and their CEL type. */
export interface ObjectSchema {
  readonly props: SchemaProps;
  readonly type: CelType;
}

/** Reads the schema of the objects of a kind. @param name The name of the type in messages. */
export function objectSchema(json: JsonObject, name: string): ObjectSchema {
  const props = readSchema(withQuantities(json));
  return { props, type: declaredTypeOf(props, false, name)?.type ?? dynType };
}

/** Quantities are texts or numbers, which CEL knows as int-or-string. */
function withQuantities(schema: JsonObject): JsonObject {
  if (isJsonArray(read(schema, "oneOf")) && read(schema, "type") === undefined) {
    return { ...schema, "x-kubernetes-int-or-string": true };
  }
  const parts = ["items", "additionalProperties"].flatMap((key) => {
    const part = read(schema, key);
    return isJsonObject(part) ? [[key, withQuantities(part)] as const] : [];
  });
  const properties = read(schema, "properties");
  const fields = isJsonObject(properties) ? Object.entries(properties) : [];
  const normalized = fields.map(([name, field]) =>
    [name, isJsonObject(field) ? withQuantities(field) : field] as const
  );
  return {
    ...schema,
    ...Object.fromEntries(parts),
    ...(fields.length === 0 ? {} : { properties: Object.fromEntries(normalized) }),
  };
}

/** The schema of a property, of the values of a map, or undefined. */
export function propertyOf(props: SchemaProps, name: string): SchemaProps | undefined {
  return props.properties.get(name) ?? valueSchema(props);
}

/** True when the schema says nothing about what is inside. */
export function isOpen(props: SchemaProps): boolean {
  if (props.isIntOrString) return false;
  if (props.type === "") return true;
  return props.type === "object" && props.properties.size === 0 && valueSchema(props) === undefined;
}

/** Why a literal does not fit a field; undefined when it does. */
export function literalProblem(value: Json, props: SchemaProps): string | undefined {
  if (value === null || isOpen(props)) return undefined;
  const found = isJsonArray(value) ? "array" : isJsonObject(value) ? "object" : jsonTypeOf(value);
  if (props.isIntOrString) {
    return ["string", "integer", "number"].includes(found) ? undefined : wrong("string or number", found);
  }
  if (found === props.type || (found === "integer" && props.type === "number")) return undefined;
  return wrong(props.type, found);
}

function jsonTypeOf(value: Json): string {
  if (typeof value === "string" || typeof value === "boolean") return typeof value;
  return typeof value === "bigint" || Number.isInteger(value) ? "integer" : "number";
}

function wrong(expected: string, found: string): string {
  return `the field is of the type ${expected}, and the value is of the type ${found}`;
}

/** Why an expression of the type does not fit a field; undefined when it does. */
export function typeProblem(type: CelType, props: SchemaProps): string | undefined {
  if (fits(type, props)) return undefined;
  return `the field is of the type ${
    props.isIntOrString ? "string or integer" : props.type
  }, and the expression of the type ${formatType(type)}`;
}

/** The types of CEL whose values a field of a type of JSON can have. */
const scalars: Readonly<Record<string, readonly CelType["kind"][]>> = {
  string: ["string", "bytes", "timestamp", "duration"],
  integer: ["int", "uint"],
  number: ["double", "int", "uint"],
  boolean: ["bool"],
};

function fits(type: CelType, props: SchemaProps): boolean {
  if (type.kind === "dyn" || type.kind === "null" || isOpen(props)) return true;
  if (type.kind === "opaque") return type.of[0] !== undefined && fits(type.of[0], props);
  if (props.isIntOrString) return ["string", "int", "uint", "double"].includes(type.kind);
  if (props.type === "array") {
    return type.kind === "list" && (props.items === undefined || fits(type.item, props.items));
  }
  if (props.type !== "object") return scalars[props.type]?.includes(type.kind) ?? false;
  const fieldFits = (name: string, field: CelType) => {
    const inside = propertyOf(props, name);
    return inside === undefined ? props.preservesUnknownFields === true : fits(field, inside);
  };
  switch (type.kind) {
    case "object":
      return [...type.fields].every(([name, field]) => fieldFits(unescapeName(name) ?? name, field));
    case "map": {
      const inside = valueSchema(props);
      if (inside !== undefined) return fits(type.value, inside);
      return [...props.properties.values()].some((field) => fits(type.value, field));
    }
    default:
      return false;
  }
}

/** The schema of a field whose value is an expression of a type; undefined for a type that no field can have. */
export function zodOf(type: CelType): z.ZodType | undefined {
  switch (type.kind) {
    case "bool":
      return z.boolean();
    case "int":
    case "uint":
      return integer();
    case "double":
      return z.number();
    case "string":
    case "bytes":
    case "timestamp":
    case "duration":
      return z.string();
    case "list": {
      const item = zodOf(type.item);
      return item && z.array(item);
    }
    case "map": {
      const value = zodOf(type.value);
      return value && z.record(z.string(), value);
    }
    case "object":
      return zodOfFields(type.fields);
    case "opaque":
      return type.of[0] && zodOf(type.of[0]);
    case "dyn":
    case "null":
      return z.unknown();
    default:
      return undefined;
  }
}

function zodOfFields(fields: ReadonlyMap<string, CelType>): z.ZodType {
  const shape = new Map<string, z.ZodType>();
  for (const [name, type] of fields) {
    const schema = zodOf(type);
    if (schema !== undefined) shape.set(unescapeName(name) ?? name, schema.optional());
  }
  return shape.size === 0 ? z.looseObject({}) : z.object(Object.fromEntries(shape));
}
