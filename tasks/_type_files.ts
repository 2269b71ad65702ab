/**
 * The text of the files that tasks/types.ts writes: an interface for each type that a built-in kind reaches, and a Resource
 * for each kind. The source is src/apiserver/kinds/generated: what a real kube-apiserver publishes, without its
 * descriptions. The types are ours in two ways: the fields of all objects are those of src/api/object.ts, and what a server
 * always returns is required.
 */
import { readBuiltinNames } from "../src/apiserver/kinds/kind_names.ts";
import type { WireField, WireType } from "../src/apiserver/kinds/types/wire_type.ts";
import { wireStruct } from "../src/apiserver/kinds/mod.ts";
import { kindSentences } from "./_kind_sentences.ts";

/** Where the files are, relative to the repository. */
export const typesFolder = "src/api/generated";

const notice = "Written by tasks/types.ts from the schemas that kube-apiserver 1.36 publishes. Do not edit.";

/** Types that are written by hand: their names there, and their files. */
const ownTypes: ReadonlyMap<string, readonly [name: string, file: string]> = new Map([
  ["meta/v1.ObjectMeta", ["ObjectMeta", "../object.ts"]],
  ["meta/v1.OwnerReference", ["OwnerReference", "../object.ts"]],
  ["meta/v1.ManagedFieldsEntry", ["ManagedFieldsEntry", "../object.ts"]],
  ["meta/v1.ListMeta", ["ListMeta", "../object.ts"]],
  ["meta/v1.Condition", ["Condition", "../object.ts"]],
  ["meta/v1.LabelSelector", ["LabelSelector", "../selector.ts"]],
  ["meta/v1.LabelSelectorRequirement", ["LabelRequirement", "../selector.ts"]],
]);

/** Types whose published schema allows anything, as their Go sources say. */
const unions: ReadonlyMap<string, string> = new Map([
  ["apiextensions/v1.JSONSchemaPropsOrArray", "JSONSchemaProps | readonly JSONSchemaProps[]"],
  ["apiextensions/v1.JSONSchemaPropsOrBool", "JSONSchemaProps | boolean"],
  ["apiextensions/v1.JSONSchemaPropsOrStringArray", "JSONSchemaProps | readonly string[]"],
  ["apiextensions/v1.CustomResourceSubresourceStatus", "Readonly<Record<string, never>>"],
]);

/** One file. */
export interface TypeFile {
  /** Relative to the repository. */
  readonly path: string;
  readonly text: string;
}

/** A built-in kind with its type. */
interface Kind {
  readonly apiVersion: string;
  readonly kind: string;
  /** The name of the Resource: the kind, unless two groups have it. */
  readonly constant: string;
  readonly plural: string;
  readonly scope: string;
  /** The name for {@link wireStruct}, e.g. `apps/v1.Deployment`. */
  readonly type: string;
}

/** Names of Resources where two kinds have the same one. */
const constants: Readonly<Record<string, string>> = {
  "v1 Event": "CoreEvent",
  "autoscaling/v1 HorizontalPodAutoscaler": "HorizontalPodAutoscalerV1",
};

function builtinKinds(): readonly Kind[] {
  return readBuiltinNames().map(({ group, version, kind, plural, scope }) => {
    const apiVersion = group === "" ? version : `${group}/${version}`;
    const constant = constants[`${apiVersion} ${kind}`] ?? kind;
    return { apiVersion, kind, constant, plural, scope, type: `${packageOf(group, version)}.${kind}` };
  });
}

/** `rbac/v1` of rbac.authorization.k8s.io/v1: the package of a group. */
function packageOf(group: string, version: string): string {
  return `${group === "" ? "core" : group.split(".")[0]}/${version}`;
}

