/**
 * The wire types of all built-in kinds, by name. They are stored as text, as tasks/api_kinds.ts writes it: one struct a line,
 * about 30 bytes a field.
 *
 * PodSpec <TAB> {"x-kubernetes-...":...} <TAB> containers:!r[@core/v1.Container;Mname;pmerge;kname nodeName:s ...
 *
 * A field is its name, flags (`*` pointer, `!` always written, `0` omitted when zero, `r` required), its type, and attributes
 * after `;`. A type is a letter for a scalar, `@` for a struct, `[` for a list of and `{` for a map of a type; `<Name>` before
 * it is its Go name where that cannot be derived.
 *
 * A package is split into lines when it is first used, and a line into fields when its struct is: starting the server costs
 * nothing, and a test that stores ConfigMaps reads five structs.
 */
import { isJsonObject, type Json, type JsonObject } from "../../model/mod.ts";
import { packages } from "../generated/packages.ts";
import {
  type GroupVersionKind,
  plainZeroOf,
  type WireField,
  type WireScalarName,
  type WireStruct,
  type WireType,
} from "./wire_type.ts";

const lines = new Map<string, ReadonlyMap<string, string>>();
const structs = new Map<string, WireStruct>();

/**
 * A struct by its name, e.g. `core/v1.PodSpec`.
 *
 * @throws RangeError for an unknown name
 */
export function wireStruct(name: string): WireStruct {
  const known = structs.get(name);
  if (known !== undefined) return known;
  const [packageName, goName] = splitName(name);
  const line = linesOf(packageName).get(goName);
  if (line === undefined) throw new RangeError(`Cannot find the type ${name}: no such type`);
  const struct = readWireStruct(packageName, packages.get(packageName)?.fullName ?? "", line);
  structs.set(name, struct);
  return struct;
}

/** True for the name of a struct that {@link wireStruct} finds. */
export function hasWireStruct(name: string): boolean {
  const [packageName, goName] = splitName(name);
  return linesOf(packageName).has(goName);
}

/** The name of a struct's component in OpenAPI, e.g. `io.k8s.api.core.v1.PodSpec`. */
export function fullNameOf(name: string): string {
  const [packageName, goName] = splitName(name);
  return `${packages.get(packageName)?.fullName ?? ""}.${goName}`;
}

/** The names of all structs of a package, e.g. `core/v1`. */
export function structNames(packageName: string): readonly string[] {
  return [...linesOf(packageName).keys()].map((goName) => `${packageName}.${goName}`);
}

/** The names of all packages. */
export function packageNames(): readonly string[] {
  return [...packages.keys()];
}

function splitName(name: string): readonly [string, string] {
  const dot = name.indexOf(".");
  return [name.slice(0, dot), name.slice(dot + 1)];
}

function linesOf(packageName: string): ReadonlyMap<string, string> {
  const known = lines.get(packageName);
  if (known !== undefined) return known;
  const text = packages.get(packageName)?.text ?? "";
  const read = new Map(text.trim().split("\n").map((line) => [line.slice(0, line.indexOf("\t")), line] as const));
  lines.set(packageName, read);
  return read;
}

/** Letters of the scalars, and their Go types. */
const leaves: ReadonlyMap<string, readonly [WireScalarName, string]> = new Map([
  ["s", ["string", "string"]],
  ["i", ["int32", "int32"]],
  ["l", ["int64", "int64"]],
  ["d", ["float64", "float64"]],
  ["b", ["boolean", "bool"]],
  ["y", ["bytes", "[]uint8"]],
  ["t", ["time", "v1.Time"]],
  ["u", ["microTime", "v1.MicroTime"]],
  ["q", ["quantity", "resource.Quantity"]],
  ["o", ["intOrString", "intstr.IntOrString"]],
  ["x", ["raw", "runtime.RawExtension"]],
  ["f", ["fields", "v1.FieldsV1"]],
  ["j", ["json", "v1.JSON"]],
]);

/** Reads one line. @param fullPrefix the prefix of the name in OpenAPI, e.g. `io.k8s.api.core.v1` */
export function readWireStruct(packageName: string, fullPrefix: string, line: string): WireStruct {
  const [goName = "", extraText = "", fieldsText = ""] = line.split("\t");
  const extra: Json = extraText === "" ? {} : JSON.parse(extraText);
  const fields = new Map<string, WireField>();
  for (const text of fieldsText === "" ? [] : fieldsText.split(" ")) {
    const field = new FieldReader(text).field();
    fields.set(field.name, field);
  }
  const { "x-kubernetes-group-version-kind": kinds, ...rest } = isJsonObject(extra) ? extra : {};
  return {
    name: `${packageName}.${goName}`,
    fullName: `${fullPrefix}.${goName}`,
    goName,
    fields,
    kinds: Array.isArray(kinds) ? kinds.map(kindOf) : [],
    extra: rest,
  };
}

