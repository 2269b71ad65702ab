/**
 * The cells that table rows of many kinds are made of, so that the row of a kind is a list of cells. A cell that only one kind
 * has is written beside that kind.
 *
 * A value that is absent or of the wrong type reads as the zero value of Go, since the real server makes its tables from
 * structs.
 */
import { humanDuration, isJsonArray, isJsonObject, type Json, type JsonObject, read } from "../../model/mod.ts";
import { findObject, nameOf, objectAt, objectsAt, textAt } from "../types/mod.ts";

/** One cell of the row of an object. @param now milliseconds since 1970 */
export type Cell = (object: JsonObject, now: number) => Json;

/** The row of an object: all its cells. */
export type Row = (object: JsonObject, now: number) => readonly Json[];

/** A row of independent cells. */
export function rowOf(...cells: readonly Cell[]): Row {
  return (object, now) => cells.map((cell) => cell(object, now));
}

/** The name. */
export const nameCell: Cell = nameOf;

/** How long ago the object was created. */
export const ageCell: Cell = (object, now) => sinceText(textAt(objectAt(object, "metadata"), "creationTimestamp"), now);

/** When the object was created, for kinds without a table of their own. */
export const createdAtCell: Cell = (object) => textAt(objectAt(object, "metadata"), "creationTimestamp");

/** How long ago a timestamp was. @param written RFC 3339 */
export function sinceText(written: string, now: number): string {
  return written === "" ? "<unknown>" : humanDuration(now - Date.parse(written));
}

/** How long ago the timestamp at a path was. */
export function sinceCell(path: string, otherwise = "<unknown>"): Cell {
  const find = readerOf(path);
  return (object, now) => {
    const written = asText(find(object));
    return written === "" ? otherwise : sinceText(written, now);
  };
}

/** A text, or another one when it is empty. */
export function textCell(path: string, otherwise = ""): Cell {
  const find = readerOf(path);
  return (object) => {
    const value = asText(find(object));
    return value === "" ? otherwise : value;
  };
}

/** A number or a text as text, e.g. a number or a percentage of Pods. */
export function scalarCell(path: string, otherwise: string): Cell {
  const find = readerOf(path);
  return (object) => {
    const value = find(object);
    return typeof value === "number" || typeof value === "string" ? `${value}` : otherwise;
  };
}

/** A number, or 0. */
export function integerCell(path: string): Cell {
  const find = readerOf(path);
  return (object) => asNumber(find(object));
}

/** A number, or a text. */
export function optionalIntegerCell(path: string, otherwise: string): Cell {
  const find = readerOf(path);
  return (object) => {
    const value = find(object);
    return typeof value === "number" ? value : otherwise;
  };
}

/** A boolean. */
export function booleanCell(path: string, otherwise = false): Cell {
  const find = readerOf(path);
  return (object) => {
    const value = find(object);
    return typeof value === "boolean" ? value : otherwise;
  };
}

/** The number of items of lists or keys of maps. */
export function countCell(...paths: readonly string[]): Cell {
  const finders = paths.map(readerOf);
  return (object) => finders.reduce((sum, find) => sum + sizeOf(find(object)), 0);
}

function sizeOf(value: Json | undefined): number {
  if (isJsonArray(value)) return value.length;
  return isJsonObject(value) ? Object.keys(value).length : 0;
}

/** Two numbers: `1/2`. */
export function ratioCell(part: string, whole: string): Cell {
  const [findPart, findWhole] = [readerOf(part), readerOf(whole)];
  return (object) => `${asNumber(findPart(object))}/${asNumber(findWhole(object))}`;
}

/** Texts with commas between them. */
export function joinedCell(path: string, otherwise = ""): Cell {
  const find = readerOf(path);
  return (object) => {
    const value = asTexts(find(object)).join(",");
    return value === "" ? otherwise : value;
  };
}

/** Labels as `a=b,c=d`. */
export function labelsCell(path: string): Cell {
  const find = readerOf(path);
  return (object) => labelsText(find(object));
}

/** Labels as `a=b,c=d`, in the order of their keys. */
export function labelsText(value: Json | undefined): string {
  const entries = isJsonObject(value) ? Object.entries(value) : [];
  return entries.length === 0 ? "<none>" : entries.map(([key, label]) => `${key}=${label}`).sort().join(",");
}

/** A label selector as `a=b,c in (d,e)`. */
export function selectorCell(path: string): Cell {
  const find = readerOf(path);
  return (object) => {
    const made = selectorText(find(object));
    if (made === undefined) return "<error>";
    return made === "" ? "<none>" : made;
  };
}

