/**
 * The kinds of an API server and their CEL types, as its discovery and its OpenAPI describe them: built-in kinds from their
 * wire types, custom resources from their definitions. As `cel/openapi` and the RESTMapper of Kubernetes 1.36.
 *
 * Guarantees: a type is read from its schema when it is first asked for. A type that contains itself ends with an object
 * without fields.
 */
import type { CelType } from "../../cel/mod.ts";
import { type CrdSpec, declaredTypeOf, readCrd, readSchema } from "../crd/mod.ts";
import { builtinFamilies, fullNameOf, openApiOf, packageNames, structNames, wireStruct } from "../kinds/mod.ts";
import { isJsonArray, isJsonObject, type Json, type JsonObject, read } from "../model/mod.ts";
import { publishedSchema } from "../openapi/mod.ts";

/** A kind that discovery names. */
export interface KindType {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** Its OpenAPI schema, without references; undefined when it is not known. */
  schema(): JsonObject | undefined;
  /** Undefined when its schema is not known. */
  type(): CelType | undefined;
}

interface NamedKind extends KindType {
  readonly plural: string;
  readonly singular: string;
}

/** The kinds of an API server. */
export class KindTypes {
  readonly #kinds: readonly NamedKind[];

  /** @param definitions the CustomResourceDefinitions */
  constructor(definitions: readonly JsonObject[]) {
    const established = definitions.map(readCrd).filter(({ isEstablished }) => isEstablished);
    this.#kinds = [...builtinKinds(), ...established.flatMap(customKinds)];
  }

  /** The kinds of a resource, which may be written in singular. The core group stands for all groups, as in a RESTMapper. */
  ofResource(group: string, version: string, resource: string): readonly KindType[] {
    const name = resource.toLowerCase();
    return this.#kinds.filter((kind) =>
      (group === "" || kind.group === group) && kind.version === version &&
      (kind.plural === name || kind.singular === name)
    );
  }

  find(group: string, version: string, name: string): KindType | undefined {
    return this.#kinds.find((kind) => kind.group === group && kind.version === version && kind.kind === name);
  }
}

let builtin: readonly NamedKind[] | undefined;

function builtinKinds(): readonly NamedKind[] {
  builtin ??= builtinFamilies().flatMap(({ served }) =>
    served.map(({ group, version, kind, plural, singular, struct }) => ({
      ...{ group, version, kind, plural },
      singular: singular || kind.toLowerCase(),
      ...schemaAndType({ $ref: prefix + struct.fullName }, kind),
    }))
  );
  return builtin;
}

function customKinds({ group, acceptedNames: names, versions }: CrdSpec): readonly NamedKind[] {
  return versions.filter(({ isServed }) => isServed).map(({ name, schema }) => ({
    group,
    version: name,
    kind: names.kind,
    plural: names.plural,
    singular: names.singular,
    ...schemaAndType(schema === undefined ? undefined : publishedSchema(schema), names.kind),
  }));
}

/** A number stands behind the kind in the names of types in messages, as in those of kube-controller-manager. */
function schemaAndType(referring: JsonObject | undefined, kind: string): Pick<KindType, "schema" | "type"> {
  const schema = once(() => referring && inlined(referring, new Set()));
  return { schema, type: once(() => schema() && declaredTypeOf(readSchema(schema() ?? {}), true, `${kind}1`)?.type) };
}

function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
}

const prefix = "#/components/schemas/";

/** The schema with the schemas that it refers to in their places. @param open the references that surround it */
function inlined(schema: JsonObject, open: ReadonlySet<string>): JsonObject {
  const reference = referenceOf(schema);
  if (reference !== undefined) {
    if (open.has(reference)) return { type: "object" };
    return inlined(componentOf(reference), new Set(open).add(reference));
  }
  const result: Record<string, Json> = { ...schema };
  // Built-in types have the format, custom resources the extension.
  if (schema["format"] === "int-or-string") result["x-kubernetes-int-or-string"] = true;
  for (const key of ["items", "additionalProperties"]) {
    const part = read(schema, key);
    if (isJsonObject(part)) result[key] = inlined(part, open);
  }
  const properties = read(schema, "properties");
  if (!isJsonObject(properties)) return result;
  const fields = Object.entries(properties).map(([name, field]) =>
    [name, isJsonObject(field) ? inlined(field, open) : field] as const
  );
  return { ...result, properties: Object.fromEntries(fields) };
}

/** The reference of a schema, which may be wrapped in `allOf`. */
function referenceOf(schema: JsonObject): string | undefined {
  const own = read(schema, "$ref");
  if (typeof own === "string") return own;
  const all = read(schema, "allOf");
  if (!isJsonArray(all)) return undefined;
  for (const part of all) {
    const found = isJsonObject(part) ? referenceOf(part) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

let components: ReadonlyMap<string, string> | undefined;

function componentOf(reference: string): JsonObject {
  components ??= new Map(packageNames().flatMap(structNames).map((name) => [prefix + fullNameOf(name), name]));
  const name = components.get(reference);
  return name === undefined ? {} : openApiOf(wireStruct(name));
}
