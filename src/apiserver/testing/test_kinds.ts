/** Kinds for tests: ConfigMap and Namespace like the built-in ones, and Foo like a custom resource in two versions. */
import {
  badRequest,
  type Draft,
  type DraftValue,
  isDraft,
  isJsonObject,
  type JsonObject,
  type Kind,
  type Subresource,
  type TypeSchema,
} from "../model/mod.ts";
import { dnsLabelErrors, dnsSubdomainErrors, maskTrailingDash } from "../model/mod.ts";
import type { KindFamily } from "../registry/mod.ts";
import { isSameJson, read } from "../model/mod.ts";

const any: TypeSchema = { kind: "any" };
const strings: TypeSchema = { kind: "map", values: { kind: "scalar", type: "string" }, isAtomic: false };

function struct(fields: Readonly<Record<string, TypeSchema>>): TypeSchema {
  return {
    kind: "struct",
    fields: new Map(Object.entries(fields)),
    patch: new Map(),
    isAtomic: false,
    keepsUnknown: false,
  };
}

const metadata = struct({
  name: { kind: "scalar", type: "string" },
  namespace: { kind: "scalar", type: "string" },
  labels: strings,
  annotations: strings,
  finalizers: {
    kind: "list",
    items: { kind: "scalar", type: "string" },
    listType: "set",
    keys: [],
    keyDefaults: new Map(),
  },
  ownerReferences: any,
  uid: any,
  generateName: any,
  generation: any,
  resourceVersion: any,
  creationTimestamp: any,
  deletionTimestamp: any,
  deletionGracePeriodSeconds: any,
  selfLink: any,
  managedFields: any,
});

const status: Subresource = { name: "status", verbs: ["get", "patch", "update"] };
const scale: Subresource = {
  name: "scale",
  verbs: ["get", "patch", "update"],
  body: { group: "autoscaling", version: "v1", kind: "Scale" },
  scale: { specReplicas: ".spec.replicas", statusReplicas: ".status.replicas", labelSelector: ".spec.selector" },
};

/** The common part of all kinds. */
const common: Omit<
  Kind,
  "group" | "version" | "kind" | "plural" | "singular" | "listKind" | "scope" | "collection" | "schema"
> = {
  shortNames: [],
  categories: [],
  verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"],
  subresources: new Map(),
  table: {
    columns: [{ name: "Name", type: "string", format: "name", description: "The name.", priority: 0 }],
    cells: (object) => [nameOf(object)],
  },
  hasStrategicMerge: true,
  decode: () => [],
  setDefaults: () => {},
  prepareForCreate: () => {},
  prepareForUpdate: () => {},
  validate: () => [],
  validateUpdate: () => [],
  validateName: (name, isPrefix) => dnsSubdomainErrors(isPrefix ? maskTrailingDash(name) : name),
  warnings: () => [],
  fieldValue: () => undefined,
  isSelectable: () => false,
  convert: (objects) => objects,
};

function nameOf(object: JsonObject): string {
  const found = object["metadata"];
  return isJsonObject(found) ? String(found["name"] ?? "") : "";
}

/** Drops unknown keys of a part of a draft. */
function dropUnknown(draft: Draft, path: string, known: readonly string[]): string[] {
  const unknown = Object.keys(draft).filter((key) => !known.includes(key));
  for (const key of unknown) delete draft[key];
  return unknown.map((key) => `unknown field "${path}${key}"`);
}

/** Built-in, namespaced, without status. */
export const configMap: Kind = {
  ...common,
  group: "",
  version: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  singular: "configmap",
  listKind: "ConfigMapList",
  scope: "Namespaced",
  collection: "configmaps",
  schema: struct({
    apiVersion: any,
    kind: any,
    metadata,
    data: strings,
    immutable: { kind: "scalar", type: "boolean" },
  }),
  decode(draft) {
    const data = read(draft, "data");
    if (data !== undefined && data !== null && !isDraft(data)) {
      throw badRequest(
        'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal ' +
          `${typeof data} into Go struct field ConfigMap.data of type map[string]string`,
      );
    }
    for (const field of ["data", "binaryData"]) {
      const value = read(draft, field);
      if (value === null || (isDraft(value) && Object.keys(value).length === 0)) delete draft[field];
    }
    return dropUnknown(draft, "", ["apiVersion", "kind", "metadata", "data", "binaryData", "immutable"]);
  },
};

