/**
 * BuiltinComponents: the schemas of Kubernetes' own types as OpenAPI v3 publishes them, found by the kind they are of
 * and followed to all that they refer to. They are not described: the real server's sentences are its own.
 */
import { fullNameOf, openApiOf, packageNames, referencesOf, structNames, wireStruct } from "../kinds/mod.ts";
import type { JsonObject } from "../model/mod.ts";

/** A group, version and kind. */
export interface KindName {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** Types of meta/v1 that operations speak of. */
export const metaTypes = {
  deleteOptions: "meta/v1.DeleteOptions",
  listMeta: "meta/v1.ListMeta",
  objectMeta: "meta/v1.ObjectMeta",
  patch: "meta/v1.Patch",
  resourceList: "meta/v1.APIResourceList",
  status: "meta/v1.Status",
  watchEvent: "meta/v1.WatchEvent",
} as const;

/** Kubernetes' own types. */
export class BuiltinComponents {
  readonly #schemas = new Map<string, JsonObject>();

  /** The short name of the type that is this kind, e.g. `apps/v1.Deployment`. */
  find({ group, version, kind }: KindName): string | undefined {
    return typesByKind().get(`${group}/${version}/${kind}`);
  }

  /** Adds types and all that they refer to, by their full names. */
  addTo(components: Map<string, JsonObject>, names: Iterable<string>): void {
    const due = [...names];
    for (let name = due.pop(); name !== undefined; name = due.pop()) {
      const fullName = fullNameOf(name);
      if (components.has(fullName)) continue;
      components.set(fullName, this.#schema(name, fullName));
      due.push(...referencesOf(wireStruct(name)));
    }
  }

  #schema(name: string, fullName: string): JsonObject {
    const known = this.#schemas.get(fullName);
    if (known !== undefined) return known;
    const made = openApiOf(wireStruct(name));
    this.#schemas.set(fullName, made);
    return made;
  }
}

let known: ReadonlyMap<string, string> | undefined;

/** Options are of every group; only types that are of one kind alone are found by it. */
function typesByKind(): ReadonlyMap<string, string> {
  if (known !== undefined) return known;
  const found = new Map<string, string>();
  for (const name of packageNames().flatMap(structNames)) {
    const [kind, ...others] = wireStruct(name).kinds;
    if (kind !== undefined && others.length === 0) found.set(`${kind.group}/${kind.version}/${kind.kind}`, name);
  }
  return known = found;
}
