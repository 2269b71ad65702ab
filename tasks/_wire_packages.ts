/**
 * Writes wire types: one line per struct, from the Go sources and the OpenAPI document of the real server. The task reads
 * the lines back and compares them with that document, so a type that the format cannot express stops the task.
 */
import { type GoDeclaration, type GoField, type GoType, type GoTypes, reflectName } from "./_go_types.ts";

/** JSON as this task handles it. */
export type Json = null | boolean | number | bigint | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

/** A Go package whose types are in OpenAPI. */
export interface WirePackage {
  /** `core/v1`. */
  readonly name: string;
  /** `io.k8s.api.core.v1`. */
  readonly fullName: string;
  /** `k8s.io/api/core/v1`. */
  readonly goPath: string;
}

const specials: readonly WirePackage[] = [
  pack("meta/v1", "io.k8s.apimachinery.pkg.apis.meta.v1", "k8s.io/apimachinery/pkg/apis/meta/v1"),
  pack("resource/api", "io.k8s.apimachinery.pkg.api.resource", "k8s.io/apimachinery/pkg/api/resource"),
  pack("intstr/api", "io.k8s.apimachinery.pkg.util.intstr", "k8s.io/apimachinery/pkg/util/intstr"),
  pack("runtime/api", "io.k8s.apimachinery.pkg.runtime", "k8s.io/apimachinery/pkg/runtime"),
  pack("version/api", "io.k8s.apimachinery.pkg.version", "k8s.io/apimachinery/pkg/version"),
  pack(
    "apiextensions/v1",
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1",
    "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1",
  ),
  pack(
    "apiregistration/v1",
    "io.k8s.kube-aggregator.pkg.apis.apiregistration.v1",
    "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1",
  ),
];

function pack(name: string, fullName: string, goPath: string): WirePackage {
  return { name, fullName, goPath };
}

/** The package and the name within it of an OpenAPI component. */
export function packageOf(component: string): { readonly wirePackage: WirePackage; readonly typeName: string } {
  const dot = component.lastIndexOf(".");
  const fullName = component.slice(0, dot);
  const typeName = component.slice(dot + 1);
  const special = specials.find((candidate) => candidate.fullName === fullName);
  if (special !== undefined) return { wirePackage: special, typeName };
  const match = fullName.match(/^io\.k8s\.api\.(\w+)\.(\w+)$/);
  if (match === null) throw new Error(`Cannot place the component ${component}: unknown package`);
  const name = `${match[1]}/${match[2]}`;
  return { wirePackage: pack(name, fullName, `k8s.io/api/${name}`), typeName };
}

/** Leaf types that have a name in Go. */
const leaves: Readonly<Record<string, string>> = {
  "k8s.io/apimachinery/pkg/apis/meta/v1.Time": "t",
  "k8s.io/apimachinery/pkg/apis/meta/v1.MicroTime": "u",
  "k8s.io/apimachinery/pkg/api/resource.Quantity": "q",
  "k8s.io/apimachinery/pkg/util/intstr.IntOrString": "o",
  "k8s.io/apimachinery/pkg/runtime.RawExtension": "x",
  "k8s.io/apimachinery/pkg/apis/meta/v1.FieldsV1": "f",
  "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSON": "j",
};

const builtinLeaves: Readonly<Record<string, string>> = {
  string: "s",
  bool: "b",
  int: "l",
  int32: "i",
  int64: "l",
  float64: "d",
};

/** The Go names that the reader of the lines derives from the letters. */
const derivedNames: Readonly<Record<string, string>> = {
  s: "string",
  b: "bool",
  i: "int32",
  l: "int64",
  d: "float64",
  y: "[]uint8",
  t: "v1.Time",
  u: "v1.MicroTime",
  q: "resource.Quantity",
  o: "intstr.IntOrString",
  x: "runtime.RawExtension",
  f: "v1.FieldsV1",
  j: "v1.JSON",
};

/** Writes struct lines. */
export class WireWriter {
  readonly #types: GoTypes;
  readonly #packageByGoPath: (path: string) => string | undefined;

  /** @param packageByGoPath the name of the wire package with this import path */
  constructor(types: GoTypes, packageByGoPath: (path: string) => string | undefined) {
    this.#types = types;
    this.#packageByGoPath = packageByGoPath;
  }

  /** The line of one OpenAPI component. */
  line(goPath: string, typeName: string, schema: JsonObject): string {
    const { type, properties, required, description: _, ...rest } = schema;
    if (properties === undefined) {
      return `${typeName}\t${compact({ ...(type === undefined ? {} : { type }), ...rest })}\t`;
    }
    const goFields = this.#fieldsOf(this.#types.find(goPath, typeName), typeName);
    const published = objectOf(properties);
    const missing = Object.keys(published).filter((name) => !goFields.has(name));
    if (missing.length > 0) throw new Error(`Cannot write ${goPath}.${typeName}: no fields ${missing} in Go`);
    const words = [...goFields].filter(([name]) => Object.hasOwn(published, name)).map(([name, goField]) =>
      this.#field(name, goField, objectOf(published[name]), listOf(required).includes(name))
    );
    return `${typeName}\t${Object.keys(rest).length === 0 ? "" : compact(rest)}\t${words.join(" ")}`;
  }

