/**
 * Tables and partial metadata: what `kubectl get` and metadata-only caches ask for instead of the objects themselves
 * (apiserver `handlers/response.go`).
 */
import { badRequest, type Json, type JsonObject, type Kind, Refusal } from "../model/mod.ts";
import { metadataText, readMetadata } from "../registry/mod.ts";
import type { Transform } from "./media_types.ts";

/** How a table is wanted. */
export interface TableOptions {
  readonly includeObject: "Metadata" | "Object" | "None";
  /** Leaves the column definitions out: all events of a watch but the first do. */
  readonly isHeadless: boolean;
}

/** Reads TableOptions. @throws Refusal 400 */
export function tableOptions(query: URLSearchParams): TableOptions {
  const include = query.get("includeObject") ?? "";
  const isHeadless = !["false", "0"].includes(query.get("noHeaders") ?? "false");
  switch (include) {
    case "":
    case "Metadata":
      return { includeObject: "Metadata", isHeadless };
    case "Object":
    case "None":
      return { includeObject: include, isHeadless };
    default:
      throw badRequest(
        `Unable to convert to Table as requested: includeObject: Invalid value: ${JSON.stringify(include)}: ` +
          "must be 'Metadata', 'Object', 'None', or empty",
      );
  }
}

/** What to make a table of. */
export interface TableSource {
  readonly kind: Kind;
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
      ...(options.includeObject === "None" ? { object: null } : { object: rowObject(object, options, version) }),
    })),
  };
}

function rowObject(object: JsonObject, options: TableOptions, version: string): Json {
  return options.includeObject === "Object" ? object : partialMetadata(object, version);
}

/** The metadata of an object as an object of its own. */
export function partialMetadata(object: JsonObject, version: string): JsonObject {
  return { kind: "PartialObjectMetadata", apiVersion: `meta.k8s.io/${version}`, metadata: readMetadata(object) };
}

/** An object in the form that was agreed on. @throws Refusal 406 where there is no such form of one object */
export function transformObject(
  kind: Kind,
  object: JsonObject,
  transform: Transform,
  options: TableOptions,
  now: number,
): JsonObject {
  switch (transform.kind) {
    case "PartialObjectMetadata":
      return partialMetadata(object, transform.version);
    case "PartialObjectMetadataList":
      throw notAcceptable(
        `you requested PartialObjectMetadataList, but the requested object is not a list (${goType(kind)})`,
      );
    case "Table": {
      const metadata = { resourceVersion: metadataText(object, "resourceVersion") };
      return tableOf({ kind, objects: [object], metadata, options, version: transform.version, now });
    }
    default:
      return transform.kind satisfies never;
  }
}

/** A list in the form that was agreed on. @throws Refusal 406 */
export function transformList(
  kind: Kind,
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
function goType(kind: Kind): string {
  if (!kind.hasStrategicMerge) return "*unstructured.Unstructured";
  return `*${kind.group === "" ? "core" : kind.group.split(".")[0] ?? ""}.${kind.kind}`;
}

function notAcceptable(message: string): Refusal {
  return new Refusal(406, "NotAcceptable", message);
}
