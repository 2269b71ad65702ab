/**
 * arbitraryObject(): random objects that the API server accepts, made from the schema of a version. fast-check chooses the
 * values and makes a failing object smaller.
 *
 * Guarantees: every object is valid and has its defaults, as a stored object does; the server's own validation decides.
 * Caveats: a rule, or a pattern that JavaScript cannot read, that random values cannot satisfy is an error which names the
 * field; the test then gives values for it.
 */
import { parseExactJson, printExactJson } from "../api/mod.ts";
import fc from "fast-check";
import { type VersionSchema, versionSchemaOf } from "../apiserver/mod.ts";
import type { Json, StructuralSchema } from "../schema/mod.ts";
import { toBase64 } from "../runtime/mod.ts";

/** A JSON object. */
export type JsonObject = { readonly [key: string]: Json };

/** What an object is made from. */
export interface ArbitraryOptions {
  readonly apiVersion: string;
  readonly kind: string;
  readonly isNamespaced: boolean;
  /** openAPIV3Schema of the version. */
  readonly schema: StructuralSchema;
  /** Values of fields, by path. An item of a list is `[]`, a value of a map `.*`. */
  readonly values: Readonly<Record<string, readonly Json[]>>;
}

/** Rejected values in a row after which no valid one is expected. */
const maxRejected = 2_000;
/** Items, keys and characters beyond the fewest that are allowed: large values find no other errors. */
const maxExtra = 4, maxExtraCharacters = 12;

/** Creates the source of objects. @throws TypeError when a pattern needs values from the test */
export function arbitraryObject(options: ArbitraryOptions): fc.Arbitrary<JsonObject> {
  const { apiVersion, kind, isNamespaced, schema, values } = options;
  const source = new ValueSource(values);
  const { apiVersion: _version, kind: _kind, metadata: _metadata, ...others } = schema.properties ?? {};
  const fields = fc.record<Record<string, Json>, string>({
    apiVersion: fc.constant(apiVersion),
    kind: fc.constant(kind),
    metadata: metadataOf(isNamespaced),
    ...Object.fromEntries(Object.entries(others).map(([name, field]) => [name, source.of(field, name)])),
  }, {
    requiredKeys: [
      ...["apiVersion", "kind", "metadata"],
      ...(schema.required ?? []).filter((name) => Object.hasOwn(others, name)),
    ],
  });
  const server = versionSchemaOf(jsonOf(schema));
  const shown = fields.map((object) => server.normalized(plain(object)));
  return accepted(shown, server, { kind, path: "" });
}

function metadataOf(isNamespaced: boolean): fc.Arbitrary<Json> {
  const texts = fc.dictionary(fc.stringMatching(/^example\.dev\/[a-z]{1,4}$/), fc.stringMatching(/^[a-z0-9]{0,6}$/), {
    maxKeys: 2,
  });
  return fc.record({
    name: fc.stringMatching(/^[a-z][a-z0-9]{0,7}$/),
    uid: fc.uuid(),
    ...(isNamespaced ? { namespace: fc.constant("default") } : {}),
    labels: texts,
    annotations: texts,
  }, { requiredKeys: ["name", "uid", ...(isNamespaced ? ["namespace" as const] : [])] });
}

/** Lets only those values through that the server accepts. */
function accepted<T extends JsonObject>(
  values: fc.Arbitrary<T>,
  server: VersionSchema,
  { kind, path }: { readonly kind: string; readonly path: string },
): fc.Arbitrary<T> {
  let rejected = 0;
  return values.filter((value) => {
    const [problem] = server.problems(value);
    if (problem === undefined) {
      rejected = 0;
      return true;
    }
    if (++rejected < maxRejected) return false;
    throw noValueError(path === "" ? kind : path, `random values are rejected: ${problem}`);
  });
}

function noValueError(what: string, state: string): TypeError {
  return new TypeError(
    `Cannot make random objects: ${what}: ${state}. Give some with values: { "spec.field": [...] }`,
  );
}

/** Makes values from schemas. */
class ValueSource {
  readonly #values: ArbitraryOptions["values"];

  constructor(values: ArbitraryOptions["values"]) {
    this.#values = values;
  }

