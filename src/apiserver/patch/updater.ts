/**
 * The core of field ownership, with the rules of `merge.Updater` of structured-merge-diff. An update takes each field that it
 * changes from its owners; an apply conflicts, unless it is forced. A field that an applier leaves out is removed, unless
 * another manager owns it or it was never applied.
 */
import { type Json, type JsonObject, type ListSchema, put, type TypeSchema } from "../model/mod.ts";
import { converted, prefixed, type Steps, Versions } from "./_conversion.ts";
import { fieldsOf, fieldTypeOf, isEmptyContainer, itemsOf, shapeOf } from "./_shape.ts";
import { compareFields, type Comparison, ownedFields } from "./compare_fields.ts";
import {
  below,
  differenceOf,
  elementsOf,
  type FieldSet,
  includesSelf,
  intersectionOf,
  isEmptySet,
  LevelBuilder,
  noFields,
  unionOf,
  withoutFields,
} from "./field_set.ts";
import { type Manager, type Managers, withoutEmpty } from "./managed_fields.ts";
import { elementText, fieldElement, FieldsError, itemElement } from "./_element.ts";

/** An object in one of its versions. */
export interface Typed {
  readonly object: JsonObject;
  readonly apiVersion: string;
  readonly type: TypeSchema;
}

/** By apiVersion, the fields that a write to this subresource never changes, such as `status` for the object itself. */
export type ResetFields = ReadonlyMap<string, FieldSet>;

/** The effect of a write on the owners of fields. */
export interface TakenFields {
  readonly managers: Managers;
  /** The fields that the write takes from other managers, by identity: conflicts of an apply that is not forced. */
  readonly conflicts: ReadonlyMap<string, FieldSet>;
  /** The changed fields, in the version of the write; undefined when nothing changed. */
  readonly comparison: Comparison | undefined;
}

/**
 * Adapts the fields of all managers to changed types; drops managers with a version that is not served any more.
 *
 * @returns the same managers when nothing differs
 */
export function* reconcileManagers(live: Typed, managers: Managers): Steps<Managers> {
  const versions = new Versions(live.apiVersion, live);
  let changed: Map<string, Manager> | undefined;
  for (const [identity, manager] of managers) {
    const type = manager.apiVersion === live.apiVersion ? live.type : (yield* versions.in(manager.apiVersion))?.type;
    const fields = type === undefined ? noFields : reconcileFields(manager.fields, type);
    if (type !== undefined && fields === manager.fields) continue;
    changed ??= new Map(managers);
    if (type === undefined) changed.delete(identity);
    else changed.set(identity, { ...manager, fields });
  }
  return changed ?? managers;
}

/**
 * Takes the fields that a write changes from their owners.
 *
 * @param self the identity of the writer, which keeps its fields
 */
export function* takeFields(
  live: Typed,
  updated: Typed,
  managers: Managers,
  options: { readonly self: string | undefined; readonly resetFields: ResetFields | undefined },
): Steps<TakenFields> {
  const { self, resetFields } = options;
  const conflicts = new Map<string, FieldSet>();
  const changed = compareFields(live.object, updated.object, live.type);
  if (changed === undefined) return { managers: withoutEmpty(managers), conflicts, comparison: undefined };
  const comparison = reachable(changed, resetFields?.get(live.apiVersion));
  const kept = new Map(managers);
  const comparisons = new VersionedComparisons(live, updated, comparison, resetFields);
  for (const [identity, manager] of managers) {
    if (identity === self) continue;
    const found = manager.apiVersion === live.apiVersion
      ? { kind: "compared" as const, comparison }
      : yield* comparisons.in(manager.apiVersion);
    if (found.kind === "missing") kept.delete(identity);
    else if (found.comparison !== undefined) {
      const { added, modified, removed } = found.comparison;
      const taken = intersectionOf(manager.fields, unionOf(modified, added));
      if (!isEmptySet(taken)) conflicts.set(identity, taken);
      const fields = differenceOf(differenceOf(manager.fields, taken), removed);
      if (fields !== manager.fields) kept.set(identity, { ...manager, fields });
    }
  }
  return { managers: withoutEmpty(kept), conflicts, comparison };
}

