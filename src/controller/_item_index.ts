/**
 * ItemIndex: finds the items of a long list that the path elements of managedFields select. The server has a path element for
 * each item of a list that merges by key, so looking through the list for each of them takes the square of its length.
 *
 * Guarantees: finds what a search through the list from its first item finds.
 */
import { isJsonObject } from "../api/mod.ts";

/** Shorter lists are searched: that is as fast, and most lists are short. */
const minItems = 32;

/** An index of the items of `value`; undefined when it is no long list. */
export function itemIndexOf(value: unknown): ItemIndex | undefined {
  return Array.isArray(value) && value.length >= minItems ? new ItemIndex(value) : undefined;
}

/** The items that have some of the keys. */
interface Group {
  /** Those keys. */
  readonly names: readonly string[];
  /** The position of the first item with these values of the keys. */
  readonly firstAt: Map<string, number>;
}

/** The items of a list, by the values of their keys. */
export class ItemIndex {
  readonly #items: readonly unknown[];
  readonly #groups = new Map<string, readonly Group[]>();
  #scalars: ReadonlySet<string> | undefined;

  constructor(items: readonly unknown[]) {
    this.#items = items;
  }

  /**
   * The first item with the keys of `selected`, or without some of them: our object may lack keys that the server defaults,
   * such as a port's protocol.
   */
  find(selected: unknown): unknown {
    if (!isJsonObject(selected)) return undefined;
    let first = Infinity;
    for (const { names, firstAt } of this.#groupsOf(Object.keys(selected))) {
      first = Math.min(first, firstAt.get(textOf(selected, names)) ?? Infinity);
    }
    return this.#items[first];
  }

  /** True when one of the items is `selected`, a scalar. */
  has(selected: unknown): boolean {
    this.#scalars ??= new Set(this.#items.filter((item) => typeof item !== "object").map(scalarText));
    return this.#scalars.has(scalarText(selected));
  }

  #groupsOf(keys: readonly string[]): readonly Group[] {
    const id = JSON.stringify(keys);
    const known = this.#groups.get(id);
    if (known !== undefined) return known;
    const groups = groupsOf(this.#items, keys);
    this.#groups.set(id, groups);
    return groups;
  }
}

function groupsOf(items: readonly unknown[], keys: readonly string[]): readonly Group[] {
  const groups = new Map<string, Group>();
  for (const [at, item] of items.entries()) {
    if (!isJsonObject(item)) continue;
    const names = keys.filter((key) => item[key] !== undefined);
    const id = JSON.stringify(names);
    const group = groups.get(id) ?? { names, firstAt: new Map<string, number>() };
    groups.set(id, group);
    const text = textOf(item, names);
    if (!group.firstAt.has(text)) group.firstAt.set(text, at);
  }
  return [...groups.values()];
}

/** The values of these keys, which are scalars. */
function textOf(object: Readonly<Record<string, unknown>>, names: readonly string[]): string {
  return names.length === 1 ? scalarText(object[names[0] ?? ""]) : JSON.stringify(
    names.map((name) => scalarText(object[name])),
  );
}

/** A text that two scalars share when they are equal: a bigint equals the number with the same value. */
function scalarText(value: unknown): string {
  if (typeof value === "string") return `"${value}`;
  const isLargeInteger = typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value);
  return String(isLargeInteger ? BigInt(value) : value);
}
