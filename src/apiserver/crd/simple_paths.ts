/**
 * The JSON paths that a CustomResourceDefinition names fields with: `.spec.replicas`, and in rules `.labels['a b']`.
 */
import { isJsonObject, type Json, type JsonObject, read } from "../model/mod.ts";
import { type SchemaProps, valueSchema } from "./schema_props.ts";
import { at, child } from "./_field_paths.ts";

/** A path, with the schema at its end, or what is wrong with it. */
export type ParsedFieldPath =
  | { readonly kind: "path"; readonly path: string; readonly steps: readonly string[]; readonly schema: SchemaProps }
  | { readonly kind: "failed"; readonly message: string };

/** Reads a path that must lead to a field of the schema. */
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
    path = isProperty ? child(path, name) : at(path, name);
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

/** Dots, brackets, quoted texts, and what stands between. */
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

/** The value at some steps; undefined where there is none. */
export function valueAt(object: JsonObject, steps: readonly string[]): Json | undefined {
  let value: Json | undefined = object;
  for (const step of steps) {
    if (!isJsonObject(value)) return undefined;
    value = read(value, step);
  }
  return value;
}