/** Built-in, cluster-scoped, with a DNS label as name. */
export const namespace: Kind = {
  ...common,
  group: "",
  version: "v1",
  kind: "Namespace",
  plural: "namespaces",
  singular: "namespace",
  listKind: "NamespaceList",
  scope: "Cluster",
  collection: "namespaces",
  schema: struct({ apiVersion: any, kind: any, metadata, spec: any, status: any }),
  validateName: (name, isPrefix) => dnsLabelErrors(isPrefix ? maskTrailingDash(name) : name),
};

/** Like a custom resource: with generation, status, scale and a selectable field. */
export const foo: Kind = fooOf("v1");
/** Foo in another version, where `spec.replicas` is called `spec.size`. */
export const fooBeta: Kind = fooOf("v1beta1");

function fooOf(version: string): Kind {
  return {
    ...common,
    group: "example.com",
    version,
    kind: "Foo",
    plural: "foos",
    singular: "foo",
    listKind: "FooList",
    scope: "Namespaced",
    collection: "foos.example.com",
    hasStrategicMerge: false,
    subresources: new Map([["status", status], ["scale", scale]]),
    schema: struct({
      apiVersion: any,
      kind: any,
      metadata,
      spec: struct({ replicas: any, size: any, color: any, selector: any }),
      status: any,
    }),
    decode(draft) {
      const unknown = dropUnknown(draft, "", ["apiVersion", "kind", "metadata", "spec", "status"]);
      const spec = read(draft, "spec");
      return isDraft(spec)
        ? [...unknown, ...dropUnknown(spec, "spec.", ["replicas", "size", "color", "selector"])]
        : unknown;
    },
    setDefaults(draft) {
      const spec = read(draft, "spec");
      if (isDraft(spec)) spec["color"] ??= "red";
    },
    prepareForCreate(draft) {
      delete draft["status"];
      setGeneration(draft, 1);
    },
    prepareForUpdate(draft, old, context) {
      const unchanged = context.subresource === "status" ? "spec" : "status";
      if (context.subresource !== "scale") keep(draft, old, unchanged);
      if (context.subresource === "status") keepLabels(draft, old);
      if (!isSameJson(read(draft, "spec") ?? null, read(old, "spec") ?? null)) {
        setGeneration(draft, generationOf(old) + 1);
      }
    },
    validate(object) {
      const spec = object["spec"];
      const replicas = isJsonObject(spec) ? spec["replicas"] ?? 0 : 0;
      if (typeof replicas === "number" && replicas <= 10) return [];
      return [{ type: "Invalid", field: "spec.replicas", value: replicas, detail: "must be at most 10" }];
    },
    validateUpdate(object, _old, context) {
      return this.validate(object, context);
    },
    fieldValue(object, field) {
      const spec = object["spec"];
      return field === "spec.color" && isJsonObject(spec) ? String(spec["color"] ?? "") : undefined;
    },
    isSelectable: (field) => field === "spec.color",
    convert: (objects) => objects.map((object) => convertFoo(object, version)),
  };
}

function keep(draft: Draft, old: JsonObject, field: string): void {
  const value = read(old, field);
  if (value === undefined) delete draft[field];
  else draft[field] = JSON.parse(JSON.stringify(value)) as DraftValue;
}

function keepLabels(draft: Draft, old: JsonObject): void {
  const [metadata, before] = [draft["metadata"], old["metadata"]];
  if (isDraft(metadata) && isJsonObject(before)) keep(metadata, before, "labels");
}

function setGeneration(draft: Draft, generation: number): void {
  const found = draft["metadata"];
  if (isDraft(found)) found["generation"] = generation;
}

function generationOf(object: JsonObject): number {
  const found = object["metadata"];
  return isJsonObject(found) ? Number(found["generation"] ?? 0) : 0;
}

function convertFoo(object: JsonObject, version: string): JsonObject {
  const spec = object["spec"];
  const apiVersion = `example.com/${version}`;
  if (!isJsonObject(spec) || object["apiVersion"] === apiVersion) return { ...object, apiVersion };
  const { replicas, size, ...rest } = spec;
  const count = replicas ?? size;
  if (count === undefined) return { ...object, apiVersion };
  return { ...object, apiVersion, spec: { ...rest, [version === "v1" ? "replicas" : "size"]: count } };
}

/** All test kinds, for the `families` of a server. */
export const families: readonly KindFamily[] = [
  { collection: "configmaps", served: [configMap], storage: configMap },
  { collection: "namespaces", served: [namespace], storage: namespace },
  { collection: "foos.example.com", served: [foo, fooBeta], storage: foo },
];
