/**
 * The decoder of this folder: where a value the API server sent becomes an object of a Resource's type. The one place with
 * type assertions.
 */
import { endOfString, type Infer, parseFiniteJson, type Resource } from "../api/mod.ts";
import type { JsonObject } from "../cel/mod.ts";
import type { CustomResource, ParseIssue } from "../schema/mod.ts";

/** The result of validating an object. */
export type CheckedObject<T> =
  | { readonly kind: "valid"; readonly object: T }
  | { readonly kind: "invalid"; readonly issues: readonly ParseIssue[] };

/**
 * Validates `value` against the schema of its kind, if the kind has one; the API server has validated other kinds.
 * Returns the object as it came, without defaults: the webhook compares its result with it to compute the patch.
 */
export function checkedObject<R extends Resource>(resource: R, value: unknown): CheckedObject<Infer<R>> {
  if (isCustom(resource)) {
    // Not the CEL rules: a later default may satisfy them, and the API server has them itself.
    const parsed = resource.safeParse(value, { rules: "skip" });
    if (parsed.kind === "invalid") return parsed;
  }
  return { kind: "valid", object: typedObject(resource, value) };
}

/**
 * The first field of an object that does not have the type of its kind, as `spec.replicas: expected a number`; undefined
 * when there is none. Without a schema only the outermost fields are known.
 */
export function misshapenField(resource: Resource, value: unknown): string | undefined {
  const checked = checkedObject(resource, value);
  if (checked.kind === "invalid") return checked.issues.map(({ path, message }) => `${path}: ${message}`)[0];
  const names = ["metadata", "spec", "status", "data"];
  const wrong = names.find((name) => {
    const field = fieldOf(value, name);
    return field !== undefined && (typeof field !== "object" || field === null || Array.isArray(field));
  });
  return wrong === undefined ? undefined : `${wrong}: expected an object`;
}

/** Returns `value` with the type that the API server says it has. */
export function typedObject<R extends Resource>(_resource: R, value: unknown): Infer<R> {
  return value as Infer<R>;
}

/** Returns `value`, which was parsed from JSON, as JSON; {} for what is not an object. */
export function jsonObject(value: unknown): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value as JsonObject : {};
}

/** Lists with more items are not frozen: Bun needs a second for a million items, and a list of one object is short. */
const maxFrozenItems = 10_000;

/** Freezes a JSON value deeply, so that changing it in place throws. */
export function deepFrozen<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  // Not Object.values, which is slow for lists on Bun.
  for (const item of Array.isArray(value) ? value : Object.values(value)) {
    if (typeof item === "object") deepFrozen(item);
  }
  return Array.isArray(value) && value.length > maxFrozenItems ? value : Object.freeze(value);
}

/** True when the object has a deletionTimestamp: it exists only until its finalizers are removed. */
export function isBeingDeleted(object: unknown): boolean {
  const metadata = fieldOf(object, "metadata");
  return typeof fieldOf(metadata, "deletionTimestamp") === "string";
}

/** An own property of a value of any type. */
export function fieldOf(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
  const found: unknown = Reflect.get(value, name);
  return found;
}

/** What a function returned, for the message that it is not what its type says: `a list`, `undefined`, `a Promise`. */
export function describeReturned(value: unknown): string {
  if (value === undefined || value === null) return String(value);
  if (Array.isArray(value)) return "a list";
  return value instanceof Promise ? "a Promise" : `a value of type ${typeof value}`;
}

function isCustom(resource: Resource): resource is CustomResource {
  return typeof fieldOf(resource, "safeParse") === "function";
}

/** The result of parsing a text. */
type ParsedJson =
  | { readonly kind: "parsed"; readonly value: unknown }
  | { readonly kind: "malformed"; readonly message: string };

/** Deepest nesting of JSON. kube-apiserver itself stops at 10000, and real objects need about 20. */
const maxDepth = 200;
/** The most fields of one object. An object of 1.5 MiB with more would have less than 16 bytes for each. */
const maxFields = 100_000;
/** The most integers that need a bigint. Real objects have a few; each costs 300 bytes while it is parsed. */
const maxExactIntegers = 10_000;
/**
 * The most bytes that a parsed body may need, as `weights` estimates them. Two objects of 1.5 MiB with a text in every 15
 * bytes need less than those of an AdmissionReview; a ConversionReview has all objects of a list.
 */
export const maxParsedBytes = { admission: 24 * 1024 * 1024, conversion: 40 * 1024 * 1024 } as const;

/** Bytes in memory, measured on Bun for bodies of one kind. The characters of texts are not counted: 7 MiB limits them. */
const weights = {
  container: 80,
  /** A value that is a text. */
  text: 80,
  /** An item of a list, or a field. A growing list has room for as many items again. */
  item: 24,
  /** A field of an object with more fields than `wideFields`, which becomes a hash table. */
  wideField: 80,
  /** The fields of an object in their order. The engine describes each shape once; {@link Shapes} counts them. */
  shape: 500,
} as const;

