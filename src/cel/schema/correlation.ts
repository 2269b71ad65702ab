/**
 * Correlation: a new value together with the old value at the same position, for every value below two states of an object.
 * Ratcheting uses it to ignore errors of unchanged values (CRDValidationRatcheting).
 *
 * Items of a list of type map are matched by their keys; every other list is compared as one value.
 */
import { printExactJson } from "../../api/mod.ts";
import { isJsonArray, isJsonObject, isSameJson, type Json, type JsonObject, read } from "../model/mod.ts";
import { type SchemaProps, valueSchema } from "./schema_props.ts";

/** One value in its new and old state. */
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

  /** The value of a field; undefined when it has no old value. */
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

  /** An item; undefined when it has no old value. */
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

  /** True when nothing changed. Fields without a schema count as changed, as on the real server. */
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

/** Finds the items of an old list by their keys. */
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

  /** The old item with the same keys. */
  find(item: Json): JsonObject | undefined {
    const key = this.#keyOf(item);
    return key === undefined ? undefined : this.#items.get(key);
  }

  /** Undefined when a key is missing or not a scalar. */
  #keyOf(item: Json): string | undefined {
    if (this.#keys.length === 0 || !isJsonObject(item)) return undefined;
    const values: Json[] = [];
    for (const key of this.#keys) {
      const value = read(item, key);
      if (value === undefined || value === null || typeof value === "object") return undefined;
      values.push(value);
    }
    return printExactJson(values);
  }
}

/** The position of a walk over an object, in its new and old state. Errors of unchanged values are dropped (ratcheting). */
export interface Ratchet {
  /** Undefined when there is no old value. */
  readonly current: Correlation | undefined;
  /** The nearest ancestor with an old value. */
  readonly parent: Correlation | undefined;
}

/** The ratchet of a whole object. */
export function rootRatchet(link: Correlation): Ratchet {
  return { current: link, parent: undefined };
}

/** True when errors at this position are dropped. */
export function isRatcheted(ratchet: Ratchet | undefined): boolean {
  if (ratchet === undefined) return false;
  return (ratchet.current ?? ratchet.parent)?.isEqual === true;
}

/** The ratchet of a field. */
export function ratchetOfKey(ratchet: Ratchet | undefined, name: string): Ratchet | undefined {
  if (ratchet?.current === undefined) return ratchet;
  if (ratchet.parent === undefined && (name === "apiVersion" || name === "kind")) return undefined;
  return { current: ratchet.current.key(name), parent: ratchet.current };
}

/** The ratchet of an item. */
export function ratchetOfItem(ratchet: Ratchet | undefined, index: number): Ratchet | undefined {
  if (ratchet?.current === undefined) return ratchet;
  return { current: ratchet.current.index(index), parent: ratchet.current };
}

/** The ratchet of a schema under allOf: only the parent counts. */
export function ratchetOfAllOf(ratchet: Ratchet | undefined): Ratchet | undefined {
  return ratchet === undefined ? undefined : { current: undefined, parent: ratchet.parent };
}
