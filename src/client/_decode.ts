/**
 * The decoder: from the server's text to typed objects. The one file of the client with type assertions; the server
 * validated what it stored, so nothing is checked twice here (architecture.md, facts on zod).
 *
 * Guarantees: nesting deeper than 512 levels is a SyntaxError instead of a stack overflow somewhere later
 * (behaviours.md 95); `__proto__` becomes an ordinary key, as JSON.parse makes it (94).
 */
import type { KubeObject, ListPage, ResourceVersion } from "../api/mod.ts";
import { withoutManagedFields } from "./_managed_fields.ts";

/** Deeper than any schema, shallower than any stack. kube-apiserver itself accepts 10,000. */
const maxDepth = 512;

/** Text of fewer characters cannot nest deep enough to hurt, so it is not scanned. */
const scannedFrom = 4096;

/** Options of the decoder. */
export interface DecodeOptions {
  /** Leaves `metadata.managedFields` out. */
  readonly dropManagedFields: boolean;
}

/** Parses JSON of the server. @throws SyntaxError when it is none, or nests too deep. */
export function parseJson(text: string): unknown {
  if (text.length >= scannedFrom) checkDepth(text);
  return JSON.parse(text);
}

/** Parses one object. @throws SyntaxError when the text is not JSON or not an object. */
export function decodeObject<T>(text: string): T {
  const value = parseJson(text);
  if (!isObject(value)) throw new SyntaxError("the answer is not a JSON object");
  return value as T;
}

/** Parses one page of a list. @throws SyntaxError when the text is no list. */
export function decodeList<T>(text: string, options: DecodeOptions): ListPage<T> {
  const value = parseJson(options.dropManagedFields ? withoutManagedFields(text, "list") : text);
  if (!isObject(value) || !isObject(value.metadata)) throw new SyntaxError("the answer is not a list");
  // Go writes an empty slice of some types as null.
  const found = value.items ?? [];
  if (!Array.isArray(found)) throw new SyntaxError("the answer has no list of items");
  const items = complete(found as Partial<KubeObject>[], value);
  if (options.dropManagedFields) items.forEach((item) => dropManagedFields(item));
  const { resourceVersion, continue: next } = value.metadata;
  const page = { items: items as T[], resourceVersion: (resourceVersion ?? "") as ResourceVersion };
  return typeof next === "string" && next !== "" ? { ...page, continue: next } : page;
}

/** Items of built-in kinds come without apiVersion and kind: the list names them once. An object has them here. */
function complete(items: readonly Partial<KubeObject>[], list: Record<string, unknown>): KubeObject[] {
  const apiVersion = String(list.apiVersion ?? "");
  const kind = String(list.kind ?? "").replace(/List$/, "");
  return items.map((item) =>
    (item.kind === undefined || item.apiVersion === undefined ? { apiVersion, kind, ...item } : item) as KubeObject
  );
}

/**
 * Removes `metadata.managedFields` of a parsed object where the cut in the text has left it. A new metadata object, for
 * `delete` turns V8's objects into slow ones that take half as much memory again.
 */
export function dropManagedFields(object: unknown): void {
  const holder = object as { metadata?: { managedFields?: unknown } };
  if (holder.metadata === undefined || holder.metadata === null || holder.metadata.managedFields === undefined) return;
  const { managedFields: _, ...rest } = holder.metadata;
  holder.metadata = rest;
}

/** True for what JSON calls an object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Counts brackets without regard to strings, which only counts too many; a suspect is then looked at properly. */
function checkDepth(text: string): void {
  if (depthOf(text, false) > maxDepth && depthOf(text, true) > maxDepth) {
    throw new SyntaxError(`the answer nests deeper than ${maxDepth} levels`);
  }
}

function depthOf(text: string, skipsStrings: boolean): number {
  let depth = 0, deepest = 0, inString = false;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (skipsStrings && code === 34) inString = !inString;
    else if (skipsStrings && inString) index += code === 92 ? 1 : 0;
    // One comparison for { and [, one for } and ]: they differ in bit 5 alone.
    else if ((code | 32) === 123 && ++depth > deepest) deepest = depth;
    else if ((code | 32) === 125) depth--;
  }
  return deepest;
}