/** Objects with more fields have no shape. */
const wideFields = 64;

/** A number with fewer digits is exact. The longest int64 has 19. */
const minExactDigits = 16, maxExactDigits = 19;

const quote = 34, comma = 44, colon = 58;

/** Parses the JSON of an untrusted client: limits its structure first, and returns errors instead of throwing them. */
export function parseJson(text: string, maxBytes: number = maxParsedBytes.admission): ParsedJson {
  if (text === "") return { kind: "malformed", message: "the request body is empty" };
  const excess = excessOf(text, maxBytes);
  if (excess !== undefined) return { kind: "malformed", message: excess };
  try {
    const value = parseFiniteJson(text);
    return { kind: "parsed", value };
  } catch {
    return { kind: "malformed", message: "the request body is not JSON" };
  }
}

/** What a text has too much of, counted before it is parsed; undefined when it is within the limits. */
function excessOf(text: string, maxBytes: number): string | undefined {
  // Nearly every object: too short for anything but nesting, because no character weighs more than a shape.
  if (text.length * weights.shape <= maxBytes) return isTooDeep(text) ? tooDeep : undefined;
  /** The fields of the object at each depth. */
  const fields = new Uint32Array(maxDepth + 1);
  const shapes = new Shapes();
  let depth = 0, bytes = 0, exactIntegers = 0, textAt = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    switch (code) {
      case quote:
        textAt = at;
        at = endOfString(text, at);
        bytes += weights.text;
        break;
      case colon: {
        const count = (fields[depth] ?? 0) + 1;
        fields[depth] = count;
        if (count > maxFields) return `an object has more than ${maxFields} fields`;
        // The text before it was a name.
        bytes -= weights.text;
        if (count > wideFields) bytes += weights.wideField;
        else if (shapes.add(depth, text, textAt, at)) bytes += weights.shape;
        break;
      }
      case comma:
        bytes += weights.item;
        break;
      case 91: // [
      case 123: // {
        if (++depth > maxDepth) return tooDeep;
        fields[depth] = 0;
        shapes.begin(depth);
        bytes += weights.container;
        break;
      case 93: // ]
      case 125: // }
        if (depth > 0) depth--;
        break;
      default: {
        if (!isDigit(code)) break;
        const start = at;
        while (isDigit(text.charCodeAt(at + 1))) at++;
        if (at + 1 - start < minExactDigits || !isExactInteger(text, start, at + 1)) break;
        if (++exactIntegers > maxExactIntegers) return `JSON has more than ${maxExactIntegers} integers beyond 2^53`;
      }
    }
    if (bytes > maxBytes) return `JSON has more objects, fields and values than ${maxBytes} bytes can hold`;
  }
  return undefined;
}

const tooDeep = `JSON is nested deeper than ${maxDepth}`;

/** True if a text that may be JSON is nested too deeply. */
function isTooDeep(text: string): boolean {
  // Without so many brackets, there is nothing to scan.
  if (!hasMore("{", text, maxDepth / 2) && !hasMore("[", text, maxDepth / 2)) return false;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) at = endOfString(text, at);
    else if (code === 91 || code === 123) depth++; // [ {
    else if ((code === 93 || code === 125) && depth > 0) depth--; // ] }
    if (depth > maxDepth) return true;
  }
  return false;
}

/** True if `character` occurs more than `count` times. */
function hasMore(character: string, text: string, count: number): boolean {
  let left = count;
  for (let at = text.indexOf(character); at >= 0; at = text.indexOf(character, at + 1)) if (--left < 0) return true;
  return false;
}

/** Nobody can choose names that have the same hash. */
const hashSeed = crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;
const shapeBits = 20;

/** Counts the different shapes of objects. Two shapes with the same hash count once. */
class Shapes {
  readonly #seen = new Uint8Array(2 ** shapeBits / 8);
  /** The shape of the open object at each depth, so far. */
  readonly #hashes = new Uint32Array(maxDepth + 1);

  /** Begins an object. */
  begin(depth: number): void {
    this.#hashes[depth] = hashSeed;
  }

  /** Adds the field whose name is between `start` and `end`. @returns true for a new shape */
  add(depth: number, text: string, start: number, end: number): boolean {
    let hash = this.#hashes[depth] ?? 0;
    for (let at = start; at < end; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 16777619);
    this.#hashes[depth] = hash;
    const index = (hash ^ (hash >>> 15)) >>> (32 - shapeBits), bit = 1 << (index & 7), byte = index >>> 3;
    const seen = this.#seen[byte] ?? 0;
    this.#seen[byte] = seen | bit;
    return (seen & bit) === 0;
  }
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

/** True for digits that are an integer which no number represents, and not a part of a fraction or of an exponent. */
function isExactInteger(text: string, start: number, end: number): boolean {
  if (end - start > maxExactDigits || ".eE+".includes(text.charAt(start - 1))) return false;
  const isPart = end < text.length && ".eE".includes(text.charAt(end));
  return !isPart && !Number.isSafeInteger(Number(text.slice(start, end)));
}
