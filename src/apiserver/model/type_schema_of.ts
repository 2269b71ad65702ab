/**
 * typeSchemaOf: from the OpenAPI v3 of a type to its TypeSchema. Built-in kinds come with named components that refer to
 * each other, CRDs with one schema without references.
 *
 * What it makes of an extension is what kube-openapi `schemaconv` of Kubernetes 1.36 makes of it, since that decides who
 * owns what after an apply: no list type means the list of the patch strategy, else atomic; an object without properties is
 * free-form; x-kubernetes-preserve-unknown-fields goes down to everything that is written inline below it.
 */
import { isJsonArray, isJsonObject, type Json, type JsonObject, read } from "./json.ts";
import type { ListSchema, MapSchema, PatchStrategy, ScalarSchema, StructSchema, TypeSchema } from "./type_schema.ts";

/** The component that metadata of every object has. */
export const objectMetaName = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

const any: TypeSchema = { kind: "any" };
const text: ScalarSchema = { kind: "scalar", type: "string" };

/** Components whose OpenAPI does not say what they are, by name. */
const known: ReadonlyMap<string, TypeSchema> = new Map<string, TypeSchema>([
  ["io.k8s.apimachinery.pkg.api.resource.Quantity", { kind: "scalar", type: "quantity" }],
  ["io.k8s.apimachinery.pkg.util.intstr.IntOrString", { kind: "scalar", type: "intOrString" }],
  ["io.k8s.apimachinery.pkg.runtime.RawExtension", { kind: "map", values: any, isAtomic: true }],
]);

/**
 * The named types of an OpenAPI document, each compiled when it is first asked for and shared from then on.
 *
 * @example
 * ```ts
 * import { TypeLibrary } from "./mod.ts";
 *
 * const library = new TypeLibrary({ Tag: { type: "object", properties: { name: { type: "string" } } } });
 * console.assert(library.named("Tag").kind === "struct");
 * ```
 */
export class TypeLibrary {
  readonly #components: JsonObject;
  readonly #types = new Map<string, TypeSchema>(known);
  readonly #underway = new Set<string>();

  /** @param components what stands under `components.schemas`; several documents may be spread into one object */
  constructor(components: JsonObject = {}) {
    this.#components = components;
  }

  /** True when there is a component of this name. */
  has(name: string): boolean {
    return this.#types.has(name) || Object.hasOwn(this.#components, name);
  }

