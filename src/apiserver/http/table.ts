/**
 * Tables and partial metadata, which `kubectl get` and metadata-only caches request instead of the objects (apiserver
 * `handlers/response.go`).
 */
import { badRequest, type Json, type JsonObject, type Kind, StatusError, type Table } from "../model/mod.ts";
import { metadataText, readMetadata } from "../registry/mod.ts";
import type { Transform } from "./media_types.ts";

/** The options of a table. */
export interface TableOptions {
  readonly includeObject: "Metadata" | "Object" | "None";
  /** Leaves out the column definitions, as in all events of a watch except the first. */
  readonly isHeadless: boolean;
}

/** The default options. */
export const plainTable: TableOptions = { includeObject: "Metadata", isHeadless: false };

/** Reads TableOptions. @throws StatusError 400 */
export function tableOptions(query: URLSearchParams): TableOptions {
  const include = query.get("includeObject") ?? "";
  switch (include) {
    case "":
    case "Metadata":
      return { includeObject: "Metadata", isHeadless: false };
    case "Object":
    case "None":
      return { includeObject: include, isHeadless: false };
    default:
      throw badRequest(
        `Unable to convert to Table as requested: includeObject: Invalid value: ${JSON.stringify(include)}: ` +
          "must be 'Metadata', 'Object', 'None', or empty",
      );
  }
}

/** The parts of a Kind that a table needs. */
export interface TableKind extends Pick<Kind, "group" | "kind" | "hasStrategicMerge" | "table"> {
  /** The Go type in messages. @default that of the internal type, or of a custom resource */
  readonly goType?: string;
}

/** The content of a table. */
export interface TableSource {
  readonly kind: TableKind;
  readonly objects: readonly JsonObject[];
  /** Of the list, or of the single object. */
  readonly metadata: JsonObject;
  readonly options: TableOptions;
  /** The version of meta.k8s.io, for the table and the partial metadata in it. */
  readonly version: string;
  /** Milliseconds since 1970, for ages. */
  readonly now: number;
}

/** Creates a table. */
export function tableOf(source: TableSource): JsonObject {
  const { kind, objects, metadata, options, version, now } = source;
  const { columns } = kind.table;
  return {
    kind: "Table",
    apiVersion: `meta.k8s.io/${version}`,
    metadata,
    columnDefinitions: options.isHeadless ? null : columns.map((column) => ({ ...column })),
    rows: objects.map((object) => ({
      cells: kind.table.cells(object, now),
      ...conditionsOf(kind.table, object),
      object: rowObject(object, options, version),
    })),
  };
}

function conditionsOf(table: Table, object: JsonObject): JsonObject {
  const conditions = table.conditions?.(object) ?? [];
  return conditions.length === 0 ? {} : { conditions };
}

function rowObject(object: JsonObject, options: TableOptions, version: string): Json {
  switch (options.includeObject) {
    case "Object":
      return object;
    case "Metadata":
      return partialMetadata(object, version);
    case "None":
      return null;
    default:
      return options.includeObject satisfies never;
  }
}

/** The metadata of an object as a PartialObjectMetadata. */
export function partialMetadata(object: JsonObject, version: string): JsonObject {
  return { kind: "PartialObjectMetadata", apiVersion: `meta.k8s.io/${version}`, metadata: readMetadata(object) };
}

/** An object in the negotiated form. @throws StatusError 406 when the form is one of a list */
export function transformObject(
  kind: TableKind,
  object: JsonObject,
  transform: Transform,
  options: TableOptions,
  now: number,
): JsonObject {
  switch (transform.kind) {
    case "PartialObjectMetadata":
      return partialMetadata(object, transform.version);
    case "PartialObjectMetadataList":
      // kube-apiserver takes every custom resource for a list at first.
      if (!kind.hasStrategicMerge) throw new StatusError(500, "", "content is not a list");
      throw notAcceptable(
        `you requested PartialObjectMetadataList, but the requested object is not a list (${goType(kind)})`,
      );
    case "Table": {
      const resourceVersion = metadataText(object, "resourceVersion");
      const metadata: JsonObject = resourceVersion === "" ? {} : { resourceVersion };
      return tableOf({ kind, objects: [object], metadata, options, version: transform.version, now });
    }
    default:
      return transform.kind satisfies never;
  }
}

/** A list in the negotiated form. @throws StatusError 406 */
export function transformList(
  kind: TableKind,
  objects: readonly JsonObject[],
  metadata: JsonObject,
  target: { readonly transform: Transform; readonly options: TableOptions; readonly now: number },
): JsonObject {
  const { transform, options, now } = target;
  switch (transform.kind) {
    case "PartialObjectMetadata":
      throw notAcceptable(
        `you requested PartialObjectMetadata, but the requested object is a list (${goType(kind)}List)`,
      );
    case "PartialObjectMetadataList":
      return {
        kind: "PartialObjectMetadataList",
        apiVersion: `meta.k8s.io/${transform.version}`,
        metadata,
        // Go writes a list that nothing was appended to as null.
        items: objects.length === 0 ? null : objects.map((object) => partialMetadata(object, transform.version)),
      };
    case "Table":
      return tableOf({ kind, objects, metadata, options, version: transform.version, now });
    default:
      return transform.kind satisfies never;
  }
}

/** The Go type of the object in kube-apiserver, for messages. */
function goType(kind: TableKind): string {
  if (kind.goType !== undefined) return kind.goType;
  if (!kind.hasStrategicMerge) return "*unstructured.Unstructured";
  return `*${kind.group === "" ? "core" : kind.group.split(".")[0] ?? ""}.${kind.kind}`;
}

function notAcceptable(message: string): StatusError {
  return new StatusError(406, "NotAcceptable", message);
}