  /** Values that fit `schema`. @param path for messages and given values */
  of(schema: StructuralSchema, path: string): fc.Arbitrary<Json> {
    const given = Object.hasOwn(this.#values, path) ? this.#values[path] : undefined;
    if (given !== undefined) return fc.constantFrom(...given);
    const members = schema.enum ?? membersInRules(schema);
    const plainValues = members === undefined ? this.#typed(schema, path) : fc.constantFrom(...members);
    const values = hasOwnChecks(schema) ? this.#checked(plainValues, schema, path) : plainValues;
    return schema.nullable === true ? fc.option(values, { nil: null, freq: 4 }) : values;
  }

  /** Rules and formats are checked where they stand, so that one of them does not reject whole objects. */
  #checked(values: fc.Arbitrary<Json>, schema: StructuralSchema, path: string): fc.Arbitrary<Json> {
    const { default: _, ...rest } = schema;
    const server = versionSchemaOf(jsonOf({ type: "object", properties: { value: rest } }));
    return accepted(values.map((value) => ({ value })), server, { kind: "", path }).map(({ value }) => value);
  }

  #typed(schema: StructuralSchema, path: string): fc.Arbitrary<Json> {
    if (schema["x-kubernetes-int-or-string"] === true) return fc.oneof(integers(schema), this.#strings(schema, path));
    switch (schema.type) {
      case "object":
        return this.#objects(schema, path);
      case "array":
        return this.#lists(schema, path);
      case "string":
        return this.#strings(schema, path);
      case "integer":
        return isUnbounded64(schema)
          ? fc.oneof({ weight: 3, arbitrary: integers(schema) }, largeIntegers)
          : integers(schema);
      case "number":
        return numbers(schema);
      case "boolean":
        return fc.boolean();
      case undefined:
        return fc.constantFrom<Json>("text", 1, true, ["item"], { field: "text" });
      default:
        return schema.type satisfies never;
    }
  }

  #objects(schema: StructuralSchema, path: string): fc.Arbitrary<Json> {
    if (schema["x-kubernetes-embedded-resource"] === true) {
      return fc.constant({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "embedded" } });
    }
    const { properties, required = [], additionalProperties, minProperties = 0, maxProperties = Infinity } = schema;
    if (properties !== undefined) {
      const fields = Object.entries(properties).map(([name, field]) => [name, this.of(field, `${path}.${name}`)]);
      return fc.record<Record<string, Json>, string>(Object.fromEntries(fields), { requiredKeys: [...required] })
        .map(plain);
    }
    if (typeof additionalProperties !== "object") return fc.constant({});
    const maxKeys = Math.min(maxProperties, minProperties + maxExtra);
    const keys = fc.stringMatching(/^[a-z]{1,6}$/);
    return fc.dictionary(keys, this.of(additionalProperties, `${path}.*`), { minKeys: minProperties, maxKeys })
      .map(plain);
  }

  #lists(schema: StructuralSchema, path: string): fc.Arbitrary<Json> {
    const { items = {}, minItems: minLength = 0, maxItems = Infinity } = schema;
    const item = this.of(items, `${path}[]`);
    const lengths = { minLength, maxLength: Math.min(maxItems, minLength + maxExtra) };
    const keys = schema["x-kubernetes-list-map-keys"] ?? [];
    switch (schema["x-kubernetes-list-type"]) {
      case "set":
        return fc.uniqueArray(item, { ...lengths, selector: (value) => printExactJson(value) });
      case "map":
        return fc.uniqueArray(item, { ...lengths, selector: (value) => keysText(value, keys) });
      default:
        return fc.array(item, lengths);
    }
  }

  #strings(schema: StructuralSchema, path: string): fc.Arbitrary<string> {
    const { pattern, format, minLength = 0, maxLength = Infinity } = schema;
    if (pattern !== undefined) return matching(pattern, path);
    const formatted = format === undefined ? undefined : formats[format];
    if (formatted !== undefined) return formatted;
    const lengths = { minLength, maxLength: Math.min(maxLength, minLength + maxExtraCharacters) };
    return fc.oneof({ weight: 3, arbitrary: fc.string(lengths) }, fc.string({ ...lengths, unit: "binary" }));
  }
}

/** Whether the structure alone does not make a value valid. */
function hasOwnChecks(schema: StructuralSchema): boolean {
  const { type, minProperties, maxProperties, allOf, anyOf, oneOf, not } = schema;
  return schema["x-kubernetes-validations"] !== undefined || type === "string" || allOf !== undefined ||
    anyOf !== undefined || oneOf !== undefined || not !== undefined || minProperties !== undefined ||
    maxProperties !== undefined;
}

