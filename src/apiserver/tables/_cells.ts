/**
 * The vocabulary of tables: what most columns of built-in kinds show, so that a row of a kind is a list of words. Paths are
 * those of the object; whatever differs from kind to kind is written out beside its kind.
 */
import { nameOf, objectAt, textAt } from "../kinds/mod.ts";
import { humanDuration, isJsonArray, isJsonObject, type Json, type JsonObject } from "../model/mod.ts";
import { selectorText } from "./_selector_text.ts";
import { at, numberIn, objectsIn, textIn, textsIn } from "./_values.ts";

/** One cell of an object. @param now milliseconds since 1970 */
export type Cell = (object: JsonObject, now: number) => Json;

/** All cells of an object. */
export type Row = (object: JsonObject, now: number) => readonly Json[];

/** A row of cells that do not need each other. */
export function row(...cells: readonly Cell[]): Row {
  return (object, now) => cells.map((cell) => cell(object, now));
}

/** The rows of some kinds, by `<plural>.<group>`. */
export type Rows = Readonly<Record<string, Row>>;

/** The name. */
export const name: Cell = nameOf;

/** How long ago an object was created. */
export const age: Cell = (object, now) => sinceText(textAt(objectAt(object, "metadata"), "creationTimestamp"), now);

/** When an object was created: what kinds show that have no table of their own. */
export const createdAt: Cell = (object) => textAt(objectAt(object, "metadata"), "creationTimestamp");

/** How long ago an instant was. @param written RFC 3339 */
export function sinceText(written: string, now: number): string {
  return written === "" ? "<unknown>" : humanDuration(now - Date.parse(written));
}

/** How long ago the instant at a path was. */
export function since(path: string, otherwise = "<unknown>"): Cell {
  const find = at(path);
  return (object, now) => {
    const written = textIn(find(object));
    return written === "" ? otherwise : sinceText(written, now);
  };
}

/** A text; where it is empty, another. */
export function text(path: string, otherwise = ""): Cell {
  const find = at(path);
  return (object) => {
    const value = textIn(find(object));
    return value === "" ? otherwise : value;
  };
}

/** A number or a text, as text: a number of Pods or a share of them. */
export function scalar(path: string, otherwise: string): Cell {
  const find = at(path);
  return (object) => {
    const value = find(object);
    return typeof value === "number" || typeof value === "string" ? `${value}` : otherwise;
  };
}

/** A number; 0 where there is none. */
export function integer(path: string): Cell {
  const find = at(path);
  return (object) => numberIn(find(object));
}

/** A number; a text where there is none. */
export function integerOr(path: string, otherwise: string): Cell {
  const find = at(path);
  return (object) => {
    const value = find(object);
    return typeof value === "number" ? value : otherwise;
  };
}

/** True or false. */
export function flag(path: string, otherwise = false): Cell {
  const find = at(path);
  return (object) => {
    const value = find(object);
    return typeof value === "boolean" ? value : otherwise;
  };
}

/** How many items of a list or keys of a map there are. */
export function count(...paths: readonly string[]): Cell {
  const finders = paths.map(at);
  return (object) => finders.reduce((sum, find) => sum + sizeOf(find(object)), 0);
}

function sizeOf(value: Json | undefined): number {
  if (isJsonArray(value)) return value.length;
  return isJsonObject(value) ? Object.keys(value).length : 0;
}

/** How many of how many: `1/2`. */
export function ratio(part: string, whole: string): Cell {
  const [findPart, findWhole] = [at(part), at(whole)];
  return (object) => `${numberIn(findPart(object))}/${numberIn(findWhole(object))}`;
}

/** Texts with commas between. */
export function joined(path: string, otherwise = ""): Cell {
  const find = at(path);
  return (object) => {
    const value = textsIn(find(object)).join(",");
    return value === "" ? otherwise : value;
  };
}

/** Labels as `a=b,c=d`. */
export function labels(path: string): Cell {
  const find = at(path);
  return (object) => labelsText(find(object));
}

/** Labels as `a=b,c=d`, in the order of their keys. */
export function labelsText(value: Json | undefined): string {
  const entries = isJsonObject(value) ? Object.entries(value) : [];
  return entries.length === 0 ? "<none>" : entries.map(([key, label]) => `${key}=${label}`).sort().join(",");
}

/** A label selector as `a=b,c in (d,e)`. */
export function selector(path: string): Cell {
  const find = at(path);
  return (object) => {
    const made = selectorText(find(object));
    if (made === undefined) return "<error>";
    return made === "" ? "<none>" : made;
  };
}

/** The names and the images of the containers of a Pod's template. @param template the path of the template */
export function containers(template: string): readonly [names: Cell, images: Cell] {
  const find = at(`${template}.spec.containers`);
  const column = (key: string): Cell => (object) =>
    objectsIn(find(object)).map((container) => textAt(container, key)).join(",");
  return [column("name"), column("image")];
}

/** Some texts, and how many more there are. */
export function firstOf(texts: readonly string[], most = 3): string {
  const shown = texts.slice(0, most).join(",");
  return texts.length > most ? `${shown} + ${texts.length - most} more...` : shown;
}
