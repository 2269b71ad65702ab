/**
 * Paths into a schema (`.spec.replicas`), as printer columns, field selectors and the scale subresource name them.
 * A path that leads nowhere is a slip the server would not notice before somebody misses the column.
 */
import { cannotDefine, type Place } from "./_place.ts";
import type { CrdColumn, CrdScale } from "./crd.ts";
import type { PrinterColumn } from "./resource_options.ts";
import type { StructuralSchema } from "./structural_schema.ts";

/** Most fields a kind may offer to field selectors, as apiextensions validation.go. */
const mostSelectableFields = 8;

/** The columns with their types filled in. @throws TypeError when a path leads nowhere. */
export function columnsOf(columns: readonly PrinterColumn[], root: StructuralSchema, place: Place): CrdColumn[] {
  return columns.map((column) => ({ ...column, type: column.type ?? columnType(column.jsonPath, root, place) }));
}

/** Refuses fields that the server would not select by. */
export function selectableFieldsOf(paths: readonly string[], root: StructuralSchema, place: Place) {
  if (paths.length > mostSelectableFields) {
    throw cannotDefine(
      place,
      `has ${paths.length} selectable fields, the server takes ${mostSelectableFields} at most`,
    );
  }
  return paths.map((jsonPath) => {
    const type = jsonPath.startsWith(".metadata") ? undefined : schemaAt(jsonPath, root)?.type;
    if (type !== "string" && type !== "integer" && type !== "boolean") {
      throw cannotDefine(place, `has the selectable field ${jsonPath}, which is no string, integer or boolean of it`);
    }
    return { jsonPath };
  });
}

/** Refuses a scale subresource whose paths lead nowhere. */
export function scaleOf(scale: CrdScale, root: StructuralSchema, place: Place): CrdScale {
  const { specReplicasPath, statusReplicasPath, labelSelectorPath } = scale;
  if (!specReplicasPath.startsWith(".spec.") || schemaAt(specReplicasPath, root)?.type !== "integer") {
    throw cannotDefine(place, `has the specReplicasPath ${specReplicasPath}, which is no integer under .spec`);
  }
  if (!statusReplicasPath.startsWith(".status.") || schemaAt(statusReplicasPath, root)?.type !== "integer") {
    throw cannotDefine(place, `has the statusReplicasPath ${statusReplicasPath}, which is no integer under .status`);
  }
  if (labelSelectorPath !== undefined && schemaAt(labelSelectorPath, root)?.type !== "string") {
    throw cannotDefine(place, `has the labelSelectorPath ${labelSelectorPath}, which is no string of it`);
  }
  return scale;
}

/** The schema that a path of plain names leads to; undefined when there is none. */
export function schemaAt(path: string, root: StructuralSchema): StructuralSchema | undefined {
  if (!path.startsWith(".")) return undefined;
  let at: StructuralSchema | undefined = root;
  for (const name of path.slice(1).split(".")) {
    const properties: StructuralSchema["properties"] = at?.properties ?? {};
    at = Object.hasOwn(properties, name) ? properties[name] : undefined;
  }
  return at;
}

function columnType(path: string, root: StructuralSchema, place: Place): CrdColumn["type"] {
  if (/^\.metadata\.(creation|deletion)Timestamp$/.test(path)) return "date";
  if (path.startsWith(".metadata.")) return "string";
  const schema = schemaAt(path, root);
  if (schema?.type === undefined || schema.type === "object" || schema.type === "array") {
    throw cannotDefine(place, `has a column with the path ${path}, whose type cannot be told; give its type`);
  }
  return schema.format === "date-time" || schema.format === "date" ? "date" : schema.type;
}
