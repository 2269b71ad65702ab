/**
 * Elements: the steps of a path in a FieldSet, in the format of fieldsV1. Equal elements are equal strings.
 *
 * - `f:replicas`: a field of an object
 * - `k:{"name":"web"}`: the item of a list with these keys, which are sorted by name
 * - `v:"a"`: the item of a set with this value
 * - `i:0`: the item at this index
 */
import { parseFiniteJson, printExactJson } from "../../api/mod.ts";
import { goJson, isJsonArray, isJsonNumber, isJsonObject, type Json, type ListSchema } from "../model/mod.ts";

/** Cache of the elements of field names: a string that was a key before is much cheaper as a key than a new one. */
const fieldElements = new Map<string, string>();
const maxFieldElements = 10_000;

/** The element of a field. */
export function fieldElement(name: string): string {
  const known = fieldElements.get(name);
  if (known !== undefined) return known;
  const element = `f:${name}`;
  if (fieldElements.size < maxFieldElements && name.length < 100) fieldElements.set(name, element);
  return element;
}

/**
 * The element of an item of a `map` or `set` list.
 *
 * @throws FieldsError when the item has no unique key
 */
export function itemElement(item: Json, list: ListSchema): string {
  return list.keys.length > 0 ? keyElement(item, list) : valueElement(item);
}

/** One key of a list, and its text in an element. */
interface ListKey {
  readonly name: string;
  readonly start: string;
}

const sortedKeys = new WeakMap<ListSchema, readonly ListKey[]>();

function keysOf(list: ListSchema): readonly ListKey[] {
  const cached = sortedKeys.get(list);
  if (cached !== undefined) return cached;
  const keys = list.keys.toSorted().map((name) => ({ name, start: `${JSON.stringify(name)}:` }));
  sortedKeys.set(list, keys);
  return keys;
}

function keyElement(item: Json, list: ListSchema): string {
  if (item === null) throw problem("associative list with keys may not have a null element");
  if (!isJsonObject(item)) throw problem("associative list with keys may not have non-map elements");
  let text = "";
  for (const { name, start } of keysOf(list)) {
    const value = Object.hasOwn(item, name) ? item[name] ?? null : list.keyDefaults.get(name);
    if (value !== undefined) text += (text === "" ? start : `,${start}`) + goJson(value);
  }
  if (text !== "") return `k:{${text}}`;
  const keys = list.keys.map((key) => JSON.stringify(key)).join(" ");
  throw problem(
    `associative list with keys has an element that omits all key fields [${keys}] ` +
      "(and doesn't have default values for any key fields)",
  );
}

function valueElement(item: Json): string {
  if (isJsonObject(item)) throw problem("associative list without keys has an element that's a map type");
  if (isJsonArray(item)) throw problem("not supported: associative list with lists as elements");
  if (item === null) throw problem("associative list without keys has an element that's an explicit null");
  return `v:${goJson(item)}`;
}

function problem(message: string): FieldsError {
  return new FieldsError([{ path: "", message }]);
}

/**
 * The canonical form of an element from a client; undefined for an unknown type of element, which kube-apiserver drops too.
 *
 * @throws FieldsError when it is malformed
 */
export function canonicalElement(element: string): string | undefined {
  if (element.length < 2) throw problem("key must be 2 characters long:");
  if (element[1] !== ":") throw problem(`missing colon: ${element}`);
  const rest = element.slice(2);
  switch (element[0]) {
    case "f":
      return element;
    case "v":
      return `v:${goJson(parsed(rest))}`;
    case "i":
      if (!/^[+-]?\d+$/.test(rest)) throw problem(`strconv.Atoi: parsing ${JSON.stringify(rest)}: invalid syntax`);
      return `i:${Number(rest)}`;
    case "k": {
      const keys = parsed(rest);
      if (!isJsonObject(keys)) throw problem(`not an object: ${rest}`);
      return `k:${goJson(keys)}`;
    }
    default:
      return undefined;
  }
}

function parsed(text: string): Json {
  try {
    return parseFiniteJson(text) as Json;
  } catch (error) {
    throw problem(error instanceof Error ? error.message : String(error));
  }
}

/** The order of elements in fieldsV1: fields, then keys, then values, then indices. */
export function compareElements(left: string, right: string): number {
  if (left === right) return 0;
  const kind = left.charCodeAt(0);
  if (kind !== right.charCodeAt(0)) return rankOf(kind) - rankOf(right.charCodeAt(0));
  switch (kind) {
    case 0x6b: // k
      return compareKeys(parsed(left.slice(2)), parsed(right.slice(2)));
    case 0x76: // v
      return compareValues(parsed(left.slice(2)), parsed(right.slice(2)));
    case 0x69: // i
      return Number(left.slice(2)) - Number(right.slice(2));
    default:
      return left < right ? -1 : 1;
  }
}

function rankOf(kind: number): number {
  return kind === 0x66 ? 0 : kind === 0x6b ? 1 : kind === 0x76 ? 2 : 3;
}

/** Compares keys, whose names are sorted in both. */
function compareKeys(left: Json, right: Json): number {
  const lefts = isJsonObject(left) ? Object.entries(left) : [];
  const rights = isJsonObject(right) ? Object.entries(right) : [];
  for (const [index, [name, value]] of lefts.entries()) {
    const other = rights[index];
    if (other === undefined) return 1;
    if (name !== other[0]) return name < other[0] ? -1 : 1;
    const order = compareValues(value, other[1]);
    if (order !== 0) return order;
  }
  return lefts.length - rights.length;
}

function compareValues(left: Json, right: Json): number {
  const order = typeRank(left) - typeRank(right);
  if (order !== 0) return order;
  if (isJsonNumber(left) && isJsonNumber(right)) return left < right ? -1 : left > right ? 1 : 0;
  const [leftText, rightText] = [
    typeof left === "string" ? left : goJson(left),
    typeof right === "string" ? right : goJson(right),
  ];
  return leftText === rightText ? 0 : leftText < rightText ? -1 : 1;
}

function typeRank(value: Json): number {
  if (isJsonNumber(value)) return 0;
  if (typeof value === "string") return 1;
  if (typeof value === "boolean") return 2;
  if (isJsonArray(value)) return 3;
  return isJsonObject(value) ? 4 : 5;
}

/** An element in messages: `.spec`, `[name="web"]`, `[="a"]`, `[0]`. */
export function elementText(element: string): string {
  const rest = element.slice(2);
  switch (element[0]) {
    case "f":
      return `.${rest}`;
    case "k": {
      const keys = parsed(rest);
      const pairs = isJsonObject(keys) ? Object.entries(keys) : [];
      return `[${pairs.map(([name, value]) => `${name}=${printExactJson(value)}`).join(",")}]`;
    }
    case "v":
      return `[=${printExactJson(parsed(rest))}]`;
    default:
      return `[${rest}]`;
  }
}

/** One problem of a value. */
export interface FieldsProblem {
  /** `.spec.ports[port=80,protocol="TCP"]`; "" for the whole. */
  readonly path: string;
  readonly message: string;
}

/**
 * A value that does not fit its type, so that the ownership of its fields is undefined. The texts are those of
 * structured-merge-diff, because kube-apiserver shows them to users.
 */
export class FieldsError extends Error {
  override readonly name = "FieldsError";

  constructor(problems: readonly FieldsProblem[]) {
    const texts = problems.map(({ path, message }) => path === "" ? message : `${path}: ${message}`);
    super(texts.length === 1 ? texts[0] : ["errors:", ...texts.map((text) => `  ${text}`)].join("\n"));
  }
}