  /** One component as it was written. @throws RangeError when there is none of this name */
  component(name: string): JsonObject {
    const schema = read(this.#components, name);
    if (isJsonObject(schema)) return schema;
    throw new RangeError(`Cannot compile the type ${name}: no such component`);
  }

  /**
   * The type of one component, e.g. `io.k8s.api.apps.v1.Deployment`.
   *
   * @throws RangeError when there is none of this name
   */
  named(name: string): TypeSchema {
    const made = this.#types.get(name);
    if (made !== undefined) return made;
    const schema = this.component(name);
    if (this.#underway.has(name)) {
      throw new TypeError(`Cannot compile the type ${name}: it holds itself without a field between`);
    }
    this.#underway.add(name);
    try {
      const compiler = new Compiler(this, (struct) => this.#types.set(name, struct));
      const type = compiler.compile(schema, false);
      this.#types.set(name, type);
      return type;
    } finally {
      this.#underway.delete(name);
    }
  }
}

/**
 * Makes the TypeSchema of one OpenAPI v3 schema. For the schema of a CRD's version, set `x-kubernetes-embedded-resource` at
 * its top, as a resource has `apiVersion`, `kind` and `metadata` whether its schema lists them or not.
 *
 * @param library where its references lead
 * @throws RangeError for a reference that leads nowhere
 * @throws TypeError for an unknown `type`, x-kubernetes-list-type or x-kubernetes-map-type
 */
export function typeSchemaOf(schema: JsonObject, library: TypeLibrary = new TypeLibrary()): TypeSchema {
  return new Compiler(library).compile(schema, false);
}

/** Compiles one schema; a struct at its top is announced before its fields are looked at, so that they may name it. */
class Compiler {
  readonly #library: TypeLibrary;
  #announce: ((struct: StructSchema) => void) | undefined;

  constructor(library: TypeLibrary, announce?: (struct: StructSchema) => void) {
    this.#library = library;
    this.#announce = announce;
  }

  /** @param keepsUnknown whether something above said x-kubernetes-preserve-unknown-fields */
  compile(schema: JsonObject, keepsUnknown: boolean): TypeSchema {
    const name = referenceOf(schema);
    if (name !== undefined) return overridden(this.#library.named(name), schema);
    const keeps = keepsUnknown || read(schema, "x-kubernetes-preserve-unknown-fields") === true;
    const type = read(schema, "type");
    switch (type) {
      case "object":
        return this.#object(schema, keeps);
      case "array":
        return this.#list(schema, keeps);
      case "string":
      case "integer":
      case "number":
      case "boolean":
        return scalarOf(type, read(schema, "format"));
      case undefined:
        return untypedOf(schema) ?? (hasFields(schema) ? this.#object(schema, keeps) : any);
      default:
        throw new TypeError(`Cannot compile the type ${JSON.stringify(type)}: not a type of OpenAPI v3`);
    }
  }

  #object(schema: JsonObject, keepsUnknown: boolean): MapSchema | StructSchema {
    const values = read(schema, "additionalProperties");
    if (hasFields(schema)) return this.#struct(schema, keepsUnknown || (values !== undefined && values !== false));
    const isAtomic = isAtomicMap(schema) ?? false;
    return { kind: "map", values: isJsonObject(values) ? this.compile(values, keepsUnknown) : any, isAtomic };
  }

  #struct(schema: JsonObject, keepsUnknown: boolean): StructSchema {
    const fields = new Map<string, TypeSchema>();
    const patch = new Map<string, PatchStrategy>();
    const struct: StructSchema = {
      kind: "struct",
      fields,
      patch,
      isAtomic: isAtomicMap(schema) ?? false,
      keepsUnknown,
    };
    this.#announce?.(struct);
    this.#announce = undefined;
    for (const [name, field] of Object.entries(objectAt(schema, "properties"))) {
      if (!isJsonObject(field)) continue;
      fields.set(name, this.compile(field, keepsUnknown));
      const strategy = patchStrategyOf(field);
      if (strategy !== undefined) patch.set(name, strategy);
    }
    if (isEmbedded(schema)) this.#addResourceFields(fields);
    return struct;
  }

  #addResourceFields(fields: Map<string, TypeSchema>): void {
    fields.set("apiVersion", text);
    fields.set("kind", text);
    fields.set("metadata", this.#library.has(objectMetaName) ? this.#library.named(objectMetaName) : any);
  }

  #list(schema: JsonObject, keepsUnknown: boolean): ListSchema {
    const itemSchema = read(schema, "items");
    const items = isJsonObject(itemSchema) ? this.compile(itemSchema, keepsUnknown) : any;
    const { listType, keys } = listTypeOf(schema);
    const keyDefaults = new Map<string, Json>();
    if (listType === "map" && isJsonObject(itemSchema)) {
      const properties = this.#propertiesOf(itemSchema);
      for (const key of keys) {
        const fallback = read(objectAt(properties, key), "default");
        if (fallback !== undefined && fallback !== null) keyDefaults.set(key, fallback);
      }
    }
    return { kind: "list", items, listType, keys, keyDefaults };
  }

  #propertiesOf(schema: JsonObject): JsonObject {
    const name = referenceOf(schema);
    return objectAt(name === undefined ? schema : this.#library.component(name), "properties");
  }
}

/** The component a schema refers to; published OpenAPI wraps a reference in `allOf` where it has something to add. */
function referenceOf(schema: JsonObject): string | undefined {
  const direct = read(schema, "$ref");
  if (typeof direct === "string") return direct.slice(direct.lastIndexOf("/") + 1);
  const all = read(schema, "allOf");
  if (!isJsonArray(all) || all.length !== 1) return undefined;
  const only = all[0];
  return isJsonObject(only) && Object.hasOwn(only, "$ref") ? referenceOf(only) : undefined;
}

/** A referring field may make the map it refers to atomic, or granular again. */
function overridden(type: TypeSchema, schema: JsonObject): TypeSchema {
  const isAtomic = isAtomicMap(schema);
  if (isAtomic === undefined || (type.kind !== "struct" && type.kind !== "map") || type.isAtomic === isAtomic) {
    return type;
  }
  return { ...type, isAtomic };
}

function scalarOf(type: ScalarSchema["type"], format: Json | undefined): ScalarSchema {
  if (format === "int-or-string") return { kind: "scalar", type: "intOrString" };
  return typeof format === "string" && format !== "" ? { kind: "scalar", type, format } : { kind: "scalar", type };
}

/** The scalar that a schema without a type is, if it is one. */
function untypedOf(schema: JsonObject): ScalarSchema | undefined {
  const isIntOrString = read(schema, "x-kubernetes-int-or-string") === true ||
    read(schema, "format") === "int-or-string";
  return isIntOrString ? { kind: "scalar", type: "intOrString" } : undefined;
}

function listTypeOf(schema: JsonObject): Pick<ListSchema, "listType" | "keys"> {
  const listType = read(schema, "x-kubernetes-list-type");
  switch (listType) {
    case "atomic":
    case "set":
      return { listType, keys: [] };
    case "map":
      return { listType, keys: textsOf(read(schema, "x-kubernetes-list-map-keys")) };
    case undefined: {
      const strategy = patchStrategyOf(schema);
      if (strategy === undefined || !strategy.strategy.startsWith("merge")) return { listType: "atomic", keys: [] };
      const key = strategy.mergeKey;
      return key === undefined ? { listType: "set", keys: [] } : { listType: "map", keys: [key] };
    }
    default:
      throw new TypeError(`Cannot compile the list type ${JSON.stringify(listType)}: not atomic, set or map`);
  }
}

function isAtomicMap(schema: JsonObject): boolean | undefined {
  const mapType = read(schema, "x-kubernetes-map-type");
  if (mapType === undefined) return undefined;
  if (mapType === "atomic" || mapType === "granular") return mapType === "atomic";
  throw new TypeError(`Cannot compile the map type ${JSON.stringify(mapType)}: not atomic or granular`);
}

function patchStrategyOf(schema: JsonObject): PatchStrategy | undefined {
  const strategy = read(schema, "x-kubernetes-patch-strategy");
  switch (strategy) {
    case "merge":
    case "replace":
    case "retainKeys":
    case "merge,retainKeys": {
      const mergeKey = read(schema, "x-kubernetes-patch-merge-key");
      return typeof mergeKey === "string" ? { strategy, mergeKey } : { strategy };
    }
    default:
      return undefined;
  }
}

function hasFields(schema: JsonObject): boolean {
  return isEmbedded(schema) || Object.keys(objectAt(schema, "properties")).length > 0;
}

function isEmbedded(schema: JsonObject): boolean {
  return read(schema, "x-kubernetes-embedded-resource") === true;
}

function objectAt(schema: JsonObject, key: string): JsonObject {
  const value = read(schema, key);
  return isJsonObject(value) ? value : {};
}

function textsOf(value: Json | undefined): readonly string[] {
  return isJsonArray(value) ? value.filter((item) => typeof item === "string") : [];
}
