/**
 * The decoder of this folder: where a value the API server sent becomes an object of a Resource's type. The one place with
 * a type assertion.
 */
import type { Infer, Resource } from "../api/mod.ts";
import type { CustomResource, ParseIssue } from "../schema/mod.ts";

/** What became of checking an object. */
export type CheckedObject<T> =
  | { readonly kind: "valid"; readonly object: T }
  | { readonly kind: "invalid"; readonly issues: readonly ParseIssue[] };

/**
 * Checks `value` against the schema of a kind that brings one; other kinds were checked by the API server. The object is
 * handed on as it came, without the defaults a parser would set: what is sent back is compared with it.
 */
export function checkedObject<R extends Resource>(resource: R, value: unknown): CheckedObject<Infer<R>> {
  if (isCustom(resource)) {
    const parsed = resource.safeParse(value);
    if (parsed.kind === "invalid") return parsed;
  }
  return { kind: "valid", object: typedObject(resource, value) };
}

/** Takes `value` for what the API server says it is. */
export function typedObject<R extends Resource>(_resource: R, value: unknown): Infer<R> {
  return value as Infer<R>;
}

/** Freezes a JSON value all the way down, so that changing it in place throws instead of being overlooked. */
export function deepFrozen<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const item of Object.values(value)) deepFrozen(item);
  return Object.freeze(value);
}

/** Deletion was asked for; only its finalizers hold the object. */
export function isBeingDeleted(object: unknown): boolean {
  const metadata = fieldOf(object, "metadata");
  return typeof fieldOf(metadata, "deletionTimestamp") === "string";
}

/** An own field of a value that may be anything. */
export function fieldOf(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
  const found: unknown = Reflect.get(value, name);
  return found;
}

function isCustom(resource: Resource): resource is CustomResource {
  return typeof fieldOf(resource, "safeParse") === "function";
}