/** The names and the images of the containers of a Pod template. @param template the path of the template */
export function containerCells(template: string): readonly [names: Cell, images: Cell] {
  const find = readerOf(`${template}.spec.containers`);
  const column = (key: string): Cell => (object) =>
    asObjects(find(object)).map((container) => textAt(container, key)).join(",");
  return [column("name"), column("image")];
}

/** The first texts, and the number of the others. */
export function firstOf(texts: readonly string[], maxShown = 3): string {
  const shown = texts.slice(0, maxShown).join(",");
  return texts.length > maxShown ? `${shown} + ${texts.length - maxShown} more...` : shown;
}

/** Reads a value of an object. */
type ValueReader = (object: JsonObject) => Json | undefined;

/** Makes a reader for a path of fields and indexes of lists: `status.podIPs.0.ip`. */
function readerOf(path: string): ValueReader {
  const keys = path.split(".");
  return (object) => keys.reduce<Json | undefined>(step, object);
}

function step(value: Json | undefined, key: string): Json | undefined {
  if (isJsonArray(value)) return value[Number(key)];
  return isJsonObject(value) ? read(value, key) : undefined;
}

/** The objects of a list. */
function asObjects(value: Json | undefined): readonly JsonObject[] {
  return isJsonArray(value) ? value.filter(isJsonObject) : [];
}

/** The strings of a list. */
export function asTexts(value: Json | undefined): readonly string[] {
  return isJsonArray(value) ? value.filter((item) => typeof item === "string") : [];
}

/** A string, or "". */
export function asText(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

/** A number, or 0. */
export function asNumber(value: Json | undefined): number {
  return typeof value === "number" ? value : 0;
}

/** An annotation of an object. */
export function annotationOf(object: JsonObject, key: string): string | undefined {
  const value = read(objectAt(objectAt(object, "metadata"), "annotations"), key);
  return typeof value === "string" ? value : undefined;
}

/** True for an object that is being deleted. */
export function isDeleted(object: JsonObject): boolean {
  return textAt(objectAt(object, "metadata"), "deletionTimestamp") !== "";
}

/** The first condition of a type. */
export function conditionOf(status: JsonObject, type: string): JsonObject | undefined {
  return objectsAt(status, "conditions").find((condition) => textAt(condition, "type") === type);
}

/** True when the first condition of a type is "True". */
export function isConditionTrue(status: JsonObject, type: string): boolean {
  const condition = conditionOf(status, type);
  return condition !== undefined && textAt(condition, "status") === "True";
}

interface Requirement {
  readonly key: string;
  readonly text: string;
}

/** Formats a LabelSelector; "" when it is empty or absent. @returns undefined when it is invalid */
export function selectorText(selector: Json | undefined): string | undefined {
  if (!isJsonObject(selector)) return "";
  const requirements: Requirement[] = [];
  for (const [key, value] of Object.entries(findObject(selector, "matchLabels") ?? {})) {
    requirements.push({ key, text: `${key}=${value}` });
  }
  for (const expression of objectsAt(selector, "matchExpressions")) {
    const requirement = requirementOf(expression);
    if (requirement === undefined) return undefined;
    requirements.push(requirement);
  }
  const ordered = requirements.sort((left, right) => left.key < right.key ? -1 : left.key > right.key ? 1 : 0);
  return ordered.map(({ text }) => text).join(",");
}

function requirementOf(expression: JsonObject): Requirement | undefined {
  const key = textAt(expression, "key");
  const values = [...asTexts(expression["values"])].sort().join(",");
  switch (textAt(expression, "operator")) {
    case "In":
      return { key, text: `${key} in (${values})` };
    case "NotIn":
      return { key, text: `${key} notin (${values})` };
    case "Exists":
      return { key, text: key };
    case "DoesNotExist":
      return { key, text: `!${key}` };
    default:
      return undefined;
  }
}

/** A LabelSelector as Go's generated code prints the struct, which one column shows. */
export function selectorStruct(selector: JsonObject): string {
  const labels = Object.entries(findObject(selector, "matchLabels") ?? {}).map(([key, value]) => `${key}: ${value},`);
  const expressions = objectsAt(selector, "matchExpressions").map((expression) =>
    `LabelSelectorRequirement{Key:${textAt(expression, "key")},Operator:${textAt(expression, "operator")},` +
    `Values:[${asTexts(expression["values"]).join(" ")}],},`
  );
  return `&LabelSelector{MatchLabels:map[string]string{${labels.sort().join("")}},` +
    `MatchExpressions:[]LabelSelectorRequirement{${expressions.join("")}},}`;
}
