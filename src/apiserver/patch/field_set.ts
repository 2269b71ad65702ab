/**
 * FieldSet: a set of fields of an object, in the format of `fieldsV1` of managedFields. A write computes with this format
 * directly, without decoding or encoding, and a set that does not change stays the same object.
 *
 * A key is an element (see _element.ts), and its value is the set below it. `{}` below a key means that the field itself is in
 * the set; `{".": {}, ...}` means the field and fields below it. `{}` at the root is the empty set. Sets never change, and
 * their keys have the order of fieldsV1.
 */
import { printExactJson } from "../../api/mod.ts";
import { isJsonObject, type Json } from "../model/mod.ts";
import { canonicalElement, compareElements, elementText, FieldsError } from "./_element.ts";

/** A set of fields, in the format of `fieldsV1`. */
export interface FieldSet {
  readonly [element: string]: FieldSet;
}

/** A path from the root of an object, e.g. `["f:spec", "f:replicas"]`. */
export type FieldPath = readonly string[];

/** No fields; below a key: the field of the key, and no fields below it. */
export const noFields: FieldSet = Object.freeze({});

/** The key that means that the field above it is in the set. */
const self = ".";

/** True for the empty set. */
export function isEmptySet(set: FieldSet): boolean {
  // deno-lint-ignore guard-for-in
  for (const _ in set) return false;
  return true;
}

/** True when the field itself is in the set. @param below the value of its key */
export function includesSelf(below: FieldSet): boolean {
  return Object.hasOwn(below, self) || isEmptySet(below);
}

/** The value of a key; undefined when neither the field nor a field below it is in the set. */
export function below(set: FieldSet, element: string): FieldSet | undefined {
  return Object.hasOwn(set, element) ? set[element] : undefined;
}

/** True when the field is in the set. */
export function hasField(set: FieldSet, path: FieldPath): boolean {
  let current: FieldSet | undefined = set;
  for (const element of path) {
    current = below(current, element);
    if (current === undefined) return false;
  }
  return path.length > 0 && includesSelf(current);
}

/** The elements of one level, in order. */
export function elementsOf(set: FieldSet): readonly string[] {
  const keys = Object.keys(set);
  return keys[0] === self ? keys.slice(1) : keys;
}

/**
 * Builds one level of a set. Elements may be added in any order, each once. Sorted input, which is usual, is not sorted again.
 */
export class LevelBuilder {
  #level: Record<string, FieldSet> | undefined;
  #last = "";
  #isSorted = true;
  readonly #includesSelf: boolean;

  /** @param includesSelf true when the field above the level is in the set */
  constructor(includesSelf: boolean) {
    this.#includesSelf = includesSelf;
  }

  get isEmpty(): boolean {
    return this.#level === undefined;
  }

