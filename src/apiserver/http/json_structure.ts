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
  /** True inside of a value that is passed over. */
  readonly isSkipped: boolean;
  /** True while the value of the present key is passed over. */
  skipsValue: boolean;
}

/** The most duplicate keys that are reported, as `sigs.k8s.io/json`. */
const maxDuplicates = 100;
/** The most characters of their paths: each may be as long as the text. */
const maxPathCharacters = 64 * 1024;

/** The paths of the first duplicate keys, as a strict decoder reports them: `spec.ports[0].name`. */
export function duplicateKeys(text: string): readonly string[] {
  const found: string[] = [];
  let characters = 0;
  visitKeys(text, (path, isRepeated) => {
    if (!isRepeated) return "enter";
    found.push(path);
    characters += path.length;
    return found.length >= maxDuplicates || characters > maxPathCharacters ? "stop" : "enter";
  });
  return found;
}

/** What follows a key: its value is visited, its value is passed over, or the visit ends. */
type Visit = "enter" | "skip" | "stop";

/** Calls `onKey` for each key of a text, in its order. @param onKey gets the path, and true for a key that the object had before */
function visitKeys(
  text: string,
  onKey: (path: string, isRepeated: boolean, start: number, end: number) => Visit,
): void {
  const levels: Level[] = [];
  let isKeyNext = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const level = levels.at(-1);
    if (code === quote) {
      const end = stringEnd(text, at);
      if (isKeyNext && level?.keys !== undefined && !level.isSkipped) {
        level.key = JSON.parse(text.slice(at, end + 1));
        const path = level.path === "" ? level.key : `${level.path}.${level.key}`;
        const next = onKey(path, level.keys.has(level.key), at, end);
        if (next === "stop") return;
        level.skipsValue = next === "skip";
        level.keys.add(level.key);
      }
      at = end;
      isKeyNext = false;
    } else if (code === openObject || code === openList) {
      const keys = code === openObject ? new Set<string>() : undefined;
      const isSkipped = level !== undefined && (level.isSkipped || level.skipsValue);
      levels.push({ path: isSkipped ? "" : pathBelow(level), keys, key: "", index: 0, isSkipped, skipsValue: false });
      isKeyNext = code === openObject;
    } else if (code === closeObject || code === closeList) {
      levels.pop();
      isKeyNext = false;
    } else if (code === comma && level !== undefined) {
      level.index++;
      level.skipsValue = false;
      isKeyNext = level.keys !== undefined;
    }
  }
}

/**
 * Problems with fields in the order in which Go's decoder finds them in a text. A decoder passes over the value of an unknown
 * field, and reports each problem once.
 *
 * @param problems `unknown field "spec.a"` or `duplicate field "spec.a"`; others stay at the end
 */
export function inTextOrder(text: string, problems: readonly string[]): readonly string[] {
  if (problems.length < 2) return problems;
  const known: ReadonlySet<string> = new Set(problems);
  const pending = new Set(problems);
  const ordered: string[] = [];
  visitKeys(text, (path, isRepeated) => {
    const unknown = `unknown field ${JSON.stringify(path)}`;
    const problem = known.has(unknown) ? unknown : isRepeated ? `duplicate field ${JSON.stringify(path)}` : "";
    if (pending.delete(problem)) ordered.push(problem);
    return pending.size === 0 ? "stop" : problem === unknown ? "skip" : "enter";
  });
  return [...ordered, ...[...pending].filter((problem) => !problem.startsWith("duplicate field "))];
}

/** A text without duplicate keys, and the mark that follows the names of those that were renamed. */
interface RenamedKeys {
  readonly text: string;
  readonly mark: string;
}

/** Gives each repeated key a name of its own, so that JSON.parse keeps its value. */
export function renameRepeatedKeys(text: string): RenamedKeys {
  const mark = `#${crypto.randomUUID()}#`;
  const parts: string[] = [];
  let [copied, count] = [0, 0];
  visitKeys(text, (_path, isRepeated, _start, end) => {
    if (isRepeated) {
      parts.push(text.slice(copied, end), mark, String(count++));
      copied = end;
    }
    return "enter";
  });
  return { text: parts.join("") + text.slice(copied), mark };
}

function pathBelow(level: Level | undefined): string {
  if (level === undefined) return "";
  if (level.keys === undefined) return `${level.path}[${level.index}]`;
  return level.path === "" ? level.key : `${level.path}.${level.key}`;
}
