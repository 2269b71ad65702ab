/**
 * The decoder: typed objects from the text of the server. It is the one file of the client with type assertions: the
 * server has validated spec and status against the schema of the kind, so they are not checked again, except for the
 * kinds in `response_shape.ts`.
 *
 * Guarantees: an object is of the requested kind and name, and its metadata has the declared types; nesting deeper than 512 levels is a SyntaxError instead of a stack overflow in later code (behaviour 95);
 * `__proto__` is an ordinary key, as in JSON.parse (behaviour 94). withoutManagedFields() removes only the
 * `managedFields` of the metadata of the objects themselves.
 */
import {
  apiVersionOf,
  checkObject,
  keyOf,
  type KubeObject,
  type ListPage,
  parseExactJson,
  type Resource,
  type ResourceVersion,
  wrongType,
} from "../api/mod.ts";
import { inShapeOf } from "./response_shape.ts";

/** Deeper than any schema, less than any stack allows. kube-apiserver accepts 10,000. */
export const maxDepth = 512;

/** Shorter texts are not checked, because they cannot nest deep enough to matter. */
const minCheckedLength = 4096;

/** Options of the decoder. */
export interface DecodeOptions {
  /** Removes `metadata.managedFields`. */
  readonly dropManagedFields: boolean;
}

/** Parses JSON of the server; 64-bit integers are exact. @throws SyntaxError when it is malformed, or nests too deep. */
export function parseJson(text: string): unknown {
  if (text.length >= minCheckedLength) checkDepth(text);
  return parseExactJson(text);
}

/** What the response to a request must be. */
export interface ExpectedObject {
  readonly resource: Resource;
  /** `namespace/name`, or `name`; undefined if the server chooses the name. */
  readonly key: string | undefined;
  /** True if the object may be of another kind, as for a subresource such as `scale`. @default false */
  readonly isOtherKind?: boolean;
}

const partialObject = "PartialObjectMetadata";
const partialList = "PartialObjectMetadataList";

/** Parses one object. @throws SyntaxError when the text is not JSON or not the expected object. */
export function decodeObject<T>(text: string, expected: ExpectedObject): T {
  const value = parseJson(text);
  if (!isObject(value)) throw new SyntaxError("the response is not a JSON object");
  return expectObject(value, expected) as T;
}

/** Checks that a parsed response is the expected object. @throws SyntaxError when it is not */
export function expectObject(value: Record<string, unknown>, expected: ExpectedObject): Record<string, unknown> {
  const { resource, key, isOtherKind = false } = expected;
  const apiVersion = apiVersionOf(resource);
  const isPartial = value.kind === partialObject;
  const isOfKind = isPartial || (value.kind === resource.kind && (value.apiVersion ?? apiVersion) === apiVersion);
  if (value.kind === undefined || (!isOtherKind && !isOfKind)) {
    throw new SyntaxError(`the response is not a ${apiVersion} ${resource.kind}`);
  }
  const problem = checkObject(value);
  if (problem !== undefined) throw new SyntaxError(problem);
  const { metadata } = value as unknown as KubeObject;
  if (metadata.name === undefined) throw new SyntaxError("metadata.name is missing");
  if (key !== undefined && keyOf({ metadata }) !== key) throw new SyntaxError("the response is another object");
  return isPartial || isOtherKind ? value : inShapeOf(resource, value);
}

