/** The table of a custom resource: its name, and the columns that its CustomResourceDefinition asks for, else its age. */
import {
  type Column,
  goFloat,
  goJson,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  read,
  type Table,
} from "../model/mod.ts";
import { JsonPath } from "./json_path.ts";

const nameDescription =
  "Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client " +
  "to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and " +
  "configuration definition. Cannot be updated. More info: " +
  "https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names";
const ageDescription =
  "CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be " +
  "set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form " +
  "and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: " +
  "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata";

const ageColumn: JsonObject = {
  name: "Age",
  type: "date",
  description: ageDescription,
  jsonPath: ".metadata.creationTimestamp",
};

interface PathColumn {
  readonly column: Column;
  readonly path: JsonPath;
}

/** The table of one version. @param columns its additionalPrinterColumns */
export function tableOf(columns: readonly JsonObject[]): Table {
  const paths = readable(columns.length === 0 ? [ageColumn] : columns);
  const name: Column = { name: "Name", type: "string", format: "name", description: nameDescription, priority: 0 };
  return {
    columns: [name, ...paths.map(({ column }) => column)],
    cells: (
      object,
      now,
    ) => [nameOf(object), ...paths.map(({ column, path }) => cellOf(column, path.find(object), now))],
  };
}

/** Columns up to the first whose path cannot be read: as the real server has it. */
function readable(columns: readonly JsonObject[]): readonly PathColumn[] {
  const made: PathColumn[] = [];
  try {
    for (const json of columns) made.push({ column: columnOf(json), path: new JsonPath(text(json, "jsonPath")) });
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  return made;
}

function columnOf(json: JsonObject): Column {
  const priority = read(json, "priority");
  const described = text(json, "description");
  const path = text(json, "jsonPath");
  return {
    name: text(json, "name"),
    type: columnType(text(json, "type")),
    format: text(json, "format"),
    description: described === "" ? `Custom resource definition column (in JSONPath format): ${path}` : described,
    priority: typeof priority === "number" ? priority : 0,
  };
}

function columnType(type: string): Column["type"] {
  switch (type) {
    case "integer":
    case "number":
    case "boolean":
    case "date":
      return type;
    default:
      return "string";
  }
}

function cellOf(column: Column, found: readonly Json[] | undefined, now: number): Json {
  const value = found?.[0];
  if (value === undefined) return null;
  switch (column.type) {
    case "string":
      return printed(value);
    case "integer":
      return typeof value === "number" ? Math.trunc(value) : null;
    case "number":
      return typeof value === "number" ? value : null;
    case "boolean":
      return typeof value === "boolean" ? value : null;
    case "date":
      return typeof value === "string" ? ageOf(value, now) : null;
    default:
      return column.type satisfies never;
  }
}

function printed(value: Json): string {
  if (value === null) return "<no value>";
  if (isJsonArray(value) || isJsonObject(value)) return goJson(value);
  if (typeof value === "number") return Number.isSafeInteger(value) ? String(value) : goFloat(value);
  return String(value);
}

/** How long ago an instant was. */
function ageOf(written: string, now: number): string {
  if (written === "") return "<unknown>";
  const at = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/.test(written)
    ? Date.parse(written)
    : NaN;
  return Number.isNaN(at) ? "<invalid>" : humanDuration(now - at);
}

/** A span of time as kubectl shows ages: `5m`, `3h10m`, `2d`. @param ms milliseconds */
export function humanDuration(ms: number): string {
  const seconds = Math.trunc(ms / 1000);
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 10) return withRest(minutes, "m", seconds % 60, "s");
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 8) return withRest(hours, "h", minutes % 60, "m");
  if (hours < 48) return `${hours}h`;
  const days = Math.floor(hours / 24);
  if (hours < 24 * 8) return withRest(days, "d", hours % 24, "h");
  if (days < 365 * 2) return `${days}d`;
  const years = Math.floor(days / 365);
  return days < 365 * 8 ? withRest(years, "y", days % 365, "d") : `${years}y`;
}

function withRest(count: number, unit: string, rest: number, restUnit: string): string {
  return rest === 0 ? `${count}${unit}` : `${count}${unit}${rest}${restUnit}`;
}

function nameOf(object: JsonObject): string {
  const metadata = read(object, "metadata");
  return isJsonObject(metadata) ? text(metadata, "name") : "";
}

function text(json: JsonObject, key: string): string {
  const value = read(json, key);
  return typeof value === "string" ? value : "";
}
