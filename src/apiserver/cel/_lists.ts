/** Putting lists in a row, and the lists and maps that a loop fills. */
import { CelError, CelList, CelMap, itemsOf, mapKeyOf, type Value, ValueList, ValueMap } from "./values.ts";

/** Two lists in a row: nothing is copied, since an expression may do it again and again. */
class JoinedList extends CelList {
  override readonly size: number;
  readonly #left: CelList;
  readonly #right: CelList;

  constructor(left: CelList, right: CelList) {
    super();
    this.size = left.size + right.size;
    this.#left = left;
    this.#right = right;
  }

  override at(index: number): Value {
    return index < this.#left.size ? this.#left.at(index) : this.#right.at(index - this.#left.size);
  }
}

/** What a loop collects into. Only the loop that made it has it, so it may grow. */
export class ListBuilder extends CelList {
  readonly #items: Value[] = [];

  override get size(): number {
    return this.#items.length;
  }

  override at(index: number): Value {
    return this.#items[index] ?? null;
  }

  append(list: CelList): this {
    for (const item of itemsOf(list)) this.#items.push(item);
    return this;
  }

  finish(): CelList {
    return new ValueList(this.#items);
  }
}

/** What a loop inserts into. */
export class MapBuilder extends CelMap {
  readonly #entries = new Map<string, readonly [key: Value, value: Value]>();

  override get size(): number {
    return this.#entries.size;
  }

  override *keys(): Iterable<Value> {
    for (const [key] of this.#entries.values()) yield key;
  }

  override find(key: Value): Value | undefined {
    const mapKey = mapKeyOf(key);
    return mapKey === undefined ? undefined : this.#entries.get(mapKey)?.[1];
  }

  insert(key: Value, value: Value): this | CelError {
    const mapKey = mapKeyOf(key);
    if (mapKey === undefined) return new CelError("unsupported key type");
    if (this.#entries.has(mapKey)) return new CelError(`insert failed: key ${shown(key)} already exists`);
    this.#entries.set(mapKey, [key, value]);
    return this;
  }

  finish(): CelMap {
    return new ValueMap(this.#entries);
  }
}

/** Both lists in a row; a list of a schema may know better (a set keeps each item once). */
export function joined(left: CelList, right: CelList): Value {
  if (left instanceof ListBuilder) return left.append(right);
  if (left.plus !== undefined) return left.plus(right);
  if (right.size === 0) return left;
  return left.size === 0 ? right : new JoinedList(left, right);
}

/** Adds one entry, or all of a map, to what a loop inserts into. */
export function inserted(map: Value, keyOrMap: Value, value?: Value): Value {
  if (!(map instanceof MapBuilder)) return new CelError("no such overload");
  if (value !== undefined) return map.insert(keyOrMap, value);
  if (!(keyOrMap instanceof CelMap)) return new CelError("no such overload");
  for (const key of keyOrMap.keys()) {
    const done = map.insert(key, keyOrMap.find(key) ?? null);
    if (done instanceof CelError) return done;
  }
  return map;
}

function shown(key: Value): string {
  return typeof key === "object" ? "" : String(key);
}