function kindOf(value: Json): GroupVersionKind {
  const { group, version, kind } = isJsonObject(value) ? value : {};
  return { group: String(group), version: String(version), kind: String(kind) };
}

/** The attributes after the `;` of a field. */
interface Attributes {
  readonly extensions: JsonObject;
  readonly fallback: { readonly value: Json | undefined } | undefined;
  readonly isBare: boolean;
  readonly allowed: readonly string[];
  readonly allowedElements: readonly string[];
}

/** Reads the text of one field from left to right. */
class FieldReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  field(): WireField {
    const name = this.#until(":");
    const flags = this.#flags();
    const type = this.#type();
    const { extensions, fallback, isBare, allowed, allowedElements } = this.#attributes();
    return {
      name,
      type,
      isPointer: flags.includes("*"),
      isAlwaysWritten: flags.includes("!"),
      isOmittedWhenZero: flags.includes("0"),
      isRequired: flags.includes("r"),
      extensions,
      isBareReference: isBare,
      allowed,
      allowedElements,
      default: fallback === undefined ? impliedDefault(flags, type) : fallback.value,
    };
  }

  #until(end: string): string {
    const to = this.#text.indexOf(end, this.#at);
    const taken = this.#text.slice(this.#at, to);
    this.#at = to + end.length;
    return taken;
  }

  #flags(): string {
    const from = this.#at;
    while ("*!0r".includes(this.#text[this.#at] ?? " ")) this.#at++;
    return this.#text.slice(from, this.#at);
  }

  #type(): WireType {
    const start = this.#text[this.#at++] ?? "";
    switch (start) {
      case "<":
        return { ...this.#named(this.#until(">")) };
      case "[": {
        const items = this.#type();
        return { kind: "list", items, goName: `[]${items.goName}` };
      }
      case "{": {
        const values = this.#type();
        return { kind: "map", values, goName: `map[string]${values.goName}` };
      }
      case "@":
        return this.#reference();
      default:
        return this.#leaf(start);
    }
  }

  #named(goName: string): WireType {
    return { ...this.#type(), goName };
  }

  #reference(): WireType {
    const semicolon = this.#text.indexOf(";", this.#at);
    const name = this.#text.slice(this.#at, semicolon < 0 ? undefined : semicolon);
    this.#at += name.length;
    return { kind: "struct", name, goName: name.slice(name.indexOf("/") + 1) };
  }

  #leaf(letter: string): WireType {
    const leaf = leaves.get(letter);
    if (leaf === undefined) throw new SyntaxError(`Cannot read the field ${this.#text}: no type "${letter}"`);
    return { kind: "scalar", scalar: leaf[0], goName: leaf[1] };
  }

  #attributes(): Attributes {
    const extensions: Record<string, Json> = {};
    let fallback: Attributes["fallback"];
    let isBare = false;
    let allowed: readonly string[] = [];
    let allowedElements: readonly string[] = [];
    for (const attribute of this.#text.slice(this.#at).split(";").slice(1)) {
      const value = attribute.slice(1);
      if (attribute[0] === "d") fallback = { value: value === "" ? undefined : JSON.parse(value) };
      else if (attribute === "R") isBare = true;
      else if (attribute[0] === "e") allowed = wordsOf(value);
      else if (attribute[0] === "E") allowedElements = wordsOf(value);
      else Object.assign(extensions, extensionOf(attribute[0] ?? "", value));
    }
    return { extensions, fallback, isBare, allowed, allowedElements };
  }
}

function wordsOf(value: string): readonly string[] {
  return value.replaceAll("~", " ").split(",");
}

function extensionOf(letter: string, value: string): JsonObject {
  switch (letter) {
    case "a":
      return { "x-kubernetes-list-type": "atomic" };
    case "S":
      return { "x-kubernetes-list-type": "set" };
    case "M":
      return { "x-kubernetes-list-map-keys": value.split(","), "x-kubernetes-list-type": "map" };
    case "A":
      return { "x-kubernetes-map-type": "atomic" };
    case "G":
      return { "x-kubernetes-map-type": "granular" };
    case "k":
      return { "x-kubernetes-patch-merge-key": value };
    case "p":
      return { "x-kubernetes-patch-strategy": value };
    default:
      throw new SyntaxError(`Cannot read the attribute ${letter}${value}: not known`);
  }
}

/**
 * The default that kube-openapi publishes for a Go type without one: the zero value of a field that is always written.
 */
function impliedDefault(flags: string, type: WireType): Json | undefined {
  if (flags.includes("*")) return undefined;
  if (type.kind === "struct") return {};
  return type.kind === "scalar" && flags.includes("!") ? plainZeroOf(type.scalar) : undefined;
}