/** The members of a nullable enum, which defineResource() writes as a rule. */
function membersInRules(schema: StructuralSchema): readonly Json[] | undefined {
  for (const { rule } of schema["x-kubernetes-validations"] ?? []) {
    const [, list] = /^self in \[(.*)\]$/s.exec(rule) ?? [];
    if (list === undefined) continue;
    const literals = list.match(/'(?:[^'\\]|\\.)*'|[^\s,']+/g) ?? [];
    if (literals.some((literal) => !/^('|-?\d|true$|false$)/.test(literal))) return undefined; // not a list of literals
    return literals.map((literal) => JSON.parse(literal.startsWith("'") ? jsonText(literal.slice(1, -1)) : literal));
  }
  return undefined;
}

/** The text inside of a CEL literal as a JSON string. */
function jsonText(text: string): string {
  return `"${text.replaceAll("\\'", "'").replaceAll('"', '\\"')}"`;
}

function matching(pattern: string, path: string): fc.Arbitrary<string> {
  try {
    return fc.stringMatching(new RegExp(pattern, "u"), { size: "small" });
  } catch (error) {
    throw noValueError(
      path,
      `its pattern ${pattern} cannot be read: ${error instanceof Error ? error.message : error}`,
    );
  }
}

/** As text, so that years have four digits. */
const instants = fc.date({
  min: new Date("2000-01-01T00:00:00Z"),
  max: new Date("2100-01-01T00:00:00Z"),
  noInvalidDate: true,
});

/** The formats that the API server checks. */
const formats: Readonly<Record<string, fc.Arbitrary<string>>> = {
  "date-time": instants.map((date) => `${date.toISOString().slice(0, 19)}Z`),
  datetime: instants.map((date) => `${date.toISOString().slice(0, 19)}Z`),
  date: instants.map((date) => date.toISOString().slice(0, 10)),
  duration: fc.integer({ min: 0, max: 86_400 }).map((seconds) => `${seconds}s`),
  byte: fc.uint8Array({ maxLength: 9 }).map((bytes) => toBase64(new Uint8Array(bytes))),
  uuid: fc.uuid(),
  uuid4: fc.uuid({ version: 4 }),
  ipv4: fc.ipV4(),
  ipv6: fc.ipV6(),
  cidr: fc.ipV4().map((address) => `${address}/16`),
  mac: fc.array(fc.integer({ min: 0, max: 255 }), { minLength: 6, maxLength: 6 })
    .map((bytes) => bytes.map((byte) => byte.toString(16).padStart(2, "0")).join(":")),
  hostname: fc.domain(),
  email: fc.emailAddress(),
  uri: fc.webUrl(),
};

/** True for a field that can have an integer which only a bigint represents. */
function isUnbounded64({ format, minimum, maximum, multipleOf }: StructuralSchema): boolean {
  return format === "int64" && minimum === undefined && maximum === undefined && multipleOf === undefined;
}

/** Integers of 64 bits beyond the numbers of JavaScript. */
const largeIntegers = fc.bigInt({ min: 2n ** 53n + 1n, max: 2n ** 63n - 1n });

function integers(schema: StructuralSchema): fc.Arbitrary<number> {
  const { multipleOf = 1, format } = schema;
  const [least, most] = format === "int32"
    ? [-(2 ** 31), 2 ** 31 - 1]
    : [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER];
  const min = Math.max(least, (schema.minimum ?? least) + (schema.exclusiveMinimum === true ? 1 : 0));
  const max = Math.min(most, (schema.maximum ?? most) - (schema.exclusiveMaximum === true ? 1 : 0));
  return fc.integer({ min: Math.ceil(min / multipleOf), max: Math.floor(max / multipleOf) })
    .map((count) => count * multipleOf + 0);
}

function numbers(schema: StructuralSchema): fc.Arbitrary<number> {
  const { minimum: min = -1e9, maximum: max = 1e9, multipleOf } = schema;
  if (multipleOf !== undefined) {
    return fc.integer({ min: Math.ceil(min / multipleOf), max: Math.floor(max / multipleOf) })
      .map((count) => count * multipleOf + 0);
  }
  const { exclusiveMinimum: minExcluded = false, exclusiveMaximum: maxExcluded = false } = schema;
  return fc.double({ min, max, minExcluded, maxExcluded, noNaN: true }).map((value) => value + 0); // no -0 in JSON
}

function keysText(value: Json, keys: readonly string[]): string {
  const fields = new Map(Object.entries(typeof value === "object" && value !== null ? value : {}));
  return printExactJson(keys.map((key) => fields.get(key) ?? null));
}

/** The value as JSON: fast-check makes objects without a prototype. */
function plain<T extends object>(value: T): JsonObject {
  return parseExactJson(printExactJson(value)) as JsonObject;
}

function jsonOf(schema: StructuralSchema): JsonObject {
  return parseExactJson(printExactJson(schema)) as JsonObject;
}
