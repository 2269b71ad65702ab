/**
 * The schemas that a kube-apiserver publishes, compared with those of the stored types in src/apiserver/kinds/generated,
 * from which the embedded API server and src/api/generated follow.
 */
import { type Json, type JsonObject, packageOf } from "./_wire_packages.ts";

/** All components, each once, without descriptions. */
export function mergedComponents(documents: readonly JsonObject[]): ReadonlyMap<string, JsonObject> {
  const found = new Map<string, JsonObject>();
  for (const document of documents) {
    for (const [name, schema] of Object.entries(document)) {
      const bare = withoutDescriptions(schema);
      const known = found.get(name);
      if (known !== undefined && JSON.stringify(withoutKinds(known)) !== JSON.stringify(withoutKinds(bare))) {
        throw new Error(`Cannot merge the component ${name}: two versions differ`);
      }
      if (known === undefined || JSON.stringify(known).length < JSON.stringify(bare).length) {
        found.set(name, Object(bare));
      }
    }
  }
  return found;
}

/** Options are shared by many groups and list them, but not every document lists all. */
function withoutKinds(schema: Json): Json {
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return schema;
  return Object.fromEntries(Object.entries(schema).filter(([key]) => key !== "x-kubernetes-group-version-kind"));
}

function withoutDescriptions(value: Json, isNames = false): Json {
  if (Array.isArray(value)) return value.map((item) => withoutDescriptions(item));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([key]) => isNames || key !== "description");
  return Object.fromEntries(
    entries.map(([key, item]) => [key, withoutDescriptions(item, key === "properties" && !isNames)]),
  );
}

/** Describes each schema that differs from the one of the stored type. */
export async function differingSchemas(components: ReadonlyMap<string, JsonObject>): Promise<readonly string[]> {
  // The stored types may just have been written.
  const { openApiOf, wireStruct } = await import("../src/apiserver/kinds/mod.ts");
  return [...components].flatMap(([component, schema]) => {
    const { wirePackage, typeName } = packageOf(component);
    const read = JSON.stringify(sorted(openApiOf(wireStruct(`${wirePackage.name}.${typeName}`))));
    const real = JSON.stringify(sorted(schema));
    return read === real ? [] : [`${component}:\n  real ${real}\n  read ${read}`];
  });
}

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).sort(([left], [right]) => left < right ? -1 : 1).map(([key, item]) => [key, sorted(item)]),
  );
}
