/**
 * changedFields(): what an update of an object changed, as paths with the value before and after.
 *
 * Guarantees: the result is bounded, in the number of fields and in the size of each value; bookkeeping of the server
 * (versions, managedFields) is left out; a value under a secret name, and everything of a Secret but its metadata, is
 * masked before it is stored. Takes linear time.
 */
import { isSecretName, mask, type Plain } from "../redaction/mod.ts";
import type { FieldChange } from "./entries.ts";

/** What an update changed. */
export interface ChangedFields {
  readonly fields: readonly FieldChange[];
  /** Changed fields that are not in `fields`. */
  readonly more: number;
}

/** Most fields of one change that are stored. */
const maxFields = 24;
/** Longer texts are cut. */
const maxText = 256;
/** Larger values are replaced by a note of their size. */
const maxNodes = 32;
/** Deeper differences are reported as one. */
const maxDepth = 64;

/** Fields of `metadata` that the server keeps for itself. */
const bookkeeping: ReadonlySet<string> = new Set(["resourceVersion", "generation", "managedFields"]);
/** Fields by which the elements of a list are told apart, if all have one and no two the same. */
const listKeys = ["name", "type", "uid", "key", "ip"] as const;

type Json = Readonly<Record<string, unknown>>;

/** @param isSecret The objects are Secrets. */
export function changedFields(old: object, current: object, isSecret = false): ChangedFields {
  const difference = new Difference(isSecret);
  difference.compare(old, current, 0);
  const { fields, more } = difference;
  return { fields, more };
}

/** One step of a path. */
interface Step {
  readonly text: string;
  /** The name of the field; of an element, the name of its list. */
  readonly name: string;
}

class Difference {
  readonly fields: FieldChange[] = [];
  more = 0;
  readonly #isSecret: boolean;
  readonly #path: Step[] = [];

  constructor(isSecret: boolean) {
    this.#isSecret = isSecret;
  }

  compare(old: unknown, current: unknown, depth: number): void {
    if (old === current) return;
    if (depth < maxDepth) {
      if (isMap(old) && isMap(current)) return this.#maps(old, current, depth);
      if (Array.isArray(old) && Array.isArray(current)) return this.#lists(old, current, depth);
    }
    this.#add(old, current);
  }

  #maps(old: Json, current: Json, depth: number): void {
    const isMetadata = depth === 1 && this.#path[0]?.name === "metadata";
    for (const name of Object.keys(current)) {
      if (isMetadata && bookkeeping.has(name)) continue;
      if (old[name] !== current[name]) this.#at(fieldStep(name, current, depth), old[name], current[name], depth);
    }
    for (const name of Object.keys(old)) {
      if (current[name] !== undefined || old[name] === undefined || (isMetadata && bookkeeping.has(name))) continue;
      this.#at(fieldStep(name, old, depth), old[name], undefined, depth);
    }
  }

  #lists(old: readonly unknown[], current: readonly unknown[], depth: number): void {
    const { name = "" } = this.#path.at(-1) ?? {};
    const key = listKeys.find((key) => isKeyOf(key, old) && isKeyOf(key, current));
    if (key === undefined) {
      const length = Math.max(old.length, current.length);
      for (let index = 0; index < length; index++) {
        this.#at({ text: `[${index}]`, name }, old[index], current[index], depth);
      }
      return;
    }
    const before = new Map(old.map((element) => [(element as Json)[key], element]));
    for (const element of current) {
      const id = (element as Json)[key];
      this.#at({ text: `[${key}=${id}]`, name }, before.get(id), element, depth);
      before.delete(id);
    }
    for (const [id, element] of before) this.#at({ text: `[${key}=${id}]`, name }, element, undefined, depth);
  }

  #at(step: Step, old: unknown, current: unknown, depth: number): void {
    if (old === current) return;
    this.#path.push(step);
    this.compare(old, current, depth + 1);
    this.#path.pop();
  }

  #add(old: unknown, current: unknown): void {
    if (this.fields.length >= maxFields) {
      this.more++;
      return;
    }
    const path = this.#path.map(({ text }) => text).join("").replace(/^\./, "");
    const isMasked = this.#isMasked();
    const shown = (value: unknown) => (isMasked ? mask : bounded(value));
    this.fields.push({
      path: path.length > maxText ? `${path.slice(0, maxText)}…` : path,
      ...(old === undefined ? {} : { from: shown(old) }),
      ...(current === undefined ? {} : { to: shown(current) }),
    });
  }

  #isMasked(): boolean {
    const [first, second] = this.#path;
    if (this.#isSecret && (first?.name !== "metadata" || second === undefined || second.name === "annotations")) {
      return true;
    }
    return this.#path.some(({ name }) => isSecretName(name));
  }
}

/** The step to a field. The value of a pair such as `{ name: "API_TOKEN", value }` has the name of the pair. */
function fieldStep(name: string, holder: Json, depth: number): Step {
  const text = /^[A-Za-z_][\w-]*$/.test(name) ? (depth === 0 ? name : `.${name}`) : `[${JSON.stringify(name)}]`;
  const isNamed = name === "value" && typeof holder.name === "string";
  return { text, name: isNamed ? holder.name as string : name };
}

function isKeyOf(key: string, list: readonly unknown[]): boolean {
  const seen = new Set<unknown>();
  for (const element of list) {
    const id = isMap(element) ? element[key] : undefined;
    if (typeof id !== "string" || seen.has(id)) return false;
    seen.add(id);
  }
  return true;
}

function isMap(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A value that is small enough to be stored. Values under secret names inside of it are masked when it is read. */
function bounded(value: unknown): Plain {
  if (typeof value === "string") return value.length > maxText ? `${value.slice(0, maxText)}…` : value;
  if (typeof value === "bigint") return String(value);
  if (typeof value !== "object" || value === null) return (value ?? null) as Plain;
  if (countNodes(value, maxNodes) <= maxNodes) return copied(value);
  return Array.isArray(value) ? `[… ${value.length} elements]` : `{… ${Object.keys(value).length} fields}`;
}

/** A copy, so that an entry does not keep a whole object of a cache in memory. */
function copied(value: unknown): Plain {
  if (Array.isArray(value)) return value.map(copied);
  if (!isMap(value)) return bounded(value);
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, copied(inner)]));
}

function countNodes(value: unknown, atMost: number): number {
  if (typeof value !== "object" || value === null || atMost <= 0) return 1;
  let count = 1;
  for (const inner of Object.values(value)) {
    count += countNodes(inner, atMost - count);
    if (count > atMost) break;
  }
  return count;
}
