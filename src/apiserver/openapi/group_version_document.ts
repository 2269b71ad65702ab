/** groupVersionDocument(): the OpenAPI v3 of one group and version: its operations and their components. */
import { CustomKind } from "../crd/mod.ts";
import { fullNameOf } from "../kinds/mod.ts";
import type { JsonObject, Kind } from "../model/mod.ts";
import {
  type BuiltinComponents,
  customComponentName,
  customComponents,
  type KindName,
  metaTypes,
} from "./components.ts";
import { groupNames, type KindReferences, pathsOf } from "./operations.ts";

/** The subject of a document. */
export interface DocumentSubject {
  readonly group: string;
  readonly version: string;
  readonly kinds: readonly Kind[];
  /** The version of the server, e.g. `v1.36.3`. */
  readonly serverVersion: string;
}

/** Creates a document. */
export function groupVersionDocument(subject: DocumentSubject, builtin: BuiltinComponents): JsonObject {
  const components = new Map<string, JsonObject>();
  const paths = new Map<string, JsonObject>();
  const isCustom = subject.kinds.some((kind) => kind instanceof CustomKind);
  if (!isCustom) addResourceList(subject, builtin, { components, paths });
  for (const kind of subject.kinds) {
    const references = kind instanceof CustomKind
      ? customReferences(kind, builtin, components)
      : builtinReferences(kind, builtin, components);
    if (references === undefined) continue;
    for (const [path, item] of pathsOf(kind, references)) paths.set(path, item);
  }
  const info = isCustom
    ? { title: "Kubernetes CRD Swagger", version: "v0.1.0" }
    : { title: "Kubernetes", version: subject.serverVersion };
  return {
    openapi: "3.0.0",
    info,
    paths: sortedObject(paths),
    components: { schemas: sortedObject(components), ...(isCustom ? {} : { securitySchemes }) },
  };
}

const securitySchemes: JsonObject = {
  BearerToken: { description: "Bearer Token authentication", in: "header", name: "authorization", type: "apiKey" },
};

interface Parts {
  readonly components: Map<string, JsonObject>;
  readonly paths: Map<string, JsonObject>;
}

function addResourceList({ group, version }: DocumentSubject, builtin: BuiltinComponents, parts: Parts): void {
  const path = group === "" ? `/api/${version}/` : `/apis/${group}/${version}/`;
  const [tag, title] = groupNames(group, version);
  builtin.addTo(parts.components, [metaTypes.resourceList]);
  const schema = referenceTo(metaTypes.resourceList);
  parts.paths.set(path, {
    get: {
      description: "get available resources",
      operationId: `get${title}APIResources`,
      responses: {
        "200": { content: { "application/json": { schema } }, description: "OK" },
        "401": { description: "Unauthorized" },
      },
      tags: [tag],
    },
  });
}

function referenceTo(type: string): JsonObject {
  return { $ref: `#/components/schemas/${fullNameOf(type)}` };
}

function sharedReferences(kind: Kind, builtin: BuiltinComponents, components: Map<string, JsonObject>) {
  const { deleteOptions, patch, status, watchEvent } = metaTypes;
  const isStored = kind.verbs.includes("delete");
  if (isStored) builtin.addTo(components, [deleteOptions, patch, status, watchEvent]);
  return {
    deleteOptions: referenceTo(deleteOptions),
    patch: referenceTo(patch),
    status: referenceTo(status),
    watchEvent: referenceTo(watchEvent),
    body(kindName: KindName): JsonObject | undefined {
      const name = builtin.find(kindName);
      if (name === undefined) return undefined;
      builtin.addTo(components, [name]);
      return referenceTo(name);
    },
  };
}

function builtinReferences(
  kind: Kind,
  builtin: BuiltinComponents,
  components: Map<string, JsonObject>,
): KindReferences | undefined {
  const object = builtin.find(kind);
  if (object === undefined) return undefined;
  const list = builtin.find({ ...kind, kind: kind.listKind }) ?? object;
  builtin.addTo(components, [object, list]);
  return { ...sharedReferences(kind, builtin, components), object: referenceTo(object), list: referenceTo(list) };
}

function customReferences(
  kind: CustomKind,
  builtin: BuiltinComponents,
  components: Map<string, JsonObject>,
): KindReferences {
  for (const [name, schema] of customComponents(kind)) components.set(name, schema);
  builtin.addTo(components, [metaTypes.objectMeta, metaTypes.listMeta]);
  const reference = (name: string): JsonObject => ({ $ref: `#/components/schemas/${customComponentName(kind, name)}` });
  return {
    ...sharedReferences(kind, builtin, components),
    object: reference(kind.kind),
    list: reference(kind.listKind),
  };
}

/** An object with sorted keys, as kube-apiserver writes it. */
export function sortedObject(entries: ReadonlyMap<string, JsonObject>): JsonObject {
  return Object.fromEntries([...entries].sort(([left], [right]) => left < right ? -1 : 1));
}
