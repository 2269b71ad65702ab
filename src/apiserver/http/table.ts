/**
 * Tables and partial metadata: what `kubectl get` and metadata-only caches ask for instead of the objects themselves
 * (apiserver `handlers/response.go`).
 */
import { badRequest, type Json, type JsonObject, type Kind, Refusal, type Table } from "../model/mod.ts";
import { metadataText, readMetadata } from "../registry/mod.ts";
import type { Transform } from "./media_types.ts";

/** How a table is wanted. */
export interface TableOptions {
  readonly includeObject: "Metadata" | "Object" | "None";
  /** Leaves the column definitions out: all events of a watch but the first do. */
  readonly isHeadless: boolean;
}

/** What a table is like that nobody asked to be otherwise. */
export const plainTable: TableOptions = { includeObject: "Metadata", isHeadless: false };

/** Reads TableOptions. @throws Refusal 400 */
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

/** What has to be known of a kind. */
export type TableKind = Pick<Kind, "group" | "kind" | "hasStrategicMerge" | "table">;

/** What to make a table of. */
export interface TableSource {
  readonly kind: TableKind;
  readonly objects: readonly JsonObject[];
  /** The list's, or the one object's. */
  readonly metadata: JsonObject;
  readonly options: TableOptions;
  /** meta.k8s.io's, of the table and of the partial metadata in it. */
  readonly version: string;
  /** Milliseconds since 1970: ages are counted from it. */
  readonly now: number;
}

/** The table. */
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

/** The metadata of an object as an object of its own. */
export function partialMetadata(object: JsonObject, version: string): JsonObject {
  return { kind: "PartialObjectMetadata", apiVersion: `meta.k8s.io/${version}`, metadata: readMetadata(object) };
}

/** An object in the form that was agreed on. @throws Refusal 406 where there is no such form of one object */
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
      // The real server takes any custom resource for a list, until it looks.
      if (!kind.hasStrategicMerge) throw new Refusal(500, "", "content is not a list");
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

/** A list in the form that was agreed on. @throws Refusal 406 */
export function transformList(
  kind: TableKind,
  objects: readonly JsonObject[],
  metadata: JsonObject,
  wanted: { readonly transform: Transform; readonly options: TableOptions; readonly now: number },
): JsonObject {
  const { transform, options, now } = wanted;
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
        items: objects.map((object) => partialMetadata(object, transform.version)),
      };
    case "Table":
      return tableOf({ kind, objects, metadata, options, version: transform.version, now });
    default:
      return transform.kind satisfies never;
  }
}

/** What the object is in the real server: the message shows it. */
function goType(kind: TableKind): string {
  if (!kind.hasStrategicMerge) return "*unstructured.Unstructured";
  return `*${kind.group === "" ? "core" : kind.group.split(".")[0] ?? ""}.${kind.kind}`;
}

function notAcceptable(message: string): Refusal {
  return new Refusal(406, "NotAcceptable", message);
}
