/**
 * FieldSet: a set of an object's fields, in the very form that `fieldsV1` of managedFields has. So what is stored is what is
 * computed with: nothing is decoded or encoded on a write, and a set that did not change is the same object as before.
 *
 * A key is an element (see _element.ts), its value the set below it. `{}` below a key means that the field itself is in the
 * set, `{".": {}, ...}` the same where fields below it are in the set too; other keys only lead further down. `{}` at the top
 * is the empty set. Sets are never changed; keys stand in the order of fieldsV1.
 */
import { isJsonObject, type Json } from "../model/mod.ts";
import { canonicalElement, compareElements, elementText } from "./_element.ts";
import { FieldsError } from "./_fields_error.ts";

/** A set of fields, as `fieldsV1` holds it. */
export interface FieldSet {
  readonly [element: string]: FieldSet;
}

/** A path from the top of an object, e.g. `["f:spec", "f:replicas"]`. */
export type FieldPath = readonly string[];

/** No fields at all; below a key: that field and nothing below it. */
export const noFields: FieldSet = Object.freeze({});

/** The key that says that the field above it is in the set. */
const self = ".";

/** True when nothing is in the set. */
export function isEmptySet(set: FieldSet): boolean {
  // deno-lint-ignore guard-for-in
  for (const _ in set) return false;
  return true;
}

/** True when the field itself is in the set, given what stands below its key. */
export function holdsItself(below: FieldSet): boolean {
  return Object.hasOwn(below, self) || isEmptySet(below);
}

/** What stands below a key; undefined when neither the field nor anything below it is in the set. */
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
  return path.length > 0 && holdsItself(current);
}

/** The elements of one level, in order. */
export function elementsOf(set: FieldSet): readonly string[] {
  const keys = Object.keys(set);
  return keys[0] === self ? keys.slice(1) : keys;
}

/**
 * Collects one level of a set. Elements may come in any order, each once; where they come in order, which is how most
 * objects have their fields, nothing is moved.
 */
export class LevelBuilder {
  #level: Record<string, FieldSet> | undefined;
  #last = "";
  #isSorted = true;
  readonly #holdsItself: boolean;

  /** @param holdsItself whether the field above the level is in the set */
  constructor(holdsItself: boolean) {
    this.#holdsItself = holdsItself;
  }

  get isEmpty(): boolean {
    return this.#level === undefined;
  }

