/**
 * Converts stored objects to the version of a request, and drafts to the storage version. Usually both are the same, and the
 * result is the stored object itself. A converted object is cached for the lifetime of the stored one.
 */
import { apiVersionOf } from "../../api/mod.ts";
import type { JsonObject, Kind } from "../model/mod.ts";
import type { StoredObject } from "../storage/mod.ts";
import { type Representation, represented } from "./call.ts";

const converted = new WeakMap<StoredObject, Map<Kind, Representation>>();

const heads = new WeakMap<Kind, string>();

/** True when the stored version is that of the kind. It compares the start of the JSON, to avoid parsing the object. */
export function isShownAsStored(stored: StoredObject, kind: Kind): boolean {
  let head = heads.get(kind);
  if (head === undefined) {
    head = `{"apiVersion":${JSON.stringify(apiVersionOf(kind))},"kind":${JSON.stringify(kind.kind)},`;
    heads.set(kind, head);
  }
  return stored.json.startsWith(head) && (kind.shown === undefined || kind.shown(stored.object) === stored.object);
}

/** A stored object in the version of a kind. */
export function represent(stored: StoredObject, kind: Kind): Representation | Promise<Representation> {
  if (isShownAsStored(stored, kind)) return stored;
  const known = converted.get(stored)?.get(kind);
  if (known !== undefined) return known;
  const conversion = kind.convert([stored.object]);
  return conversion instanceof Promise
    ? conversion.then((objects) => remember(stored, kind, objects[0]))
    : remember(stored, kind, conversion[0]);
}

/** An object that is not stored, as clients see it. */
export function representDraft(object: JsonObject, kind: Kind): Representation {
  return represented(kind.shown?.(object) ?? object);
}

/** The result of a dry run: what a client would see if the object, which is in the storage version, was stored. */
export function representDryRun(object: JsonObject, kind: Kind): Representation | Promise<Representation> {
  if (object["apiVersion"] === apiVersionOf(kind)) return representDraft(object, kind);
  const conversion = kind.convert([object]);
  const show = (objects: readonly JsonObject[]) => representDraft(first(objects, kind), kind);
  return conversion instanceof Promise ? conversion.then(show) : show(conversion);
}

/** A stored object in the version of a kind, with what clients do not see. */
export async function inVersion(stored: StoredObject, kind: Kind): Promise<JsonObject> {
  const isSameVersion = stored.object["apiVersion"] === apiVersionOf(kind);
  return isSameVersion ? stored.object : (await represent(stored, kind)).object;
}

/** Several objects, with one call of a conversion webhook. */
export function representAll(
  items: readonly StoredObject[],
  kind: Kind,
): readonly Representation[] | Promise<readonly Representation[]> {
  const others = items.filter((item) => !isShownAsStored(item, kind) && !converted.get(item)?.has(kind));
  if (others.length === 0) return items.map((item) => converted.get(item)?.get(kind) ?? item);
  const conversion = kind.convert(others.map((item) => item.object));
  const merge = (objects: readonly JsonObject[]): readonly Representation[] => {
    others.forEach((item, index) => remember(item, kind, objects[index]));
    return items.map((item) => converted.get(item)?.get(kind) ?? item);
  };
  return conversion instanceof Promise ? conversion.then(merge) : merge(conversion);
}

/** An object in the storage version. */
export function toStorage(object: JsonObject, kind: Kind, storage: Kind): JsonObject | Promise<JsonObject> {
  if (kind === storage) return object;
  const conversion = storage.convert([object], "stored");
  return conversion instanceof Promise ? conversion.then((objects) => first(objects, kind)) : first(conversion, kind);
}

function remember(stored: StoredObject, kind: Kind, object: JsonObject | undefined): Representation {
  if (object === undefined) {
    throw new Error(`Cannot convert ${kind.plural} "${stored.key}": the converter returned no object`);
  }
  const result = representDraft(object, kind);
  const versions = converted.get(stored);
  if (versions === undefined) converted.set(stored, new Map([[kind, result]]));
  else versions.set(kind, result);
  return result;
}

function first(objects: readonly JsonObject[], kind: Kind): JsonObject {
  const [object] = objects;
  if (object === undefined) {
    throw new Error(`Cannot convert an object of ${kind.plural}: the converter returned no object`);
  }
  return object;
}
