/**
 * TypeSchema: the structure of a type, as apply, patches and decoding need it. typeSchemaOf() compiles it from the OpenAPI
 * v3 of a type: built-in kinds have named components that refer to each other, a CRD has one schema without references.
 *
 * Guarantees: extensions mean what kube-openapi `schemaconv` of Kubernetes 1.36 makes of them, because they decide who owns
 * which field after an apply. Without a list type, a list with a patch strategy follows the strategy, and others are atomic.
 * An object without properties is free-form. x-kubernetes-preserve-unknown-fields holds for everything inline below it.
 *
 * Caveats: a TypeSchema may be cyclic (JSONSchemaProps contains itself). It has no formats, lengths and rules: validation
 * is done elsewhere.
 */
import { isJsonArray, isJsonObject, type Json, type JsonObject, read } from "../../cel/mod.ts";

/** A leaf: it is owned and replaced as a whole. */
export interface ScalarSchema {
  readonly kind: "scalar";
  /** `intOrString` is IntOrString; a `quantity` is a number or a string. */
  readonly type: "string" | "integer" | "number" | "boolean" | "intOrString" | "quantity";
  /** `date-time`, `byte`, `int32`, ... as in OpenAPI. */
  readonly format?: string;
}

/** How a strategic merge patch treats a field (x-kubernetes-patch-strategy and -merge-key). */
export interface PatchStrategy {
  readonly strategy: "merge" | "replace" | "retainKeys" | "merge,retainKeys";
  readonly mergeKey?: string;
}

/** An object with known fields. */
export interface StructSchema {
  readonly kind: "struct";
  readonly fields: ReadonlyMap<string, TypeSchema>;
  /** Per field, for built-in kinds. */
  readonly patch: ReadonlyMap<string, PatchStrategy>;
  /** True when one manager owns all of it. */
  readonly isAtomic: boolean;
  /** True when unlisted fields are kept (x-kubernetes-preserve-unknown-fields), with type `any`. */
  readonly keepsUnknown: boolean;
}

/** An object with free keys. */
export interface MapSchema {
  readonly kind: "map";
  readonly values: TypeSchema;
  readonly isAtomic: boolean;
}

/** A list. */
export interface ListSchema {
  readonly kind: "list";
  readonly items: TypeSchema;
  readonly listType: "atomic" | "set" | "map";
  /** The fields that identify an item of a `map` list. */
  readonly keys: readonly string[];
  /** Defaults of keys that an item may leave out, e.g. protocol TCP of a Service port. */
  readonly keyDefaults: ReadonlyMap<string, Json>;
}

/** A value without a schema: fields follow from the value, lists are atomic. */
export interface AnySchema {
  readonly kind: "any";
}

/** The type of one value. */
export type TypeSchema = ScalarSchema | StructSchema | MapSchema | ListSchema | AnySchema;

/** The component of the metadata of every object. */
export const objectMetaName = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

const any: TypeSchema = { kind: "any" };
const text: ScalarSchema = { kind: "scalar", type: "string" };

/** Components whose type is not in their OpenAPI, by name. */
const known: ReadonlyMap<string, TypeSchema> = new Map<string, TypeSchema>([
  ["io.k8s.apimachinery.pkg.api.resource.Quantity", { kind: "scalar", type: "quantity" }],
  ["io.k8s.apimachinery.pkg.util.intstr.IntOrString", { kind: "scalar", type: "intOrString" }],
  ["io.k8s.apimachinery.pkg.runtime.RawExtension", { kind: "map", values: any, isAtomic: true }],
]);

/**
 * The named types of an OpenAPI document. Each is compiled on first use, and shared afterwards.
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
  readonly #compiling = new Set<string>();

  /** @param components the content of `components.schemas`, of one document or several */
  constructor(components: JsonObject = {}) {
    this.#components = components;
  }

  /** True when there is a component of this name. */
  has(name: string): boolean {
    return this.#types.has(name) || Object.hasOwn(this.#components, name);
  }

  /** The OpenAPI of one component. @throws RangeError when no component has this name */
  component(name: string): JsonObject {
    const schema = read(this.#components, name);
    if (isJsonObject(schema)) return schema;
    throw new RangeError(`Cannot compile the type ${name}: no such component`);
  }

  /**
   * The type of one component, e.g. `io.k8s.api.apps.v1.Deployment`.
   *
   * @throws RangeError when no component has this name
   */
  named(name: string): TypeSchema {
    const made = this.#types.get(name);
    if (made !== undefined) return made;
    const schema = this.component(name);
    if (this.#compiling.has(name)) {
      throw new TypeError(`Cannot compile the type ${name}: it contains itself without a field between`);
    }
    this.#compiling.add(name);
    try {
      const compiler = new Compiler(this, (struct) => this.#types.set(name, struct));
      const type = compiler.compile(schema, false);
      this.#types.set(name, type);
      return type;
    } finally {
      this.#compiling.delete(name);
    }
  }
}

/**
 * Compiles one OpenAPI v3 schema. For the schema of a CRD version, set `x-kubernetes-embedded-resource` at its root: a
 * resource has `apiVersion`, `kind` and `metadata` even if its schema does not list them.
 *
 * @param library the components that it may refer to
 * @throws RangeError for a reference to a missing component
 * @throws TypeError for an unknown `type`, x-kubernetes-list-type or x-kubernetes-map-type
 */
export function typeSchemaOf(schema: JsonObject, library: TypeLibrary = new TypeLibrary()): TypeSchema {
  return new Compiler(library).compile(schema, false);
}

/** Compiles one schema. It registers a struct before it compiles the fields, so that they may refer to the struct. */
class Compiler {
  readonly #library: TypeLibrary;
  #onStruct: ((struct: StructSchema) => void) | undefined;

  constructor(library: TypeLibrary, onStruct?: (struct: StructSchema) => void) {
    this.#library = library;
    this.#onStruct = onStruct;
  }

  /** @param keepsUnknown true below x-kubernetes-preserve-unknown-fields */
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
    this.#onStruct?.(struct);
    this.#onStruct = undefined;
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

/** The component that a schema refers to. Published OpenAPI wraps a reference with further keywords in `allOf`. */
function referenceOf(schema: JsonObject): string | undefined {
  const direct = read(schema, "$ref");
  if (typeof direct === "string") return direct.slice(direct.lastIndexOf("/") + 1);
  const all = read(schema, "allOf");
  if (!isJsonArray(all) || all.length !== 1) return undefined;
  const only = all[0];
  return isJsonObject(only) && Object.hasOwn(only, "$ref") ? referenceOf(only) : undefined;
}

/** A field that refers to a map may declare it atomic or granular. */
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

/** The scalar type of a schema without `type`, if it is a scalar. */
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
