/**
 * Paths of fields. The JSON paths of a CustomResourceDefinition: `.spec.replicas`, in rules also `.labels['a b']`. The paths
 * of error messages: `spec.list[0].name`, `spec.labels[key]`, "" for the object itself.
 */
import { isJsonObject, type Json, type JsonObject, read } from "../model/mod.ts";
import { type SchemaProps, valueSchema } from "./schema_props.ts";
/** A path with the schema at its end, or an error. */
export type ParsedFieldPath =
  | { readonly kind: "path"; readonly path: string; readonly steps: readonly string[]; readonly schema: SchemaProps }
  | { readonly kind: "failed"; readonly message: string };

/** Parses a path that must lead to a field of the schema. */
export function parseFieldPath(text: string, root: SchemaProps, allowsBrackets = true): ParsedFieldPath {
  let [path, schema] = ["", root];
  const steps: string[] = [];
  const tokens = tokensOf(text);
  for (let index = 0; index < tokens.length; index++) {
    const token = tokens[index];
    if (token !== "." && token !== "[") return failed(`expected [ or . but got: ${token}`);
    if (token === "[" && !allowsBrackets) return failed("array notation is not allowed");
    const written = tokens[++index];
    if (written === undefined) return failed("unexpected end of JSON path");
    const name = token === "." ? written : unquoted(written);
    if (typeof name !== "string") return failed(name.message);
    const isProperty = schema.properties.size > 0;
    const next = isProperty ? schema.properties.get(name) : valueSchema(schema);
    if (next === undefined) return failed("does not refer to a valid field");
    path = isProperty ? fieldPath(path, name) : itemPath(path, name);
    schema = next;
    steps.push(name);
    if (token !== "[") continue;
    const close = tokens[++index];
    if (close === undefined) return failed("unexpected end of JSON path");
    if (close !== "]") return failed(`expected ] but got ${close}`);
  }
  return { kind: "path", path, steps, schema };
}

function failed(message: string): ParsedFieldPath {
  return { kind: "failed", message };
}

/** Splits a path into dots, brackets, quoted strings and names. */
function tokensOf(text: string): readonly string[] {
  return text.match(/'(?:[^'\\]|\\[^])*'|[.[\]]|[^.[\]']+|'[^]*$/g) ?? [];
}

const escapes: Readonly<Record<string, string>> = {
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  "'": "'",
  "\\": "\\",
};

function unquoted(token: string): string | { readonly message: string } {
  if (!/^'[^]*'$/.test(token) || token.length < 2) return { message: `expected single quoted string but got ${token}` };
  let wrong: string | undefined;
  const plain = token.slice(1, -1).replace(/\\([^])/g, (all, letter: string) => {
    const character = Object.hasOwn(escapes, letter) ? escapes[letter] : undefined;
    if (character === undefined) wrong = all;
    return character ?? "";
  });
  return wrong === undefined ? plain : { message: `invalid string literal: invalid escape char ${wrong}` };
}

/** The steps of a simple path: `.spec.replicas` is spec, replicas. */
export function stepsOf(path: string): readonly string[] {
  return path.replace(/^\./, "").split(".");
}

/** The value at the end of `steps`; undefined when it does not exist. */
export function valueAt(object: JsonObject, steps: readonly string[]): Json | undefined {
  let value: Json | undefined = object;
  for (const step of steps) {
    if (!isJsonObject(value)) return undefined;
    value = read(value, step);
  }
  return value;
}

/** The path of a field. */
export function fieldPath(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

/** The path of an item of a list or an entry of a map. */
export function itemPath(path: string, index: number | string): string {
  return `${path}[${index}]`;
}

/** A path for an error. The real server writes the path of the object itself as `<nil>`. */
export function shownPath(path: string): string {
  return path === "" ? "<nil>" : path;
}
