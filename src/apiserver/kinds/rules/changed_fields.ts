/**
 * changedFields(): names the fields that an update must not change but does. The messages of the real server end with a diff
 * of Go structs in their place; the conformance comparison masks both.
 */
import { isJsonArray, isJsonObject, isSameJson, type Json, read } from "../../model/mod.ts";
import type { FieldPath } from "./problems.ts";

/** The number of changed fields that the text names; the others are counted. */
const maxNamed = 8;

/**
 * @param path of the two values
 * @returns e.g. `this update changes "spec.nodeName" and "spec.containers[0].command"`
 */
export function changedFields(before: Json, after: Json, path: FieldPath): string {
  const paths = changedPaths(before, after, path).map((each) => JSON.stringify(each.toString()));
  const named = paths.slice(0, maxNamed);
  const others = paths.length - named.length;
  const list = others > 0
    ? `${named.join(", ")} and ${others} more`
    : [named.slice(0, -1).join(", "), named.at(-1)].filter((part) => part !== "").join(" and ");
  return `this update changes ${list}`;
}

function changedPaths(before: Json, after: Json, path: FieldPath): readonly FieldPath[] {
  if (isSameJson(before, after)) return [];
  if (isJsonObject(before) && isJsonObject(after)) {
    const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
    return keys.flatMap((key) => changedPaths(read(before, key) ?? null, read(after, key) ?? null, path.child(key)));
  }
  if (isJsonArray(before) && isJsonArray(after) && before.length === after.length) {
    return before.flatMap((item, index) => changedPaths(item, after[index] ?? null, path.index(index)));
  }
  return [path];
}
