/**
 * ShapeCache: who creates objects by the thousand creates the same kind of object each time: other names and values, the
 * same fields. Which fields a creator owns depends on the fields alone, so the answer for one object is that for the next.
 *
 * It remembers one shape per kind and manager. Objects have the same shape when all their keys are the same and their lists
 * equal: items of a list may be told apart by what is in them.
 */
import { type Draft, type DraftValue, isDraft, isSameJson, type Kind, read } from "../model/mod.ts";

interface Known {
  readonly shape: Draft;
  /** `metadata.managedFields[0]` without its time, deeply frozen: it is shared by all objects of the shape. */
  readonly entry: Draft;
}

/** Managers remembered per kind; one more and all are forgotten. */
const mostManagers = 32;

/** What creators own, by kind and manager. */
export class ShapeCache {
  readonly #kinds = new WeakMap<Kind, Map<string, Known>>();

  /** The managedFields of a new object of a shape that is known. */
  find(kind: Kind, manager: string, draft: Draft, time: string): Draft[] | undefined {
    const known = this.#kinds.get(kind)?.get(manager);
    if (known === undefined || !isSameShape(known.shape, draft)) return undefined;
    return [{ ...known.entry, time }];
  }

  /** Remembers what the creator of an object of a shape owns. The shape becomes the cache's. */
  remember(kind: Kind, manager: string, shape: Draft, fields: DraftValue | undefined): void {
    if (!Array.isArray(fields) || fields.length !== 1) return;
    const [entry] = fields;
    if (!isDraft(entry)) return;
    let managers = this.#kinds.get(kind);
    if (managers === undefined) this.#kinds.set(kind, managers = new Map());
    if (managers.size >= mostManagers) managers.clear();
    managers.set(manager, { shape, entry: frozen({ ...entry }) });
  }
}

function isSameShape(known: DraftValue, value: DraftValue): boolean {
  if (known === null) return value === null;
  if (typeof known !== "object") return typeof value !== "object";
  if (Array.isArray(known)) return isSameJson(known, value);
  if (!isDraft(value)) return false;
  const keys = Object.keys(known);
  if (keys.length !== Object.keys(value).length) return false;
  for (const key of keys) {
    const other = read(value, key);
    if (other === undefined || !isSameShape(known[key] ?? null, other)) return false;
  }
  return true;
}

/** Frozen all the way down: whoever would change a shared entry finds out. */
function frozen<Value extends DraftValue>(value: Value): Value {
  if (typeof value === "object" && value !== null) { for (const part of Object.values(value)) frozen(part); }
  return Object.freeze(value);
}
