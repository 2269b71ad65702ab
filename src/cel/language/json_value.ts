/**
 * jsonValueOf(): the CEL value of JSON without a schema. Values are converted when they are read, so an expression that reads
 * one field of a large object does not convert the rest.
 */
import { isJsonArray, isJsonObject, type Json, type JsonObject, read } from "../model/mod.ts";
import { CelList, CelMap, type Value } from "./values.ts";

/**
 * The value of some JSON. A number without a fraction is an `int`, as in Go's decoder for unstructured objects.
 *
 * @example
 * ```ts
 * import { CelEnvironment, dynType, jsonValueOf } from "./mod.ts";
 *
 * const compiled = new CelEnvironment(new Map([["object", dynType]])).compile("object.spec.replicas > 1");
 * const outcome = compiled.kind === "compiled"
 *   ? compiled.program.run([jsonValueOf({ spec: { replicas: 2 } })])
 *   : undefined;
 * console.assert(outcome?.kind === "value" && outcome.value === true);
 * ```
 */
export function jsonValueOf(json: Json): Value {
  if (typeof json === "number") return Number.isInteger(json) ? BigInt(json) : json;
  if (isJsonArray(json)) return new JsonItems(json);
  return isJsonObject(json) ? new JsonFields(json) : json;
}

class JsonItems extends CelList {
  readonly #items: readonly Json[];

  constructor(items: readonly Json[]) {
    super();
    this.#items = items;
  }

  override get size(): number {
    return this.#items.length;
  }

  override at(index: number): Value {
    return jsonValueOf(this.#items[index] ?? null);
  }
}

class JsonFields extends CelMap {
  readonly #json: JsonObject;

  constructor(json: JsonObject) {
    super();
    this.#json = json;
  }

  override get size(): number {
    return Object.keys(this.#json).length;
  }

  override keys(): Iterable<Value> {
    return Object.keys(this.#json);
  }

  override find(key: Value): Value | undefined {
    const found = typeof key === "string" ? read(this.#json, key) : undefined;
    return found === undefined ? undefined : jsonValueOf(found);
  }
}
