/**
 * What JSON.parse does not report about a text: its depth, and duplicate keys. One fast pass counts the members of all objects;
 * if the parsed value has fewer, a slow second pass finds the duplicate keys.
 */
import { StatusError } from "../model/mod.ts";

/** The result of the first pass. */
export interface Structure {
  readonly depth: number;
  /** Members of all objects, duplicates counted. */
  readonly members: number;
  /** All objects and lists. */
  readonly collections: number;
}

const quote = 34;
const comma = 44;
const colon = 58;
const openList = 91;
const backslash = 92;
const closeList = 93;
const openObject = 123;
const closeObject = 125;

/** The maximum depth of a value. The decoder of Go allows 10000; no real object comes near that. */
export const maxDepth = 1000;

/** Objects and lists of a body. Each costs ten microseconds where a kind has many defaults and rules. */
const maxCollections = 120_000;

/** @throws StatusError 413 when a body has too many objects and lists */
export function checkCollections(count: number): void {
  if (count <= maxCollections) return;
  const message = `Request entity too large: it has more than ${maxCollections} objects and lists`;
  throw new StatusError(413, "RequestEntityTooLarge", message);
}

/** Counts depth and members. For a text that is not JSON, the numbers have no meaning. */
export function structureOf(text: string): Structure {
  let [depth, maxDepth, members, collections] = [0, 0, 0, 0];
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === quote) index = stringEnd(text, index);
    else if (code === colon) members++;
    else if (code === openObject || code === openList) {
      depth++;
      collections++;
      if (depth > maxDepth) maxDepth = depth;
    } else if (code === closeObject || code === closeList) depth--;
  }
  return { depth: maxDepth, members, collections };
}

/** The bracket that opens the first value deeper than `limit`, where a decoder stops. */
export function openingAt(text: string, limit: number): string {
  let depth = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === quote) index = stringEnd(text, index);
    else if (code === closeObject || code === closeList) depth--;
    else if ((code === openObject || code === openList) && ++depth > limit) return text[index] ?? "";
  }
  return "";
}

/** Index of the closing quote of the string that begins at `start`. */
export function stringEnd(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end > 0) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === backslash) slashes++;
    if (slashes % 2 === 0) return end;
    end = text.indexOf('"', end + 1);
  }
  return text.length;
}

/** The number of members of all objects in a value. */
export function membersOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === "object") count += membersOf(item);
    return count;
  }
  for (const item of Object.values(value)) {
    count++;
    if (typeof item === "object") count += membersOf(item);
  }
  return count;
}

/** An object or list that the second pass has entered. */
interface Level {
  readonly path: string;
  /** The keys seen so far; undefined for a list. */
  readonly keys: Set<string> | undefined;
  key: string;
  index: number;
}

/** The most duplicate keys that are reported, as `sigs.k8s.io/json`. */
const maxDuplicates = 100;
/** The most characters of their paths: each may be as long as the text. */
const maxPathCharacters = 64 * 1024;

/** The paths of the first duplicate keys, as a strict decoder reports them: `spec.ports[0].name`. */
export function duplicateKeys(text: string): readonly string[] {
  const found: string[] = [];
  const levels: Level[] = [];
  let isKeyNext = false;
  let [counted, characters] = [0, 0];
  for (let at = 0; at < text.length; at++) {
    for (; counted < found.length; counted++) characters += found[counted]?.length ?? 0;
    if (counted >= maxDuplicates || characters > maxPathCharacters) break;
    const code = text.charCodeAt(at);
    const level = levels.at(-1);
    if (code === quote) {
      const end = stringEnd(text, at);
      if (isKeyNext && level?.keys !== undefined) addKey(level, JSON.parse(text.slice(at, end + 1)), found);
      at = end;
      isKeyNext = false;
    } else if (code === openObject || code === openList) {
      const keys = code === openObject ? new Set<string>() : undefined;
      levels.push({ path: pathBelow(level), keys, key: "", index: 0 });
      isKeyNext = code === openObject;
    } else if (code === closeObject || code === closeList) {
      levels.pop();
      isKeyNext = false;
    } else if (code === comma && level !== undefined) {
      level.index++;
      isKeyNext = level.keys !== undefined;
    }
  }
  return found;
}

function addKey(level: Level, key: unknown, found: string[]): void {
  if (typeof key !== "string") return;
  level.key = key;
  if (level.keys?.has(key) === true) found.push(level.path === "" ? key : `${level.path}.${key}`);
  level.keys?.add(key);
}

function pathBelow(level: Level | undefined): string {
  if (level === undefined) return "";
  if (level.keys === undefined) return `${level.path}[${level.index}]`;
  return level.path === "" ? level.key : `${level.path}.${level.key}`;
}
