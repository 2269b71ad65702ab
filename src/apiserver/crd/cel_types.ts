/**
 * The types that expressions see of a schema, with how large values can get and how little room they take: what the cost of
 * a rule is reckoned from. Sizes and limits are those of the real server.
 */
import {
  boolType,
  bytesType,
  type CelType,
  doubleType,
  durationType,
  dynType,
  intType,
  listOf,
  mapOf,
  type SizeAtPath,
  stringType,
  timestampType,
} from "../cel/mod.ts";
import { utf8Length } from "../model/mod.ts";
import { escapeName } from "./_cel_names.ts";
import { readSchema, type SchemaProps, valueSchema } from "./schema_props.ts";

/** A schema as expressions see it. */
export interface DeclaredType {
  readonly type: CelType;
  /** Bytes, items or entries at most. */
  readonly maxElements: number;
  /** Bytes of JSON at least. */
  readonly minSize: number;
  /** Of a list or map. */
  readonly element?: DeclaredType;
  /** Of an object, by the names that expressions use. */
  readonly fields?: ReadonlyMap<string, DeclaredType>;
}

/** Bytes of the largest request. */
export const maxRequestBytes = 3 * 1024 * 1024;

const textProps = readSchema({ type: "string" });
const metadataProps = readSchema({
  type: "object",
  properties: { name: { type: "string" }, generateName: { type: "string" } },
});

/** A schema with the fields that each resource has, as far as rules may see them. */
export function withResourceFields(schema: SchemaProps): SchemaProps {
  if (hasResourceFields(schema)) return schema;
  const properties = new Map(schema.properties);
  properties.set("kind", textProps).set("apiVersion", textProps).set("metadata", metadataProps);
  return { ...schema, properties };
}

function hasResourceFields({ properties }: SchemaProps): boolean {
  const metadata = properties.get("metadata");
  return properties.get("kind")?.type === "string" && properties.get("apiVersion")?.type === "string" &&
    metadata?.type === "object" && metadata.properties.get("name")?.type === "string" &&
    metadata.properties.get("generateName")?.type === "string";
}

/**
 * The type of a schema; undefined where expressions may not see it.
 *
 * @param isResource true for the schema of a resource, embedded ones too
 * @param name what messages call it where it is an object
 */
export function declaredTypeOf(schema: SchemaProps, isResource: boolean, name: string): DeclaredType | undefined {
  if (schema.isIntOrString) return { type: dynType, maxElements: textLimit(schema), minSize: 1 };
  const props = isResource ? withResourceFields(schema) : schema;
  switch (props.type) {
    case "array":
      return listType(props, name);
    case "object":
      return props.additionalProperties !== undefined && valueSchema(props) !== undefined
        ? mapType(props, name)
        : objectType(props, name);
    case "string":
      return textType(props);
    case "boolean":
      return { type: boolType, maxElements: 0, minSize: 4 };
    case "number":
      return { type: doubleType, maxElements: 0, minSize: 1 };
    case "integer":
      return { type: intType, maxElements: 0, minSize: 1 };
    default:
      return undefined;
  }
}

function listType(schema: SchemaProps, name: string): DeclaredType | undefined {
  if (schema.items === undefined) return undefined;
  const element = declaredTypeOf(schema.items, schema.items.isEmbeddedResource, `${name}.@idx`);
  if (element === undefined) return undefined;
  const most = Math.floor((maxRequestBytes - 2) / (element.minSize + 1));
  const maxElements = schema.maxItems === undefined ? most : Math.max(0, schema.maxItems);
  return { type: listOf(element.type), maxElements, minSize: 2, element };
}

function mapType(schema: SchemaProps, name: string): DeclaredType | undefined {
  const values = valueSchema(schema);
  const element = values && declaredTypeOf(values, values.isEmbeddedResource, `${name}.@elem`);
  if (element === undefined) return undefined;
  const most = Math.floor((maxRequestBytes - 2) / (element.minSize + 6));
  const maxElements = schema.maxProperties === undefined ? most : Math.max(0, schema.maxProperties);
  return { type: mapOf(stringType, element.type), maxElements, minSize: 2, element };
}

function objectType(schema: SchemaProps, name: string): DeclaredType {
  const fields = new Map<string, DeclaredType>();
  const types = new Map<string, CelType>();
  const required = new Set(schema.required);
  let minSize = 2;
  for (const [property, props] of schema.properties) {
    const escaped = escapeName(property);
    const field = declaredTypeOf(props, props.isEmbeddedResource, `${name}.${escaped ?? property}`);
    if (field === undefined) continue;
    if (escaped !== undefined) {
      fields.set(escaped, field);
      types.set(escaped, field.type);
    }
    if (required.has(property) && props.default === undefined) minSize += utf8Length(property) + field.minSize + 4;
  }
  return { type: { kind: "object", name, fields: types }, maxElements: 0, minSize, fields };
}

function textType(schema: SchemaProps): DeclaredType {
  const { maxLength } = schema;
  switch (schema.format) {
    case "byte": {
      const most = maxLength === undefined ? maxRequestBytes - 2 : Math.max(0, maxLength);
      return { type: bytesType, maxElements: most, minSize: 2 };
    }
    case "duration":
      return { type: durationType, maxElements: 32, minSize: 3 };
    case "date":
      return { type: timestampType, maxElements: 12, minSize: 12 };
    case "date-time":
      return { type: timestampType, maxElements: 32, minSize: 21 };
    default:
      return { type: stringType, maxElements: textLimit(schema), minSize: 2 };
  }
}

/** Bytes of a text at most: four for each character it may have. */
function textLimit(schema: SchemaProps): number {
  if (schema.maxLength !== undefined) return Math.max(0, schema.maxLength) * 4;
  if (schema.isIntOrString || schema.enum.length === 0) return maxRequestBytes - 2;
  return Math.max(0, ...schema.enum.map((value) => typeof value === "string" ? utf8Length(value) : 0));
}

/** How large the value at a path of an expression can get, `self` being of a type. */
export function sizesOf(root: DeclaredType): SizeAtPath {
  return (path) => {
    let current: DeclaredType | undefined = root;
    for (const step of path.slice(1)) {
      if (step === "@items" || step === "@values") current = current.element;
      else if (step === "@keys") {
        current = current.element === undefined || current.type.kind !== "map" ? undefined : keyType;
      } else current = current.fields?.get(step);
      if (current === undefined) return undefined;
    }
    return current.maxElements;
  };
}

/** Keys of maps: the real server knows no limit of theirs and reckons with none at all. */
const keyType: DeclaredType = { type: stringType, maxElements: 0, minSize: 2 };