/** All files, in the order of their names. */
export function typeFiles(): readonly TypeFile[] {
  const kinds = builtinKinds();
  // What a subresource takes is no kind of its own, but clients write it.
  const bodies = ["autoscaling/v1.Scale", "policy/v1.Eviction", "authentication/v1.TokenRequest"];
  const types = reachableFrom([...kinds.map(({ type }) => type), ...bodies]);
  const objects = new Set([...kinds.map(({ type }) => type), ...bodies]);
  const packages = [...new Set(types.map(packageIn))].sort();
  const files = packages.map((name) => packageFile(name, types.filter((type) => packageIn(type) === name), objects));
  return [...files, kindsFile(kinds)];
}

function packageIn(type: string): string {
  return type.slice(0, type.indexOf("."));
}

function nameIn(type: string): string {
  return type.slice(type.indexOf(".") + 1);
}

function fileOf(name: string): string {
  return `${name.replace("/", "_")}.ts`;
}

/** The types that others refer to, transitively, without those that are written by hand. */
function reachableFrom(start: readonly string[]): readonly string[] {
  const found = new Set<string>();
  const open = [...start];
  for (let type = open.pop(); type !== undefined; type = open.pop()) {
    if (found.has(type) || ownTypes.has(type)) continue;
    found.add(type);
    for (const field of wireStruct(type).fields.values()) open.push(...structsIn(field.type));
    if (unions.get(type)?.includes("JSONSchemaProps") === true) open.push("apiextensions/v1.JSONSchemaProps");
  }
  return [...found].sort();
}

function structsIn(type: WireType): readonly string[] {
  switch (type.kind) {
    case "struct":
      return [type.name];
    case "list":
      return structsIn(type.items);
    case "map":
      return structsIn(type.values);
    case "scalar":
      return [];
    default:
      return type satisfies never;
  }
}

/** Collects the imports of one file while its types are written. */
class Imports {
  readonly #names = new Map<string, Set<string>>();
  readonly #home: string;
  readonly #objects: ReadonlySet<string>;

  constructor(home: string, objects: ReadonlySet<string>) {
    this.#home = home;
    this.#objects = objects;
  }

