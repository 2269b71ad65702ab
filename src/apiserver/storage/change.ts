/**
 * Change: what one write did to one object. Histories are made of them, and watchers read them.
 */
import type { OrderedMap } from "./_ordered_map.ts";
import type { StoredObject } from "./stored_object.ts";

/** All objects of a collection at one revision, in the order of their keys. It never changes. */
export type Snapshot = Pick<OrderedMap<StoredObject>, "get" | "rank" | "scan" | "size">;

/** What one write did. */
export interface Change {
  readonly kind: "added" | "modified" | "deleted";
  /** Of the write; unique among all changes of all collections. */
  readonly revision: number;
  /** The state it left; for a deletion the last state, carrying the revision of the deletion. */
  readonly current: StoredObject;
  /** The state it found; undefined for `added`. */
  readonly previous: StoredObject | undefined;
}
