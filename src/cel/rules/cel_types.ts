/**
 * The CEL types of a schema, with upper bounds of sizes and lower bounds of JSON bytes, which the cost estimate of a rule
 * needs; and the escaping of property names in CEL (`foo-bar` is `foo__dash__bar`, `namespace` is `__namespace__`). Sizes and
 * limits are those of the real server.
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
} from "../language/mod.ts";
import { utf8Length } from "../model/mod.ts";
import { readSchema, type SchemaProps, valueSchema } from "../schema/mod.ts";

/** The CEL view of a schema. */
export interface DeclaredType {
  readonly type: CelType;
  /** Maximum number of bytes, items or entries. */
  readonly maxElements: number;
  /** Minimum number of bytes in JSON. */
  readonly minSize: number;
  /** Of a list or map. */
  readonly element?: DeclaredType;
  /** Of an object, by escaped names. */
  readonly fields?: ReadonlyMap<string, DeclaredType>;
}

/** Maximum size of a request in bytes. */
export const maxRequestBytes = 3 * 1024 * 1024;

const textProps = readSchema({ type: "string" });
const metadataProps = readSchema({
  type: "object",
  properties: { name: { type: "string" }, generateName: { type: "string" } },
});

/** The schema with the fields of every resource that rules can see. */
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
 * The CEL type of a schema; undefined when rules cannot see its values.
 *
 * @param isResource true for the schema of a resource or embedded resource
 * @param name the name of an object type in messages
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
  const limit = Math.floor((maxRequestBytes - 2) / (element.minSize + 1));
  const maxElements = schema.maxItems === undefined ? limit : Math.max(0, schema.maxItems);
  return { type: listOf(element.type), maxElements, minSize: 2, element };
}

function mapType(schema: SchemaProps, name: string): DeclaredType | undefined {
  const values = valueSchema(schema);
  const element = values && declaredTypeOf(values, values.isEmbeddedResource, `${name}.@elem`);
  if (element === undefined) return undefined;
  const limit = Math.floor((maxRequestBytes - 2) / (element.minSize + 6));
  const maxElements = schema.maxProperties === undefined ? limit : Math.max(0, schema.maxProperties);
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
    for (
      const known of escaped === undefined ? [] : new Set([escaped, ...(reserved.has(property) ? [property] : [])])
    ) {
      fields.set(known, field);
      types.set(known, field.type);
    }
    if (required.has(property) && props.default === undefined) minSize += utf8Length(property) + field.minSize + 4;
  }
  return { type: { kind: "object", name, fields: types }, maxElements: 0, minSize, fields };
}

function textType(schema: SchemaProps): DeclaredType {
  const { maxLength } = schema;
  switch (schema.format) {
    case "byte": {
      const maxElements = maxLength === undefined ? maxRequestBytes - 2 : Math.max(0, maxLength);
      return { type: bytesType, maxElements, minSize: 2 };
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

/** Maximum number of bytes of a string: four for each character. */
function textLimit(schema: SchemaProps): number {
  if (schema.maxLength !== undefined) return Math.max(0, schema.maxLength) * 4;
  if (schema.isIntOrString || schema.enum.length === 0) return maxRequestBytes - 2;
  return Math.max(0, ...schema.enum.map((value) => typeof value === "string" ? utf8Length(value) : 0));
}

/** Returns the maximum size of the value at a path of an expression, where `self` has the type `root`. */
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

/** The type of map keys. The real server assumes the size 0 for them. */
const keyType: DeclaredType = { type: stringType, maxElements: 0, minSize: 2 };

const reserved = new Set(
  ("true false null in as break const continue else for function if import let loop package namespace return var void " +
    "while").split(" "),
);

const escapes: ReadonlyMap<string, string> = new Map([
  ["__", "__underscores__"],
  [".", "__dot__"],
  ["-", "__dash__"],
  ["/", "__slash__"],
]);

const unescapes: ReadonlyMap<string, string> = new Map(
  Array.from(escapes, ([plain, escaped]) => [escaped, plain] as const),
);

/** The escaped name of a property in CEL; undefined when CEL cannot name it. */
export function escapeName(name: string): string | undefined {
  if (name === "" || /^[0-9]/.test(name) || /[^a-zA-Z0-9\-./_]/.test(name)) return undefined;
  if (reserved.has(name)) return `__${name}__`;
  return name.replace(/__|[-./]/g, (part) => escapes.get(part) ?? part);
}

/** The property of an escaped name; undefined for an unknown escape. */
export function unescapeName(name: string): string | undefined {
  if (!name.includes("__")) return name;
  let isWrong = false;
  const plain = name.replace(/__[^_]+__/g, (part) => {
    const known = unescapes.get(part);
    if (known !== undefined) return known;
    const word = part.slice(2, -2);
    if (!reserved.has(word) || part.length !== name.length) isWrong = true;
    return word;
  });
  return isWrong ? undefined : plain;
}