  add(element: string, under: FieldSet): void {
    if (this.#level === undefined) this.#level = this.#holdsItself ? { [self]: noFields } : {};
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

/** Most elements are fields, and fields stand in the order of their names. */
function isBefore(left: string, right: string): boolean {
  return left.charCodeAt(0) === 0x66 && right.charCodeAt(0) === 0x66 ? left < right : compareElements(left, right) < 0;
}

/** The set of these fields, without those above them. */
export function fieldSetOf(paths: Iterable<FieldPath>): FieldSet {
  let set = noFields;
  for (const path of paths) {
    if (path.length === 0) continue;
    set = unionOf(set, path.reduceRight((under: FieldSet, element) => ({ [element]: under }), noFields));
  }
  return set;
}

/** The fields of either. */
export function unionOf(left: FieldSet, right: FieldSet): FieldSet {
  if (left === right || isEmptySet(right)) return left;
  return isEmptySet(left) ? right : joined(left, right, false);
}

/** The same for what stands below one key, where `{}` is the field itself. */
export function unionBelow(left: FieldSet, right: FieldSet): FieldSet {
  if (left === right) return left;
  return joined(left, right, holdsItself(left) || holdsItself(right));
}

function joined(left: FieldSet, right: FieldSet, hasItself: boolean): FieldSet {
  const lefts = elementsOf(left);
  const rights = elementsOf(right);
  const level = new LevelBuilder(hasItself);
  let isLeft = Object.hasOwn(left, self) === hasItself;
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

/** The fields of `left` that `right` does not have. Of a field and those below it each counts on its own. */
export function differenceOf(left: FieldSet, right: FieldSet): FieldSet {
  return reduced(left, right, false, belowDifference);
}

function belowDifference(ours: FieldSet, theirs: FieldSet): FieldSet | undefined {
  const hasItself = holdsItself(ours) && !holdsItself(theirs);
  const under = reduced(ours, theirs, hasItself, belowDifference);
  return hasItself || !isEmptySet(under) ? under : undefined;
}

/** The fields of `set` without those of `excluded` and all that is below them. */
export function withoutFields(set: FieldSet, excluded: FieldSet): FieldSet {
  return reduced(set, excluded, false, belowExclusion);
}

function belowExclusion(ours: FieldSet, excluded: FieldSet): FieldSet | undefined {
  if (holdsItself(excluded)) return undefined;
  const hasItself = holdsItself(ours);
  const under = reduced(ours, excluded, hasItself, belowExclusion);
  return hasItself || !isEmptySet(under) ? under : undefined;
}

/** One level of `left`, with what both have replaced by what `rest` leaves of it. */
function reduced(
  left: FieldSet,
  right: FieldSet,
  hasItself: boolean,
  rest: (ours: FieldSet, theirs: FieldSet) => FieldSet | undefined,
): FieldSet {
  const level = new LevelBuilder(hasItself);
  let isLeft = Object.hasOwn(left, self) === hasItself;
  for (const element of elementsOf(left)) {
    const ours = left[element] ?? noFields;
    const theirs = below(right, element);
    const under = theirs === undefined ? ours : rest(ours, theirs);
    if (under !== ours) isLeft = false;
    if (under !== undefined) level.add(element, under);
  }
  return isLeft && !level.isEmpty ? left : level.build();
}

/** The fields of both. */
export function intersectionOf(left: FieldSet, right: FieldSet): FieldSet {
  return left === right ? left : shared(left, right, false);
}

function shared(left: FieldSet, right: FieldSet, hasItself: boolean): FieldSet {
  const level = new LevelBuilder(hasItself);
  for (const element of elementsOf(left)) {
    const [ours, theirs] = [left[element] ?? noFields, below(right, element)];
    if (theirs === undefined) continue;
    const hasBoth = holdsItself(ours) && holdsItself(theirs);
    const under = shared(ours, theirs, hasBoth);
    if (hasBoth || !isEmptySet(under)) level.add(element, under);
  }
  return level.build();
}

/** The paths of a set: fields of one level first, then those below them. */
export function* pathsOf(set: FieldSet, above: FieldPath = []): Generator<FieldPath> {
  const elements = elementsOf(set);
  for (const element of elements) if (holdsItself(set[element] ?? noFields)) yield [...above, element];
  for (const element of elements) yield* pathsOf(set[element] ?? noFields, [...above, element]);
}

/** A path as people read it: `.spec.template.spec.containers[name="web"].image`. */
export function pathText(path: FieldPath): string {
  return path.map(elementText).join("");
}

/**
 * Reads a set that came from outside: other spellings of an element are brought into the one used here, unknown kinds of
 * elements dropped.
 *
 * @throws FieldsError when it is none
 */
export function readFieldSet(value: Json): FieldSet {
  if (value === null) return noFields;
  if (!isJsonObject(value)) {
    throw new FieldsError([{ path: "", message: `not a set of fields: ${JSON.stringify(value)}` }]);
  }
  return readLevel(value).level;
}

function readLevel(value: { readonly [key: string]: Json }): { level: FieldSet; holdsItself: boolean } {
  const found = new Map<string, FieldSet>();
  let hasSelf = false;
  for (const key of Object.keys(value)) {
    if (key === self) hasSelf = true;
    const element = key === self ? undefined : canonicalElement(key);
    if (element === undefined) continue;
    const under = value[key] ?? null;
    if (under !== null && !isJsonObject(under)) {
      throw new FieldsError([{ path: "", message: `not a set of fields: ${JSON.stringify(under)}` }]);
    }
    const set = under === null ? noFields : belowOf(readLevel(under));
    const earlier = found.get(element);
    found.set(element, earlier === undefined ? set : unionBelow(earlier, set));
  }
  const level = new LevelBuilder(false);
  for (const [element, under] of found) level.add(element, under);
  return { level: level.build(), holdsItself: hasSelf || found.size === 0 };
}

function belowOf(read: { level: FieldSet; holdsItself: boolean }): FieldSet {
  if (!read.holdsItself || isEmptySet(read.level)) return read.level;
  return { [self]: noFields, ...read.level };
}