  /** Fields by JSON name, including those of embedded structs. */
  #fieldsOf(declaration: GoDeclaration | undefined, typeName: string): ReadonlyMap<string, GoField> {
    if (declaration?.kind !== "struct") throw new Error(`Cannot write ${typeName}: it is not a struct in Go`);
    const found = new Map<string, GoField>();
    for (const field of declaration.fields) {
      if (field.jsonName !== "") found.set(field.jsonName, field);
      else if (field.type.kind === "named") {
        const embedded = this.#types.find(field.type.path, field.type.name);
        for (const [name, inner] of this.#fieldsOf(embedded, field.type.name)) found.set(name, inner);
      }
    }
    return found;
  }

  #field(name: string, field: GoField, property: JsonObject, isRequired: boolean): string {
    const isPointer = field.type.kind === "pointer";
    const type = this.#type(field.type.kind === "pointer" ? field.type.to : field.type);
    const flags = [
      isPointer ? "*" : "",
      field.isOmittedWhenEmpty || field.isOmittedWhenZero ? "" : "!",
      field.isOmittedWhenZero ? "0" : "",
      isRequired ? "r" : "",
    ].join("");
    const shown = `${name}:${flags}${type}${attributesOf(property)}`;
    if (/[ \t`\\]/.test(shown)) {
      throw new Error(`Cannot write ${shown}: it contains a character that the format does not allow`);
    }
    return shown + defaultOf(property, isPointer, flags.includes("!"), type);
  }

  #type(type: GoType): string {
    const { text, derived } = this.#plainType(type);
    const name = reflectName(type);
    return name === derived ? text : `<${name}>${text}`;
  }

  /** The text of a type, and the name the reader derives from it. */
  #plainType(type: GoType): { readonly text: string; readonly derived: string } {
    switch (type.kind) {
      case "pointer":
        return this.#plainType(type.to);
      case "list": {
        if (type.items.kind === "named" && type.items.path === "" && type.items.name === "byte") {
          return { text: "y", derived: "[]uint8" };
        }
        return { text: `[${this.#type(type.items)}`, derived: `[]${reflectName(type.items)}` };
      }
      case "map":
        return { text: `{${this.#type(type.values)}`, derived: `map[string]${reflectName(type.values)}` };
      case "named":
        return this.#namedType(type.path, type.name);
      default:
        return type satisfies never;
    }
  }

  #namedType(path: string, name: string): { readonly text: string; readonly derived: string } {
    const letter = path === "" ? builtinLeaves[name] : leaves[`${path}.${name}`];
    if (letter !== undefined) return { text: letter, derived: derivedNames[letter] ?? "" };
    const declaration = this.#types.find(path, name);
    if (declaration === undefined) throw new Error(`Cannot write the type ${path}.${name}: not declared`);
    if (declaration.kind === "alias") return this.#plainType(declaration.type);
    const wirePackage = this.#packageByGoPath(path);
    if (wirePackage === undefined) throw new Error(`Cannot write the type ${path}.${name}: not in OpenAPI`);
    return { text: `@${wirePackage}.${name}`, derived: `${wirePackage.slice(wirePackage.indexOf("/") + 1)}.${name}` };
  }
}

function attributesOf(property: JsonObject): string {
  const listType = property["x-kubernetes-list-type"];
  const elementEnum = Object(property["items"] ?? property["additionalProperties"] ?? {})["enum"];
  const words = [
    listType === "atomic" ? ";a" : listType === "set" ? ";S" : "",
    listType === "map" ? `;M${listOf(property["x-kubernetes-list-map-keys"]).join(",")}` : "",
    property["x-kubernetes-map-type"] === "atomic" ? ";A" : "",
    property["x-kubernetes-map-type"] === "granular" ? ";G" : "",
    property["$ref"] === undefined ? "" : ";R",
    property["enum"] === undefined ? "" : `;e${wordsOf(property["enum"])}`,
    elementEnum === undefined ? "" : `;E${wordsOf(elementEnum)}`,
    property["x-kubernetes-patch-merge-key"] === undefined ? "" : `;k${property["x-kubernetes-patch-merge-key"]}`,
    property["x-kubernetes-patch-strategy"] === undefined ? "" : `;p${property["x-kubernetes-patch-strategy"]}`,
  ];
  return words.join("");
}

/** Values of an enum. Spaces separate fields, so a space in a value is written as "~". */
function wordsOf(values: Json | undefined): string {
  const words = listOf(values).map(String);
  if (words.some((word) => /[~,]/.test(word))) {
    throw new Error(`Cannot write the values ${words}: one holds a "~" or ","`);
  }
  return words.join(",").replaceAll(" ", "~");
}

/** An explicit default if the type implies another one. */
function defaultOf(property: JsonObject, isPointer: boolean, isAlways: boolean, type: string): string {
  const implied = isPointer ? undefined : impliedDefault(type.replace(/^<[^>]*>/, ""), isAlways);
  const real = property["default"];
  if (JSON.stringify(real) === JSON.stringify(implied)) return "";
  return real === undefined ? ";d" : `;d${JSON.stringify(real)}`;
}

function impliedDefault(type: string, isAlways: boolean): Json | undefined {
  if (type.startsWith("@")) return {};
  if (!isAlways) return undefined;
  if (type === "s") return "";
  if (type === "b") return false;
  return type === "i" || type === "l" || type === "d" ? 0 : undefined;
}

function compact(value: JsonObject): string {
  return JSON.stringify(value);
}

function objectOf(value: Json | undefined): JsonObject {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    return Object.fromEntries(Object.entries(value));
  }
  throw new Error(`Cannot read ${JSON.stringify(value)}: it is not an object`);
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}
