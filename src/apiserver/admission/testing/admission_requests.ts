/** Shared by the tests of admission: stored objects, a kind, and short admission requests about ConfigMaps. */
import {
  type AdmissionRequest,
  type Draft,
  isJsonObject,
  type JsonObject,
  type Kind,
  type ObjectReader,
} from "../../model/mod.ts";
import { configMap } from "../../testing/test_kinds.ts";

export const admissionGroup = "admissionregistration.k8s.io";

/** Every user may do every `get`. */
export const authorizer = {
  authorize: ({ verb }: { readonly verb: string }) => ({ isAllowed: verb === "get", reason: "" }),
};

/** Objects by their collections. */
export class StoredObjects implements ObjectReader {
  readonly #objects: (readonly [collection: string, object: JsonObject])[] = [];

  constructor() {
    this.add("namespaces", { metadata: { name: "default", labels: { team: "a" } }, status: { phase: "Active" } });
  }

  add(collection: string, object: JsonObject): void {
    this.#objects.push([collection, object]);
  }

  get(collection: string, namespace: string, name: string): JsonObject | undefined {
    for (const object of this.list(collection)) {
      const { metadata } = object;
      if (!isJsonObject(metadata) || metadata.name !== name) continue;
      if (namespace === "" || metadata.namespace === namespace) return object;
    }
    return undefined;
  }

  *list(collection: string, namespace?: string): Iterable<JsonObject> {
    for (const [held, object] of this.#objects) {
      const { metadata } = object;
      if (held !== collection || !isJsonObject(metadata)) continue;
      if (namespace === undefined || metadata.namespace === namespace) yield object;
    }
  }
}

/** A request, and the warnings for its client. */
export interface TestRequest {
  readonly request: AdmissionRequest;
  readonly warnings: readonly string[];
}

/** A request to create a ConfigMap, changed by `rest`. */
export function requestFor(data: JsonObject, rest: Partial<AdmissionRequest> = {}): TestRequest {
  const warnings: string[] = [];
  const object: Draft = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "a", namespace: "default" },
    data: JSON.parse(JSON.stringify(data)),
  };
  const request: AdmissionRequest = {
    operation: "CREATE",
    kind: configMap,
    subresource: "",
    namespace: "default",
    name: "a",
    object,
    oldObject: undefined,
    options: { kind: "CreateOptions", apiVersion: "meta.k8s.io/v1" },
    user: { name: "jane", uid: "", groups: ["system:authenticated"], extra: new Map() },
    isDryRun: false,
    warn: (text) => void warnings.push(text),
    ...rest,
  };
  return { request, warnings };
}

/** Every kind has only one version here. */
export const otherKinds = (_kind: Kind): readonly Kind[] => [];

export { configMap };
