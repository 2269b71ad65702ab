/**
 * Reads the struct types of Go packages from their sources, for facts that OpenAPI omits (pointers, `omitempty`, the
 * names of string types). gofmt'd `types.go` files have one field per line and tags in back quotes.
 */
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

/** A Go type, with names resolved to packages. */
export type GoType =
  | { readonly kind: "named"; readonly path: string; readonly name: string }
  | { readonly kind: "list"; readonly items: GoType }
  | { readonly kind: "map"; readonly key: GoType; readonly values: GoType }
  | { readonly kind: "pointer"; readonly to: GoType };

/** One field with its JSON tag; an embedded struct has the name "". */
export interface GoField {
  readonly jsonName: string;
  readonly type: GoType;
  readonly isOmittedWhenEmpty: boolean;
  readonly isOmittedWhenZero: boolean;
}

/** A declared type: a struct, or another name for something. */
export type GoDeclaration =
  | { readonly kind: "struct"; readonly fields: readonly GoField[] }
  | { readonly kind: "alias"; readonly type: GoType };

/** The types of Go packages in a module cache, read on demand. */
export class GoTypes {
  readonly #directoryOf: (path: string) => string;
  readonly #packages = new Map<string, ReadonlyMap<string, GoDeclaration>>();

  /** @param directoryOf where the sources of an import path are */
  constructor(directoryOf: (path: string) => string) {
    this.#directoryOf = directoryOf;
  }

  /** The declaration of a type; undefined for a type of Go itself, or an unknown one. */
  find(path: string, name: string): GoDeclaration | undefined {
    if (path === "") return undefined;
    const known = this.#packages.get(path) ?? this.#read(path);
    this.#packages.set(path, known);
    return known.get(name);
  }

  #read(path: string): ReadonlyMap<string, GoDeclaration> {
    const directory = this.#directoryOf(path);
    const found = new Map<string, GoDeclaration>();
    const files = readdirSync(directory).filter((file) =>
      file.endsWith(".go") && !/_test\.go$|^generated|^zz_/.test(file)
    );
    for (const file of files) {
      for (const [name, declaration] of readFile(path, readFileSync(join(directory, file), "utf8"))) {
        found.set(name, declaration);
      }
    }
    return found;
  }
}

/** The name of a type in Go's package reflect: `[]v1.Container`. */
export function reflectName(type: GoType): string {
  switch (type.kind) {
    case "named":
      return type.path === "" ? builtinName(type.name) : `${packageName(type.path)}.${type.name}`;
    case "list":
      return `[]${reflectName(type.items)}`;
    case "map":
      return `map[${reflectName(type.key)}]${reflectName(type.values)}`;
    case "pointer":
      return `*${reflectName(type.to)}`;
    default:
      return type satisfies never;
  }
}

function builtinName(name: string): string {
  return name === "byte" ? "uint8" : name;
}

function packageName(path: string): string {
  return basename(path);
}

function readFile(path: string, source: string): Map<string, GoDeclaration> {
  const imports = importsOf(source);
  const found = new Map<string, GoDeclaration>();
  const text = source.replaceAll(/^\s*\/\/.*$/gm, "").replaceAll(/\/\*[\s\S]*?\*\//g, "");
  for (const [, name = "", body = ""] of text.matchAll(/^type (\w+) struct \{\n([\s\S]*?)^\}/gm)) {
    found.set(name, { kind: "struct", fields: fieldsOf(body, path, imports) });
  }
  for (const [, name = ""] of text.matchAll(/^type (\w+) struct ?\{\}/gm)) {
    found.set(name, { kind: "struct", fields: [] });
  }
  for (const [, name = "", of = ""] of text.matchAll(/^type (\w+) =? ?([\w.[\]*]+)\s*(?:\/\/.*)?$/gm)) {
    if (of !== "struct" && of !== "interface") found.set(name, { kind: "alias", type: typeOf(of, path, imports) });
  }
  return found;
}

function importsOf(source: string): ReadonlyMap<string, string> {
  const block = source.match(/^import \(([\s\S]*?)^\)/m)?.[1] ?? source.match(/^import (.*)$/m)?.[1] ?? "";
  const found = new Map<string, string>();
  for (const [, alias, path = ""] of block.matchAll(/^\s*(\w+)?\s*"([^"]+)"/gm)) {
    found.set(alias ?? basename(path), path);
  }
  return found;
}

function fieldsOf(body: string, path: string, imports: ReadonlyMap<string, string>): GoField[] {
  const fields: GoField[] = [];
  for (const line of body.split("\n")) {
    const match = line.match(/^\t(?:(\w+)\s+)?(\S+)\s+`json:"([^"]*)"/);
    if (match === null) continue;
    const [, , type = "", tag = ""] = match;
    const [jsonName = "", ...options] = tag.split(",");
    if (jsonName === "-") continue;
    fields.push({
      jsonName,
      type: typeOf(type, path, imports),
      isOmittedWhenEmpty: options.includes("omitempty"),
      isOmittedWhenZero: options.includes("omitzero"),
    });
  }
  return fields;
}

const builtins = new Set(["string", "bool", "int", "int32", "int64", "uint8", "byte", "float64", "uint64", "rune"]);

function typeOf(text: string, path: string, imports: ReadonlyMap<string, string>): GoType {
  const recurse = (rest: string) => typeOf(rest, path, imports);
  if (text.startsWith("*")) return { kind: "pointer", to: recurse(text.slice(1)) };
  if (text.startsWith("[]")) return { kind: "list", items: recurse(text.slice(2)) };
  const map = text.match(/^map\[([\w.]+)\](.+)$/);
  if (map !== null) return { kind: "map", key: recurse(map[1] ?? ""), values: recurse(map[2] ?? "") };
  const dot = text.indexOf(".");
  if (dot >= 0) return { kind: "named", path: imports.get(text.slice(0, dot)) ?? "", name: text.slice(dot + 1) };
  return { kind: "named", path: builtins.has(text) ? "" : path, name: text };
}
