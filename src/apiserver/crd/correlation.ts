/**
 * Correlation: a value of the new state of an object with the value of the old state that it was before, down both trees.
 * Errors of values that did not change are not held against the writer (ratcheting).
 *
 * Items of lists are told by their keys where the list is a map; other lists are one value.
 */
import { isJsonArray, isJsonObject, isSameJson, type Json, type JsonObject, read } from "../model/mod.ts";
import { type SchemaProps, valueSchema } from "./schema_props.ts";

/** One value, new and old. */
export class Correlation {
  readonly value: Json;
  readonly old: Json;
  readonly #schema: SchemaProps;
  readonly #children = new Map<string | number, Correlation | undefined>();
  #oldItems: OldItems | undefined;
  #isEqual: boolean | undefined;

  constructor(value: Json, old: Json, schema: SchemaProps) {
    this.value = value;
    this.old = old;
    this.#schema = schema;
  }

  /** The value of a field; undefined where it has no old one. */
  key(name: string): Correlation | undefined {
    return this.#child(name, () => {
      const { value, old } = this;
      if (!isJsonObject(value) || !isJsonObject(old)) return undefined;
      const [field, oldField] = [read(value, name), read(old, name)];
      const schema = this.#schema.properties.get(name) ?? valueSchema(this.#schema);
      if (field === undefined || oldField === undefined || schema === undefined) return undefined;
      return new Correlation(field, oldField, schema);
    });
  }

  /** An item; undefined where it has no old one. */
  index(position: number): Correlation | undefined {
    return this.#child(position, () => {
      const { value, old } = this;
      const { items, listType, listMapKeys } = this.#schema;
      if (!isJsonArray(value) || !isJsonArray(old) || items === undefined || listType !== "map") return undefined;
      const item = value[position];
      if (item === undefined) return undefined;
      this.#oldItems ??= new OldItems(old, listMapKeys);
      const oldItem = this.#oldItems.find(item);
      return oldItem === undefined ? undefined : new Correlation(item, oldItem, items);
    });
  }

  /**
   * True when nothing changed. Fields without a schema count as changed, as on the real server: nobody could tell what
   * they were.
   */
  get isEqual(): boolean {
    return this.#isEqual ??= this.#compare();
  }

  #child(key: string | number, make: () => Correlation | undefined): Correlation | undefined {
    if (!this.#children.has(key)) this.#children.set(key, make());
    return this.#children.get(key);
  }

  #compare(): boolean {
    const { value, old } = this;
    if (isJsonArray(value)) {
      if (!isJsonArray(old) || value.length !== old.length) return false;
      if (value.length === 0 || this.#schema.listType !== "map") return isSameJson(value, old);
      return value.every((_item, position) => this.index(position)?.isEqual === true);
    }
    if (!isJsonObject(value)) return isSameJson(value, old);
    if (!isJsonObject(old)) return false;
    const keys = Object.keys(value);
    return keys.length === Object.keys(old).length && keys.every((name) => this.key(name)?.isEqual === true);
  }
}

/** The items of an old list by their keys. */
export class OldItems {
  readonly #keys: readonly string[];
  readonly #items = new Map<string, JsonObject>();

  constructor(items: readonly Json[], keys: readonly string[]) {
    this.#keys = keys;
    if (keys.length === 0) return;
    for (const item of items) {
      const key = this.#keyOf(item);
      if (key !== undefined && isJsonObject(item) && !this.#items.has(key)) this.#items.set(key, item);
    }
  }

  /** The old item with the keys of a new one. */
  find(item: Json): JsonObject | undefined {
    const key = this.#keyOf(item);
    return key === undefined ? undefined : this.#items.get(key);
  }

  /** Undefined where a key is missing or no scalar. */
  #keyOf(item: Json): string | undefined {
    if (this.#keys.length === 0 || !isJsonObject(item)) return undefined;
    const values: Json[] = [];
    for (const key of this.#keys) {
      const value = read(item, key);
      if (value === undefined || value === null || typeof value === "object") return undefined;
      values.push(value);
    }
    return JSON.stringify(values);
  }
}
