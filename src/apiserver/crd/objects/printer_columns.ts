/** The table of a custom resource: the name, and the printer columns of its definition or, without those, the age. */
import {
  type Column,
  goFloat,
  goJson,
  humanDuration,
  isJsonArray,
  isJsonNumber,
  isJsonObject,
  type Json,
  type JsonObject,
  JsonPath,
  read,
  type Table,
} from "../../model/mod.ts";
import { nameOf, textAt } from "../../kinds/mod.ts";

const ageColumn: JsonObject = {
  name: "Age",
  type: "date",
  jsonPath: ".metadata.creationTimestamp",
};

interface PathColumn {
  readonly column: Column;
  readonly path: JsonPath;
}

/** The table of one version. @param columns its additionalPrinterColumns */
export function tableOf(columns: readonly JsonObject[]): Table {
  const paths = readable(columns.length === 0 ? [ageColumn] : columns);
  const name: Column = { name: "Name", type: "string", format: "name", description: "", priority: 0 };
  return {
    columns: [name, ...paths.map(({ column }) => column)],
    cells: (
      object,
      now,
    ) => [nameOf(object), ...paths.map(({ column, path }) => cellOf(column, path.find(object), now))],
  };
}

/** The columns before the first one whose path is invalid, as on the real server. */
function readable(columns: readonly JsonObject[]): readonly PathColumn[] {
  const made: PathColumn[] = [];
  try {
    for (const json of columns) made.push({ column: columnOf(json), path: new JsonPath(textAt(json, "jsonPath")) });
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  return made;
}

function columnOf(json: JsonObject): Column {
  const priority = read(json, "priority");
  return {
    name: textAt(json, "name"),
    type: columnType(textAt(json, "type")),
    format: textAt(json, "format"),
    description: textAt(json, "description"),
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
      return typeof value === "bigint" ? value : typeof value === "number" ? Math.trunc(value) : null;
    case "number":
      return isJsonNumber(value) ? value : null;
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

/** The time since a timestamp. */
function ageOf(written: string, now: number): string {
  if (written === "") return "<unknown>";
  const at = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/.test(written)
    ? Date.parse(written)
    : NaN;
  return Number.isNaN(at) ? "<invalid>" : humanDuration(now - at);
}