  add(element: string, under: FieldSet): void {
    if (this.#level === undefined) this.#level = this.#includesSelf ? { [self]: noFields } : {};
    else if (this.#isSorted && !isBefore(this.#last, element)) this.#isSorted = false;
    this.#last = element;
    this.#level[element] = under;
  }

  build(): FieldSet {
    const level = this.#level;
    if (level === undefined) return noFields;
    return this.#isSorted ? level : sortedLevel(level);
  }
}

function sortedLevel(level: FieldSet): FieldSet {
  const sorted: Record<string, FieldSet> = Object.hasOwn(level, self) ? { [self]: noFields } : {};
  for (const element of elementsOf(level).toSorted(compareElements)) sorted[element] = level[element] ?? noFields;
  return sorted;
}

/** A fast path for fields, which are sorted by name and most common. */
function isBefore(left: string, right: string): boolean {
  return left.charCodeAt(0) === 0x66 && right.charCodeAt(0) === 0x66 ? left < right : compareElements(left, right) < 0;
}

/** The set of these fields, without the fields above them. */
export function fieldSetOf(paths: Iterable<FieldPath>): FieldSet {
  let set = noFields;
  for (const path of paths) {
    if (path.length === 0) continue;
    set = unionOf(set, path.reduceRight((under: FieldSet, element) => ({ [element]: under }), noFields));
  }
  return set;
}

/** The fields in one of the sets or in both. */
export function unionOf(left: FieldSet, right: FieldSet): FieldSet {
  if (left === right || isEmptySet(right)) return left;
  return isEmptySet(left) ? right : joined(left, right, false);
}

/** The union of the values of one key, where `{}` is the field itself. */
export function unionBelow(left: FieldSet, right: FieldSet): FieldSet {
  if (left === right || (isEmptySet(right) && includesSelf(left))) return left;
  return joined(left, right, includesSelf(left) || includesSelf(right));
}

function joined(left: FieldSet, right: FieldSet, isIncluded: boolean): FieldSet {
  const lefts = elementsOf(left);
  const rights = elementsOf(right);
  const level = new LevelBuilder(isIncluded);
  let isLeft = Object.hasOwn(left, self) === isIncluded;
  let [l, r] = [0, 0];
  while (l < lefts.length || r < rights.length) {
    const [leftElement, rightElement] = [lefts[l], rights[r]];
    const order = leftElement === undefined
      ? 1
      : rightElement === undefined
      ? -1
      : compareElements(leftElement, rightElement);
    const element = (order <= 0 ? leftElement : rightElement) ?? "";
    const ours = left[element] ?? noFields;
    const theirs = right[element] ?? noFields;
    const under = order < 0 ? ours : order > 0 ? theirs : unionBelow(ours, theirs);
    if (order > 0 || under !== ours) isLeft = false;
    level.add(element, under);
    if (order <= 0) l++;
    if (order >= 0) r++;
  }
  return isLeft && !level.isEmpty ? left : level.build();
}

/** The fields of `left` that are not in `right`. A field and the fields below it are separate members. */
export function differenceOf(left: FieldSet, right: FieldSet): FieldSet {
  return reduced(left, right, false, belowDifference);
}

function belowDifference(ours: FieldSet, theirs: FieldSet): FieldSet | undefined {
  const isIncluded = includesSelf(ours) && !includesSelf(theirs);
  const under = reduced(ours, theirs, isIncluded, belowDifference);
  return isIncluded || !isEmptySet(under) ? under : undefined;
}

/** The fields of `set` without the fields of `excluded` and all fields below them. */
export function withoutFields(set: FieldSet, excluded: FieldSet): FieldSet {
  return reduced(set, excluded, false, belowExclusion);
}

function belowExclusion(ours: FieldSet, excluded: FieldSet): FieldSet | undefined {
  if (includesSelf(excluded)) return undefined;
  const isIncluded = includesSelf(ours);
  const under = reduced(ours, excluded, isIncluded, belowExclusion);
  return isIncluded || !isEmptySet(under) ? under : undefined;
}

/** One level of `left`; `rest` computes the new value of a key in both. */
function reduced(
  left: FieldSet,
  right: FieldSet,
  isIncluded: boolean,
  rest: (ours: FieldSet, theirs: FieldSet) => FieldSet | undefined,
): FieldSet {
  const level = new LevelBuilder(isIncluded);
  let isLeft = Object.hasOwn(left, self) === isIncluded;
  for (const element of elementsOf(left)) {
    const ours = left[element] ?? noFields;
    const theirs = below(right, element);
    const under = theirs === undefined ? ours : rest(ours, theirs);
    if (under !== ours) isLeft = false;
    if (under !== undefined) level.add(element, under);
  }
  return isLeft && !level.isEmpty ? left : level.build();
}

/** The fields in both sets. */
export function intersectionOf(left: FieldSet, right: FieldSet): FieldSet {
  return left === right ? left : shared(left, right, false);
}

function shared(left: FieldSet, right: FieldSet, isIncluded: boolean): FieldSet {
  const level = new LevelBuilder(isIncluded);
  for (const element of elementsOf(left)) {
    const [ours, theirs] = [left[element] ?? noFields, below(right, element)];
    if (theirs === undefined) continue;
    const hasBoth = includesSelf(ours) && includesSelf(theirs);
    const under = shared(ours, theirs, hasBoth);
    if (hasBoth || !isEmptySet(under)) level.add(element, under);
  }
  return level.build();
}

/** The paths of a set: the fields of one level first, then those below them. */
export function* pathsOf(set: FieldSet, above: FieldPath = []): Generator<FieldPath> {
  const elements = elementsOf(set);
  for (const element of elements) if (includesSelf(set[element] ?? noFields)) yield [...above, element];
  for (const element of elements) yield* pathsOf(set[element] ?? noFields, [...above, element]);
}

/** A path in messages: `.spec.template.spec.containers[name="web"].image`. */
export function pathText(path: FieldPath): string {
  return path.map(elementText).join("");
}

/**
 * Reads a set from a client: elements get their canonical form, and unknown types of elements are dropped.
 *
 * @throws FieldsError when it is malformed
 */
export function readFieldSet(value: Json): FieldSet {
  if (value === null) return noFields;
  if (!isJsonObject(value)) {
    throw new FieldsError([{ path: "", message: `not a set of fields: ${printExactJson(value)}` }]);
  }
  return readLevel(value).level;
}

function readLevel(value: { readonly [key: string]: Json }): { level: FieldSet; includesSelf: boolean } {
  const found = new Map<string, FieldSet>();
  let hasSelf = false;
  for (const key of Object.keys(value)) {
    if (key === self) hasSelf = true;
    const element = key === self ? undefined : canonicalElement(key);
    if (element === undefined) continue;
    const under = value[key] ?? null;
    if (under !== null && !isJsonObject(under)) {
      throw new FieldsError([{ path: "", message: `not a set of fields: ${printExactJson(under)}` }]);
    }
    const set = under === null ? noFields : belowOf(readLevel(under));
    const earlier = found.get(element);
    found.set(element, earlier === undefined ? set : unionBelow(earlier, set));
  }
  const level = new LevelBuilder(false);
  for (const [element, under] of found) level.add(element, under);
  return { level: level.build(), includesSelf: hasSelf || found.size === 0 };
}

function belowOf(read: { level: FieldSet; includesSelf: boolean }): FieldSet {
  if (!read.includesSelf || isEmptySet(read.level)) return read.level;
  return { [self]: noFields, ...read.level };
}