/** Checks one parsed page of a list, see `list_reader.ts`. @throws SyntaxError when the value is not a list. */
export function decodeList<T>(value: unknown, resource: Resource, options: DecodeOptions): ListPage<T> {
  if (!isObject(value) || !isObject(value.metadata)) throw new SyntaxError("the response is not a list");
  // A Table has rows and a Status nothing: both would be an empty list.
  if (typeof value.kind !== "string" || !value.kind.endsWith("List")) {
    throw new SyntaxError("the response is not a list");
  }
  const { resourceVersion = "", continue: next, shardInfo } = value.metadata;
  if (typeof resourceVersion !== "string") {
    throw new SyntaxError(wrongType("metadata.resourceVersion", resourceVersion, "a string"));
  }
  const items = withTypes(itemsOf(value, resource), value);
  if (options.dropManagedFields) items.forEach((item) => dropManagedFields(item));
  const shardSelector = isObject(shardInfo) && typeof shardInfo.selector === "string" ? shardInfo.selector : undefined;
  const page = {
    items: items as T[],
    resourceVersion: resourceVersion as ResourceVersion,
    ...(shardSelector === undefined ? {} : { shardSelector }),
  };
  return typeof next === "string" && next !== "" ? { ...page, continue: next } : page;
}

function itemsOf(list: Record<string, unknown>, resource: Resource): Partial<KubeObject>[] {
  // Go writes an empty slice of some types as null.
  const items: unknown = list.items ?? [];
  if (!Array.isArray(items)) throw new SyntaxError(wrongType("items", items, "an array"));
  for (let index = 0; index < items.length; index++) {
    const problem = checkObject(items[index]);
    if (problem !== undefined) throw new SyntaxError(`items[${index}]: ${problem}`);
    if (list.kind !== partialList) items[index] = inShapeOf(resource, items[index]);
  }
  return items;
}

/** Adds apiVersion and kind to the items of built-in kinds; the server writes them only once, in the list. */
function withTypes(items: readonly Partial<KubeObject>[], list: Record<string, unknown>): KubeObject[] {
  const apiVersion = String(list.apiVersion ?? "");
  const kind = String(list.kind ?? "").replace(/List$/, "");
  return items.map((item) =>
    (item.kind === undefined || item.apiVersion === undefined ? { apiVersion, kind, ...item } : item) as KubeObject
  );
}

/**
 * Removes `metadata.managedFields` of a parsed object that {@link withoutManagedFields} has left. It makes a new metadata
 * object, because after `delete` V8 uses a slower form of object that takes half as much memory again.
 */
export function dropManagedFields(object: unknown): void {
  const holder = object as { metadata?: { managedFields?: unknown } };
  if (holder.metadata === undefined || holder.metadata === null || holder.metadata.managedFields === undefined) return;
  const { managedFields: _, ...rest } = holder.metadata;
  holder.metadata = rest;
}

/** True for an object of JSON. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Counts all brackets first, which is fast and may only count too many; then, if necessary, those outside strings. */
function checkDepth(text: string): void {
  if (depthOf(text, false) > maxDepth && depthOf(text, true) > maxDepth) {
    throw tooDeep();
  }
}