/** A comparison in one version; missing when the version is not served. */
type Found =
  | { readonly kind: "compared"; readonly comparison: Comparison | undefined }
  | { readonly kind: "missing" };

/** Compares the objects of one write in the versions of other managers. */
class VersionedComparisons {
  readonly #live: Versions;
  readonly #updated: Versions;
  readonly #resetFields: ResetFields | undefined;
  readonly #found = new Map<string, Found>();

  constructor(live: Typed, updated: Typed, own: Comparison | undefined, resetFields: ResetFields | undefined) {
    this.#live = new Versions(live.apiVersion, live);
    this.#updated = new Versions(updated.apiVersion, updated);
    this.#resetFields = resetFields;
    this.#found.set(live.apiVersion, { kind: "compared", comparison: own });
  }

  *in(apiVersion: string): Steps<Found> {
    const known = this.#found.get(apiVersion);
    if (known !== undefined) return known;
    const live = yield* prefixed("failed to convert old object", this.#live.in(apiVersion));
    const updated = yield* prefixed("failed to convert new object", this.#updated.in(apiVersion));
    const found: Found = live === undefined || updated === undefined ? { kind: "missing" } : {
      kind: "compared",
      comparison: reachable(
        compareFields(live.object, updated.object, live.type),
        this.#resetFields?.get(apiVersion),
      ),
    };
    this.#found.set(apiVersion, found);
    return found;
  }
}

/** A comparison without the fields that the write never changes. */
function reachable(comparison: Comparison | undefined, unreached: FieldSet | undefined): Comparison | undefined {
  if (comparison === undefined || unreached === undefined) return comparison;
  const added = withoutFields(comparison.added, unreached);
  const modified = withoutFields(comparison.modified, unreached);
  const removed = withoutFields(comparison.removed, unreached);
  return isEmptySet(added) && isEmptySet(modified) && isEmptySet(removed) ? undefined : { added, modified, removed };
}

/** The result of an apply. */
export interface AppliedFields extends TakenFields {
  readonly object: JsonObject;
}

/**
 * Merges a configuration into an object, and takes the fields of the configuration.
 *
 * @param applier the manager that applies; its earlier fields are in `managers`
 */
export function* applyFields(
  live: Typed,
  config: JsonObject,
  managers: Managers,
  options: { readonly applier: Manager; readonly self: string; readonly resetFields: ResetFields | undefined },
): Steps<AppliedFields> {
  const { applier, self, resetFields } = options;
  const last = managers.get(self);
  const owned = ownedFields(config, live.type);
  const unreached = resetFields?.get(live.apiVersion);
  const fields = unreached === undefined ? owned : withoutFields(owned, unreached);
  const holders: Managers = new Map(managers).set(self, { ...applier, fields });
  const merged = fieldsOf(mergeValues(live.object, config, live.type) ?? null);
  const object = yield* prefixed(
    "failed to prune fields",
    prune({ ...live, object: merged }, holders, self, last),
  );
  return { object, ...yield* takeFields(live, { ...live, object }, holders, { self, resetFields }) };
}

/** The object without the fields that this manager applied last time and leaves out now, if no other manager owns them. */
function* prune(merged: Typed, managers: Managers, self: string, last: Manager | undefined): Steps<JsonObject> {
  const now = managers.get(self)?.fields ?? noFields;
  if (last === undefined || isEmptySet(last.fields)) return merged.object;
  // A conversion to the version of another manager may fail, also if nothing is to be removed.
  const isOneVersion = [...managers.values(), last].every(({ apiVersion }) => apiVersion === merged.apiVersion);
  if (isOneVersion && isEmptySet(differenceOf(last.fields, now))) return merged.object;
  const before = yield* prefixed(
    "failed to convert merged object to last applied version",
    inVersion(merged, last.apiVersion),
  );
  if (before === undefined) return merged.object;
  const lastFields = withNamedFields(last.fields, before.type);
  const bare: Typed = { ...before, object: fieldsOf(removeFields(before.object, lastFields, before.type)) };
  const owned = yield* prefixed("failed add back owned items", addBackOwned(before, bare, managers));
  const pruned = yield* prefixed("failed add back dangling items", addBackDangling(before, owned, lastFields));
  return (yield* inVersion(pruned, merged.apiVersion))?.object ?? merged.object;
}

/** Restores the fields that other managers own, or that this manager applies now. */
function* addBackOwned(merged: Typed, pruned: Typed, managers: Managers): Steps<Typed> {
  const byVersion = new Map<string, FieldSet>();
  for (const { apiVersion, fields } of managers.values()) {
    byVersion.set(apiVersion, unionOf(byVersion.get(apiVersion) ?? noFields, fields));
  }
  // The version of the apply comes first, so that the fields that conversions need are present again.
  const versions = [merged.apiVersion, ...[...byVersion.keys()].filter((version) => version !== merged.apiVersion)];
  let current = { merged, pruned };
  for (const version of versions) {
    const owned = byVersion.get(version);
    if (owned !== undefined) current = yield* addBackInVersion(current.merged, current.pruned, version, owned);
  }
  return current.pruned;
}

function* addBackInVersion(
  mergedBefore: Typed,
  prunedBefore: Typed,
  version: string,
  owned: FieldSet,
): Steps<{ merged: Typed; pruned: Typed }> {
  const failed = (what: string) => `failed to convert ${what} object at version ${version}`;
  const merged = yield* prefixed(failed("merged"), inVersion(mergedBefore, version));
  const pruned = merged === undefined ? undefined : yield* prefixed(failed("pruned"), inVersion(prunedBefore, version));
  if (merged === undefined || pruned === undefined) return { merged: mergedBefore, pruned: prunedBefore };
  const { type } = merged;
  const all = withNamedFields(ownedFields(merged.object, type), type);
  const left = withNamedFields(ownedFields(pruned.object, type), type);
  const gone = differenceOf(all, unionOf(left, withNamedFields(owned, type)));
  return { merged, pruned: { ...merged, object: fieldsOf(removeFields(merged.object, gone, type)) } };
}

/** Restores fields that this manager never applied, without owners or owned only by updates. */
function* addBackDangling(merged: Typed, prunedBefore: Typed, lastFields: FieldSet): Steps<Typed> {
  const pruned = yield* prefixed(
    "failed to convert pruned object to last applied version",
    inVersion(prunedBefore, merged.apiVersion),
  );
  if (pruned === undefined) return merged;
  const { type } = merged;
  const all = withNamedFields(ownedFields(merged.object, type), type);
  const left = withNamedFields(ownedFields(pruned.object, type), type);
  const gone = intersectionOf(differenceOf(all, left), lastFields);
  return { ...merged, object: fieldsOf(removeFields(merged.object, gone, type)) };
}

function* inVersion(typed: Typed, apiVersion: string): Steps<Typed | undefined> {
  if (typed.apiVersion === apiVersion) return typed;
  const versioned = yield* converted(typed.object, apiVersion);
  return versioned === undefined ? undefined : { ...versioned, apiVersion };
}

/**
 * Merges an applied value into the live one. Leaves come from the applied value, fields that it leaves out stay, and lists keep
 * their order where the applied list does not define it. Unchanged parts are shared with the live value.
 *
 * @throws FieldsError when an item of a list has no unique key
 */
export function mergeValues(live: Json | undefined, applied: Json | undefined, type: TypeSchema): Json | undefined {
  if (applied === undefined || live === applied) return live;
  if (live === undefined) return applied;
  const shape = shapeOf(type, applied);
  if (shape === "leaf" || (isEmptyContainer(shape, live) && isEmptyContainer(shape, applied))) return applied;
  if (isEmptyContainer(shape, applied)) return live;
  return shape === "list" && type.kind === "list"
    ? mergeItems(itemsOf(live), itemsOf(applied), type)
    : mergeObjects(live, applied, type);
}

function mergeObjects(live: Json, applied: Json, type: TypeSchema): Json {
  const [old, config] = [fieldsOf(live), fieldsOf(applied)];
  const merged: Record<string, Json> = { ...old };
  let isChanged = false;
  for (const name of Object.keys(config)) {
    const before = Object.hasOwn(old, name) ? old[name] : undefined;
    const after = mergeValues(before, config[name], fieldTypeOf(type, name));
    if (after === before || after === undefined) continue;
    put(merged, name, after);
    isChanged = true;
  }
  return isChanged ? merged : old;
}

/** A list, and its items by element. */
interface Indexed {
  readonly elements: readonly string[];
  /** The item of an element; undefined when several items have it, because these are not merged. */
  readonly items: ReadonlyMap<string, Json | undefined>;
}

function indexed(items: readonly Json[], type: ListSchema, mayRepeat: boolean): Indexed {
  const found = new Map<string, Json | undefined>();
  const elements: string[] = [];
  for (const item of items) {
    const element = itemElement(item, type);
    const isRepeated = found.has(element);
    if (isRepeated && !mayRepeat) {
      throw new FieldsError([{ path: "", message: `duplicate entries for key ${elementText(element)}` }]);
    }
    found.set(element, isRepeated ? undefined : item);
    elements.push(element);
  }
  return { elements, items: found };
}

/**
 * Items in both lists have the order of the configuration. An item only in the live list comes before the next item in both.
 */
function mergeItems(live: readonly Json[], applied: readonly Json[], type: ListSchema): Json {
  const old = indexed(live, type, true);
  const config = indexed(applied, type, false);
  const shared = config.elements.filter((element) => old.items.has(element));
  const done = new Set<string>();
  const merged: Json[] = [];
  let [l, r, next] = [0, 0, 0];
  const take = (element: string): void => {
    const item = mergeValues(old.items.get(element), config.items.get(element), type.items);
    if (item !== undefined) merged.push(item);
    done.add(element);
    if (shared[next] === element) next++;
  };
  while (l < old.elements.length || r < config.elements.length) {
    const [ours, theirs] = [old.elements[l], config.elements[r]];
    if (ours !== undefined && ours === theirs) {
      take(ours);
      l++;
      r++;
    } else if (ours !== undefined && !config.items.has(ours)) {
      merged.push(live[l] ?? null);
      l++;
    } else if (ours !== undefined && theirs !== undefined && next < shared.length && shared[next] !== ours) {
      l++;
    } else if (theirs !== undefined) {
      if (ours !== undefined && done.has(ours)) l++;
      take(theirs);
      r++;
    } else l++;
  }
  return isSameList(merged, live) ? live : merged;
}

function isSameList(left: readonly Json[], right: readonly Json[]): boolean {
  return left.length === right.length && left.every((item, index) => item === right[index]);
}

/** Cache of the types that a set was reconciled with, because sets outlive writes. */
const reconciledTypes = new WeakMap<FieldSet, TypeSchema>();

/**
 * Adapts a set to a changed list or map type. When a field has become atomic, an owner of a part owns all of it. When it has
 * become granular, it stays owned as a whole until the next apply.
 *
 * @returns the same set when nothing differs
 */
function reconcileFields(fields: FieldSet, type: TypeSchema): FieldSet {
  if (reconciledTypes.get(fields) === type) return fields;
  const reconciled = reconcileLevel(fields, type);
  reconciledTypes.set(reconciled, type);
  return reconciled;
}

function reconcileLevel(fields: FieldSet, type: TypeSchema): FieldSet {
  if (type.kind === "scalar" || type.kind === "any" || isDeduced(type)) return fields;
  const level = new LevelBuilder(Object.hasOwn(fields, "."));
  let isSame = true;
  for (const element of elementsOf(fields)) {
    const under = fields[element] ?? noFields;
    const reconciled = reconcileBelow(under, typeAt(type, element));
    if (reconciled !== under) isSame = false;
    level.add(element, reconciled);
  }
  return isSame ? fields : level.build();
}

function reconcileBelow(under: FieldSet, type: TypeSchema | undefined): FieldSet {
  if (type === undefined || elementsOf(under).length === 0) return under;
  const isAtomic = type.kind === "list" ? type.listType === "atomic" : isObject(type) && type.isAtomic;
  if (isAtomic && !isDeduced(type)) return noFields;
  return reconcileLevel(under, type);
}

function isObject(type: TypeSchema): type is Extract<TypeSchema, { isAtomic: boolean }> {
  return type.kind === "struct" || type.kind === "map";
}

/** True for a free-form object: the type has no information about its fields. */
function isDeduced(type: TypeSchema): boolean {
  return type.kind === "map" && type.values.kind === "any";
}

/** The type of an element; undefined for an unknown field. */
function typeAt(type: TypeSchema, element: string): TypeSchema | undefined {
  if (type.kind === "list") return type.items;
  const name = element.slice(2);
  if (type.kind === "struct" && !type.fields.has(name) && !type.keepsUnknown) return undefined;
  return fieldTypeOf(type, name);
}

const any: TypeSchema = { kind: "any" };

/**
 * The value without the fields of a set. An atomic list or object is removed as a whole. As in structured-merge-diff, an object
 * or list that becomes empty is null; the decoder of the kind drops it.
 */
function removeFields(value: Json, fields: FieldSet, type: TypeSchema): Json {
  if (isEmptySet(fields)) return value;
  const shape = shapeOf(type, value);
  if (shape === "leaf") {
    return type.kind === "scalar" || (type.kind === "any" && typeof value !== "object") ? value : null;
  }
  return shape === "list" && type.kind === "list"
    ? removeItems(itemsOf(value), fields, type)
    : removeFromObject(value, fields, type);
}

function removeFromObject(value: Json, fields: FieldSet, type: TypeSchema): Json {
  const object = fieldsOf(value);
  const rest: Record<string, Json> = {};
  let isEmpty = true;
  for (const name of Object.keys(object)) {
    const field = object[name] ?? null;
    const left = remainderOf(field, below(fields, fieldElement(name)), fieldTypeOf(type, name));
    if (left === undefined) continue;
    put(rest, name, left);
    isEmpty = false;
  }
  return isEmpty ? null : rest;
}

function removeItems(items: readonly Json[], fields: FieldSet, type: ListSchema): Json {
  const rest: Json[] = [];
  for (const item of items) {
    const left = remainderOf(item, below(fields, itemElement(item, type)), type.items);
    if (left !== undefined) rest.push(left);
  }
  return rest.length === 0 ? null : rest;
}

/** The rest of a field or item; undefined when it is removed completely. */
function remainderOf(value: Json, fields: FieldSet | undefined, type: TypeSchema): Json | undefined {
  if (fields === undefined) return value;
  if (includesSelf(fields)) return undefined;
  return removeFields(value, fields, type);
}

/**
 * A set with the named fields above its fields: `spec.template` if `spec.template.spec` is in the set. Such a field is removed
 * when all fields below it are.
 */
function withNamedFields(fields: FieldSet, type: TypeSchema): FieldSet {
  return namedLevel(fields, type, false);
}

function namedLevel(fields: FieldSet, type: TypeSchema, hasItself: boolean): FieldSet {
  const level: Record<string, FieldSet> = {};
  if (hasItself && !isEmptySet(fields)) level["."] = noFields;
  for (const element of elementsOf(fields)) {
    const under = fields[element] ?? noFields;
    const isField = element.startsWith("f:");
    const name = element.slice(2);
    const isNamed = isField && type.kind === "struct" && type.fields.has(name);
    const isIncluded = includesSelf(under);
    level[element] = namedLevel(under, elementType(type, element, isField, name), isNamed || isIncluded);
  }
  return level;
}

function elementType(type: TypeSchema, element: string, isField: boolean, name: string): TypeSchema {
  if (isField) return fieldTypeOf(type, name);
  return element.startsWith("k:") && type.kind === "list" ? type.items : any;
}
