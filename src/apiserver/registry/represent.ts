/**
 * From what is stored to what a version of a kind shows, and back. Where both are the same, which is nearly always, the
 * stored object itself is answered; a converted one is remembered for as long as the stored one lives.
 */
import { apiVersionOf } from "../../api/mod.ts";
import type { JsonObject, Kind } from "../model/mod.ts";
import type { StoredObject } from "../storage/mod.ts";
import { type Representation, represented } from "./call.ts";

const converted = new WeakMap<StoredObject, Map<Kind, Representation>>();

const heads = new WeakMap<Kind, string>();

/** True when the stored object is as the kind shows it: told by how its text begins, so that nobody has to read all of it. */
export function isShownAsStored(stored: StoredObject, kind: Kind): boolean {
  let head = heads.get(kind);
  if (head === undefined) {
    head = `{"apiVersion":${JSON.stringify(apiVersionOf(kind))},"kind":${JSON.stringify(kind.kind)},`;
    heads.set(kind, head);
  }
  return stored.json.startsWith(head);
}

/** A stored object as a kind shows it. */
export function represent(stored: StoredObject, kind: Kind): Representation | Promise<Representation> {
  if (isShownAsStored(stored, kind)) return stored;
  const known = converted.get(stored)?.get(kind);
  if (known !== undefined) return known;
  const answer = kind.convert([stored.object]);
  return answer instanceof Promise
    ? answer.then((objects) => remember(stored, kind, objects[0]))
    : remember(stored, kind, answer[0]);
}

/** Several at once, so that a conversion webhook is asked once. */
export function representAll(
  items: readonly StoredObject[],
  kind: Kind,
): readonly Representation[] | Promise<readonly Representation[]> {
  const foreign = items.filter((item) => !isShownAsStored(item, kind) && !converted.get(item)?.has(kind));
  if (foreign.length === 0) return items.map((item) => converted.get(item)?.get(kind) ?? item);
  const answer = kind.convert(foreign.map((item) => item.object));
  const merge = (objects: readonly JsonObject[]): readonly Representation[] => {
    foreign.forEach((item, index) => remember(item, kind, objects[index]));
    return items.map((item) => converted.get(item)?.get(kind) ?? item);
  };
  return answer instanceof Promise ? answer.then(merge) : merge(answer);
}

/** An object of any version of a kind as the storage takes it. */
export function toStorage(object: JsonObject, kind: Kind, storage: Kind): JsonObject | Promise<JsonObject> {
  if (kind === storage) return object;
  const answer = storage.convert([object]);
  return answer instanceof Promise ? answer.then((objects) => first(objects, kind)) : first(answer, kind);
}

function remember(stored: StoredObject, kind: Kind, object: JsonObject | undefined): Representation {
  if (object === undefined) throw new Error(`Cannot convert ${kind.plural} "${stored.key}": the converter lost it`);
  const result = represented(object);
  const versions = converted.get(stored);
  if (versions === undefined) converted.set(stored, new Map([[kind, result]]));
  else versions.set(kind, result);
  return result;
}

function first(objects: readonly JsonObject[], kind: Kind): JsonObject {
  const [object] = objects;
  if (object === undefined) throw new Error(`Cannot convert an object of ${kind.plural}: the converter lost it`);
  return object;
}
