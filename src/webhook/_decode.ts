/**
 * The decoder of this folder: where a value the API server sent becomes an object of a Resource's type. The one place with
 * a type assertion.
 */
import { type Infer, parseExactJson, type Resource } from "../api/mod.ts";
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
    const parsed = resource.safeParse(value);
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

/** Returns `value` with the type that the API server says it has. The only type assertion of this folder. */
export function typedObject<R extends Resource>(_resource: R, value: unknown): Infer<R> {
  return value as Infer<R>;
}

/** Lists with more items are not frozen: Bun needs a second for a million items, and a list of one object is short. */
const maxFrozenItems = 10_000;

/** Freezes a JSON value deeply, so that changing it in place throws. */
export function deepFrozen<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  // Not Object.values, which is slow for lists on Bun.
  if (Array.isArray(value)) { for (const item of value) deepFrozen(item); }
  else for (const item of Object.values(value)) deepFrozen(item);
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

function isCustom(resource: Resource): resource is CustomResource {
  return typeof fieldOf(resource, "safeParse") === "function";
}

/** The result of parsing a text. */
type ParsedJson =
  | { readonly kind: "parsed"; readonly value: unknown }
  | { readonly kind: "malformed"; readonly message: string };

/** Deepest nesting of JSON. kube-apiserver itself stops at 10000, and real objects need about 20. */
const maxDepth = 200;
/**
 * The most objects and lists of a body. Two objects of 1.5 MiB, the limit of etcd, have fewer; each costs 60 bytes and more
 * in memory, and a body of 6 MB could have two million.
 */
const maxContainers = 400_000;
/** The most fields of one object. An object of 1.5 MiB with more would have less than 16 bytes for each. */
const maxFields = 100_000;

const quote = 34, backslash = 92, colon = 58;

/** Parses the JSON of an untrusted client: limits its structure first, and returns errors instead of throwing them. */
export function parseJson(text: string): ParsedJson {
  if (text === "") return { kind: "malformed", message: "the request body is empty" };
  const excess = excessOf(text);
  if (excess !== undefined) return { kind: "malformed", message: excess };
  try {
    const value = parseExactJson(text);
    return { kind: "parsed", value };
  } catch {
    return { kind: "malformed", message: "the request body is not JSON" };
  }
}

/** What a text has too much of, counted before it is parsed; undefined when it is within the limits. */
function excessOf(text: string): string | undefined {
  /** The fields of the object at each depth. */
  const fields = new Uint32Array(maxDepth + 1);
  let depth = 0, containers = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case quote:
        at = endOfString(text, at);
        break;
      case colon:
        fields[depth] = (fields[depth] ?? 0) + 1;
        if ((fields[depth] ?? 0) > maxFields) return `an object has more than ${maxFields} fields`;
        break;
      case 91: // [
      case 123: // {
        if (++depth > maxDepth) return `JSON is nested deeper than ${maxDepth}`;
        if (++containers > maxContainers) return `JSON has more than ${maxContainers} objects and lists`;
        fields[depth] = 0;
        break;
      case 93: // ]
      case 125: // }
        if (depth > 0) depth--;
        break;
    }
  }
  return undefined;
}

/** The index of the quote that ends the string which begins at `start`. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text.charCodeAt(at - 1 - slashes) === backslash) slashes++;
    if (slashes % 2 === 0) return at;
  }
  return text.length;
}
