/**
 * sampleObject(): a valid object of an imported kind, with the required fields only. The API server's own validation chooses
 * among likely values; when rules need more, random objects are tried.
 */
import { printExactJson } from "../../api/mod.ts";
import { type VersionSchema, versionSchemaOf } from "../../apiserver/mod.ts";
import type { Json, StructuralSchema } from "../../schema/mod.ts";
import type { ImportedKind } from "./imported_kind.ts";

/** A sample, and why the API server would reject it, if no valid one was found. */
export interface SampleObject {
  readonly object: { readonly [key: string]: Json };
  readonly problem: string | undefined;
}

/** Texts that patterns and formats of Kubernetes accept. */
const likelyTexts = [
  ...["example", "a", "Example", "1", "10s", "1m", "1Gi", "100m", "50%", "v1", "80", "true", "example.com"],
  ...["https://example.com", "example/example", "/example", "example.com/v1", "https://example.com/example"],
  ...["2030-01-01T00:00:00Z", "2030-01-01", "10.0.0.1", "10.0.0.0/16", "::1", "user@example.com", "*/5 * * * *"],
  ...["b3b2f6a4-0b0c-4c40-8f55-3d7e4d0bd0f1", "ZXhhbXBsZQ==", "example:example", "v1.30.0", "EXAMPLE", "*", ""],
] as const;

/** How deep required fields are followed; deeper ones are left out. */
const maxDepth = 40;

/** Makes a sample for the version that the controller works with. */
export function sampleObject({ crd, version }: ImportedKind): SampleObject {
  const { group, names, scope } = crd.spec;
  const root = version.schema.openAPIV3Schema;
  const { apiVersion: _version, kind: _kind, metadata: _metadata, status: _status, ...properties } = root.properties ??
    {};
  const written = Object.keys(properties).filter((name) => name === "spec" || root.required?.includes(name) === true);
  const fields = written.map((name) => [name, valueOf(properties[name] ?? {}, 0)] as const);
  const object = {
    apiVersion: `${group}/${version.name}`,
    kind: names.kind,
    metadata: { name: "hello", ...(scope === "Namespaced" ? { namespace: "default" } : {}) },
    ...Object.fromEntries(fields),
  };
  const server = versionSchemaOf(JSON.parse(printExactJson(root)));
  const [problem] = server.problems(server.normalized(JSON.parse(printExactJson(object))));
  return { object, problem };
}

function valueOf(schema: StructuralSchema, depth: number): Json {
  if (schema.default !== undefined) return schema.default;
  const isValid = checkerOf(schema);
  return candidatesOf(schema, depth).find(isValid) ?? candidatesOf(schema, depth)[0] ?? {};
}

/** Whether the API server accepts a value. */
function checkerOf(schema: StructuralSchema): (value: Json) => boolean {
  const server: VersionSchema = versionSchemaOf(
    JSON.parse(printExactJson({ type: "object", properties: { value: { ...schema, default: undefined } } })),
  );
  return (value) => {
    try {
      return server.problems(server.normalized(JSON.parse(printExactJson({ value })))).length === 0;
    } catch {
      return false;
    }
  };
}

function candidatesOf(schema: StructuralSchema, depth: number): readonly Json[] {
  if (schema.enum !== undefined) return schema.enum;
  if (schema["x-kubernetes-int-or-string"] === true) return [1, ...likelyTexts];
  switch (schema.type) {
    case "string":
      return textsFor(schema);
    case "integer":
    case "number":
      return numbersFor(schema);
    case "boolean":
      return [true, false];
    case "array":
      return depth > maxDepth ? [[]] : listsFor(schema, depth);
    case "object":
      return depth > maxDepth ? [{}] : objectsFor(schema, depth);
    case undefined:
      return [{}];
    default:
      return schema.type satisfies never;
  }
}

function textsFor({ minLength = 0, maxLength = Infinity }: StructuralSchema): readonly string[] {
  const padded = likelyTexts.flatMap((text) => text.length < minLength ? [text.padEnd(minLength, "a")] : []);
  return [...likelyTexts, ...padded].filter((text) => text.length >= minLength && text.length <= maxLength);
}

function numbersFor({ minimum, maximum, multipleOf = 1 }: StructuralSchema): readonly number[] {
  const near = [minimum, maximum].flatMap((bound) => bound === undefined ? [] : [bound, bound + 1, bound - 1]);
  return [1, 0, multipleOf, ...near, -1];
}

/** Lists of the fewest items, which differ by their text where they must. */
function listsFor({ items = {}, minItems = 0 }: StructuralSchema, depth: number): readonly Json[] {
  const item = valueOf(items, depth + 1);
  const texts = (items.enum ?? candidatesOf({ ...items }, depth + 1)).slice(0, minItems);
  return [Array.from({ length: minItems }, () => item), texts, [item]];
}

/** An object with the required fields; then with one more each, and then with all. */
function objectsFor(schema: StructuralSchema, depth: number): readonly Json[] {
  const { properties = {}, required = [], additionalProperties } = schema;
  if (typeof additionalProperties === "object") return [{}, { example: valueOf(additionalProperties, depth + 1) }];
  const withFields = (names: readonly string[]) =>
    Object.fromEntries(names.map((name) => [name, valueOf(properties[name] ?? {}, depth + 1)] as const));
  const needed = required.filter((name) => properties[name]?.default === undefined);
  const smallest = withFields(needed);
  if (checkerOf(schema)(smallest) || depth > 6) return [smallest];
  const others = Object.keys(properties).filter((name) => !needed.includes(name)).slice(0, 12);
  return [smallest, ...others.map((name) => ({ ...smallest, ...withFields([name]) })), {
    ...smallest,
    ...withFields(others),
  }];
}
