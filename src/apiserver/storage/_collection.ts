/**
 * Collection: all objects that share one store, their history, and the cursors that read along.
 */
import type { Change } from "./change.ts";
import { ChangeLog } from "./_change_log.ts";
import { Cursor, type CursorOptions } from "./cursor.ts";
import { OrderedMap } from "./_ordered_map.ts";
import { StoredObject } from "./stored_object.ts";

/** All objects of one store. */
export class Collection {
  /** `deployments.apps`. */
  readonly name: string;
  readonly log: ChangeLog;
  #items: OrderedMap<StoredObject>;
  /** By namespace; "" for those that read all of them. */
  readonly #cursors = new Map<string, Set<Cursor>>();

  /** @param from what it begins with: the state and history of another one @default nothing */
  constructor(name: string, from?: Collection) {
    this.name = name;
    this.#items = from?.items ?? OrderedMap.empty();
    this.log = from?.log.copy() ?? new ChangeLog(this.#items);
  }

  get items(): OrderedMap<StoredObject> {
    return this.#items;
  }

  get cursors(): number {
    let count = 0;
    for (const cursors of this.#cursors.values()) count += cursors.size;
    return count;
  }

  /** Takes the change over and tells the cursors. */
  apply(change: Change): void {
    const { current } = change;
    this.#items = change.kind === "deleted" ? this.#items.remove(current.key) : this.#items.put(current);
    const index = this.log.end;
    this.log.append(change, this.#items);
    wakeAll(this.#cursors.get(""), index);
    if (current.namespace !== "") wakeAll(this.#cursors.get(current.namespace), index);
  }

  open(options: CursorOptions): Cursor {
    const cursor = new Cursor(this.log, options, (leaving) => this.#close(leaving));
    const cursors = this.#cursors.get(cursor.namespace);
    if (cursors === undefined) this.#cursors.set(cursor.namespace, new Set([cursor]));
    else cursors.add(cursor);
    return cursor;
  }

  #close(cursor: Cursor): void {
    const cursors = this.#cursors.get(cursor.namespace);
    cursors?.delete(cursor);
    if (cursors?.size === 0) this.#cursors.delete(cursor.namespace);
  }
}

function wakeAll(cursors: Set<Cursor> | undefined, index: number): void {
  if (cursors === undefined) return;
  for (const cursor of cursors) cursor.wake(index);
}