/** The error for a text that nests deeper than {@link maxDepth}. */
export function tooDeep(): SyntaxError {
  return new SyntaxError(`the response nests deeper than ${maxDepth} levels`);
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

const managedFieldsKey = '"managedFields":[';
const metadataKey = '"metadata":';
const quote = 34, backslash = 92, comma = 44, openBrace = 123, closeBrace = 125;

/** Where the objects are: in `object` of a watch event, or in `items` of a list. */
export type Envelope = "event" | "list";

/** The key of the object or objects, and the depth of their metadata. */
const envelopes = {
  event: { key: '"object":', keyDepth: 2, metadataDepth: 3 },
  list: { key: '"items":', keyDepth: 2, metadataDepth: 4 },
} as const satisfies Record<Envelope, { key: string; keyDepth: number; metadataDepth: number }>;

/**
 * Removes the `metadata.managedFields` of objects from JSON text before it is parsed. This bookkeeping of server-side
 * apply is a third to half of many objects, and controllers do not read it; text that is not parsed costs neither time
 * nor garbage.
 *
 * It removes only what has the exact form that kube-apiserver writes. Any other form (white space, escaped keys) stays,
 * and {@link dropManagedFields} removes it after parsing. Malformed JSON inside the removed part is not noticed.
 *
 * @param onRemoved Called with the place of each array in the text.
 */
export function withoutManagedFields(
  text: string,
  envelope: Envelope,
  onRemoved?: (start: number, end: number) => void,
): string {
  let found = text.indexOf(managedFieldsKey);
  if (found < 0) return text;
  const scanner = new Scanner(text, envelope);
  let result = "";
  let copiedTo = 0;
  for (; found >= 0; found = text.indexOf(managedFieldsKey, scanner.index)) {
    if (!scanner.advance(found)) break;
    if (scanner.index !== found) continue; // It was part of a string.
    const start = found;
    const end = scanner.skipArray(start + managedFieldsKey.length);
    if (end < 0) break;
    const before = text.charCodeAt(start - 1), after = text.charCodeAt(end);
    const isCompact = (before === comma || before === openBrace) && (after === comma || after === closeBrace);
    if (!scanner.isInMetadata || !isCompact) continue;
    onRemoved?.(start, end);
    // One of the two commas is removed too, so that the rest is valid JSON.
    result += text.slice(copiedTo, after !== comma && before === comma ? start - 1 : start);
    copiedTo = after === comma ? end + 1 : end;
  }
  return copiedTo === 0 ? text : result + text.slice(copiedTo);
}

/** Walks over JSON text. It tracks the depth, and whether it is in the metadata of an object. */
class Scanner {
  index = 0;
  #depth = 0;
  #isInEnvelope = false;
  #isMetadata = false;
  readonly #text: string;
  readonly #envelope: (typeof envelopes)[Envelope];

  constructor(text: string, envelope: Envelope) {
    this.#text = text;
    this.#envelope = envelopes[envelope];
  }

  /** True directly inside the metadata of an object, not in a map or array of the metadata. */
  get isInMetadata(): boolean {
    return this.#isMetadata && this.#depth === this.#envelope.metadataDepth;
  }

  /**
   * Goes to `target`. If `target` is inside a string, `index` is behind that string afterwards.
   *
   * @returns false if the text ends in the middle of a string
   */
  advance(target: number): boolean {
    const text = this.#text;
    let index = this.index;
    while (index < target) {
      const code = text.charCodeAt(index);
      if (code === quote) {
        index = stringEnd(text, index);
        if (index < 0) return false;
        continue;
      }
      if ((code | 32) === 123) this.#open(index, code);
      else if ((code | 32) === 125) this.#depth--;
      index++;
    }
    this.index = index;
    return true;
  }

  /** The index behind the end of the array that contains `start`; -1 if the text ends before. */
  skipArray(start: number): number {
    const text = this.#text;
    let depth = 1;
    for (let index = start; index < text.length;) {
      const code = text.charCodeAt(index);
      if (code === quote) {
        index = stringEnd(text, index);
        if (index < 0) return -1;
        continue;
      }
      index++;
      if ((code | 32) === 123) depth++;
      else if ((code | 32) === 125 && --depth === 0) {
        this.index = index;
        return index;
      }
    }
    return -1;
  }

  #open(index: number, code: number): void {
    const { key, keyDepth, metadataDepth } = this.#envelope;
    this.#depth++;
    if (this.#depth === keyDepth) this.#isInEnvelope = isKey(this.#text, key, index);
    else if (this.#depth === metadataDepth) {
      this.#isMetadata = this.#isInEnvelope && code === openBrace && isKey(this.#text, metadataKey, index);
    }
  }
}

/** True if `key` is right before `index` as a whole key, not as the end of a longer one. */
function isKey(text: string, key: string, index: number): boolean {
  const start = index - key.length;
  return start > 0 && text.startsWith(key, start) && text.charCodeAt(start - 1) !== backslash;
}

/** The index behind the string that starts at `index`, or -1. */
function stringEnd(text: string, index: number): number {
  let end = text.indexOf('"', index + 1);
  while (end > 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end < 0 ? -1 : end + 1;
}

/** True if an odd number of backslashes is before `index`. */
function isEscaped(text: string, index: number): boolean {
  let count = 0;
  while (text.charCodeAt(index - 1 - count) === backslash) count++;
  return count % 2 === 1;
}
