/** Label selectors of stored objects, asked of stored labels. */
import { isSelected, type LabelSelector } from "../../api/mod.ts";
import { isJsonObject, type Json, type JsonObject } from "../model/mod.ts";

/** True when there is no selector, or it takes the labels. The rules of the kind have checked its form. */
export function matchesSelector(selector: Json, labels: JsonObject): boolean {
  if (!isJsonObject(selector)) return true;
  return isSelected(selector as LabelSelector, { metadata: { labels: labels as Readonly<Record<string, string>> } });
}