  /** The type of a field. An object inside of another one needs no apiVersion and kind: the field says what it is. */
  field(type: string): string {
    const name = this.struct(type);
    if (!this.#objects.has(type)) return name;
    return `Omit<${name}, "apiVersion" | "kind"> & Partial<Pick<${name}, "apiVersion" | "kind">>`;
  }

  /** The name of a type in this file. */
  struct(type: string): string {
    const [name, file] = ownTypes.get(type) ?? [nameIn(type), `./${fileOf(packageIn(type))}`];
    return packageIn(type) === this.#home && !ownTypes.has(type) ? name : this.from(file, name);
  }

  from(file: string, name: string): string {
    this.#names.set(file, (this.#names.get(file) ?? new Set()).add(name));
    return name;
  }

  get lines(): readonly string[] {
    return [...this.#names].sort(([left], [right]) => left < right ? -1 : 1)
      .map(([file, names]) => `import type { ${[...names].sort().join(", ")} } from "${file}";`);
  }
}

function packageFile(name: string, types: readonly string[], objects: ReadonlySet<string>): TypeFile {
  const imports = new Imports(name, objects);
  const declarations = types.map((type) => declarationOf(type, objects.has(type), imports));
  const lines = [
    `/** The types of ${name}. ${notice} */`,
    "// deno-fmt-ignore-file",
    ...imports.lines,
    "",
    ...declarations,
  ];
  return { path: `${typesFolder}/${fileOf(name)}`, text: `${lines.join("\n")}\n` };
}

function declarationOf(type: string, isObject: boolean, imports: Imports): string {
  const union = unions.get(type);
  if (union !== undefined) return `export type ${nameIn(type)} = ${union};`;
  const fields = [...wireStruct(type).fields.values()].map((field) =>
    fieldLine(field, nameIn(type), isObject, imports)
  );
  return [`export interface ${nameIn(type)} {`, ...fields, "}"].join("\n");
}

/** Fields that a server always returns. */
const alwaysReturned: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata", "spec"]);

function fieldLine(field: WireField, kind: string, isObject: boolean, imports: Imports): string {
  const name = /^[\w$]+$/.test(field.name) ? field.name : JSON.stringify(field.name);
  const isRequired = field.isRequired || isObject && alwaysReturned.has(field.name);
  const type = isObject && field.name === "kind" ? JSON.stringify(kind) : typeOf(field, imports);
  return `  readonly ${name}${isRequired ? "" : "?"}: ${type};`;
}

function typeOf(field: WireField, imports: Imports): string {
  if (field.allowed.length > 0) return literals(field.allowed);
  return textOf(field.type, imports, field.allowedElements);
}

function literals(values: readonly string[]): string {
  return values.map((value) => JSON.stringify(value)).join(" | ");
}

/** @param allowed The values of the elements of a list or a map; empty if any is allowed */
function textOf(type: WireType, imports: Imports, allowed: readonly string[] = []): string {
  switch (type.kind) {
    case "struct":
      return imports.field(type.name);
    case "list": {
      const element = allowed.length > 0 ? literals(allowed) : textOf(type.items, imports);
      return `readonly ${/[ |]/.test(element) ? `(${element})` : element}[]`;
    }
    case "map":
      return `Readonly<Record<string, ${allowed.length > 0 ? literals(allowed) : textOf(type.values, imports)}>>`;
    case "scalar":
      return scalarText(type.scalar, imports);
    default:
      return type satisfies never;
  }
}

function scalarText(scalar: Extract<WireType, { kind: "scalar" }>["scalar"], imports: Imports): string {
  const named = (name: string) => imports.from("../builtin_resource.ts", name);
  switch (scalar) {
    case "string":
      return "string";
    case "boolean":
      return "boolean";
    case "int32":
    case "int64":
    case "float64":
      return "number";
    case "bytes":
      return named("Base64");
    case "time":
      return named("Time");
    case "microTime":
      return named("MicroTime");
    case "quantity":
      return named("Quantity");
    case "intOrString":
      return named("IntOrString");
    case "raw":
    case "fields":
      return "Readonly<Record<string, unknown>>";
    case "json":
      return "unknown";
    default:
      return scalar satisfies never;
  }
}

function kindsFile(kinds: readonly Kind[]): TypeFile {
  const sorted = [...kinds].sort((left, right) => left.constant < right.constant ? -1 : 1);
  const packages = [...new Set(sorted.map(({ type }) => packageIn(type)))].sort();
  const lines = [
    `/** The Resources of all built-in kinds, and the types of their objects. ${notice} */`,
    "// deno-fmt-ignore-file",
    'import { type BuiltinResource, clusterScoped, namespaced } from "../builtin_resource.ts";',
    ...packages.map((name) => `import type * as ${name.replace("/", "_")} from "./${fileOf(name)}";`),
    "",
    ...sorted.flatMap(kindLines),
  ];
  return { path: `${typesFolder}/kinds.ts`, text: `${lines.join("\n")}\n` };
}

function kindLines({ apiVersion, kind, constant, plural, scope, type }: Kind): readonly string[] {
  const sentence = kindSentences[`${apiVersion} ${kind}`];
  if (sentence === undefined) {
    throw new Error(`Cannot describe ${apiVersion} ${kind}: add it to tasks/_kind_sentences.ts`);
  }
  const object = `${packageIn(type).replace("/", "_")}.${nameIn(type)}`;
  const create = scope === "Namespaced" ? "namespaced" : "clusterScoped";
  return [
    `/** The kind ${kind} of \`${apiVersion}\`: ${sentence}. */`,
    `export const ${constant}: BuiltinResource<${object}, "${kind}"> = ${create}("${apiVersion}", "${kind}", "${plural}");`,
    `/** A readonly object of the kind ${kind}, as the server returns it. */`,
    `export type ${constant} = ${object};`,
  ];
}
