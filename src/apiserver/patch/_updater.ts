/**
 * Who owns what after a write: the rules of structured-merge-diff's `merge.Updater`. An update takes every field that it
 * changes from whoever owned it; an apply may only do so by force. What an applier no longer mentions goes, unless somebody
 * else owns it or nobody ever applied it.
 */
import type { JsonObject, TypeSchema } from "../model/mod.ts";
import { converted, type Steps, Versions } from "./_conversion.ts";
import { mergeValues } from "./_merge_values.ts";
import { reconcileFields } from "./_reconcile_fields.ts";
import { removeFields, withNamedFields } from "./_remove_fields.ts";
import { fieldsOf } from "./_shape.ts";
import { compareFields, type Comparison } from "./compare_fields.ts";
import {
  differenceOf,
  type FieldSet,
  intersectionOf,
  isEmptySet,
  noFields,
  unionOf,
  withoutFields,
} from "./field_set.ts";
import { type Manager, type Managers, withoutEmpty } from "./managed_fields.ts";
import { ownedFields } from "./owned_fields.ts";

/** An object in one of its versions. */
export interface Typed {
  readonly object: JsonObject;
  readonly apiVersion: string;
  readonly type: TypeSchema;
}

/** By apiVersion, the fields that a write through this path does not reach: `status` of the object itself. */
export type ResetFields = ReadonlyMap<string, FieldSet>;

/** What a write does to those who own fields. */
export interface Taken {
  readonly managers: Managers;
  /** What it took from whom, by identity. With force it is theirs no more. */
  readonly conflicts: ReadonlyMap<string, FieldSet>;
  /** What it changed, in its own version; undefined for nothing. */
  readonly comparison: Comparison | undefined;
}

/**
 * Brings what managers own into line with the types of today; those in a version that is no more are dropped.
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
 * Takes what a write changes from those who own it.
 *
 * @param self the identity of the writer, who takes nothing from itself
 */
export function* takeFields(
  live: Typed,
  updated: Typed,
  managers: Managers,
  options: { readonly self: string | undefined; readonly resetFields: ResetFields | undefined },
): Steps<Taken> {
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

/** A comparison in some version; missing where there is no such version. */
type Found =
  | { readonly kind: "compared"; readonly comparison: Comparison | undefined }
  | { readonly kind: "missing" };

/** The same write seen in the versions of other managers. */
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
    const live = yield* this.#live.in(apiVersion);
    const updated = yield* this.#updated.in(apiVersion);
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

/** A comparison without the fields that the write does not reach. */
function reachable(comparison: Comparison | undefined, unreached: FieldSet | undefined): Comparison | undefined {
  if (comparison === undefined || unreached === undefined) return comparison;
  const added = withoutFields(comparison.added, unreached);
  const modified = withoutFields(comparison.modified, unreached);
  const removed = withoutFields(comparison.removed, unreached);
  return isEmptySet(added) && isEmptySet(modified) && isEmptySet(removed) ? undefined : { added, modified, removed };
}

/** What an apply comes to. */
export interface Applied extends Taken {
  readonly object: JsonObject;
}

/**
 * Merges an applied configuration into an object and takes what it mentions.
 *
 * @param applier who applies, with what it owned before when it is among the managers
 */
export function* applyFields(
  live: Typed,
  config: JsonObject,
  managers: Managers,
  options: { readonly applier: Manager; readonly self: string; readonly resetFields: ResetFields | undefined },
): Steps<Applied> {
  const { applier, self, resetFields } = options;
  const last = managers.get(self);
  const owned = ownedFields(config, live.type);
  const unreached = resetFields?.get(live.apiVersion);
  const fields = unreached === undefined ? owned : withoutFields(owned, unreached);
  const holders: Managers = new Map(managers).set(self, { ...applier, fields });
  const merged = fieldsOf(mergeValues(live.object, config, live.type) ?? null);
  const object = yield* prune({ ...live, object: merged }, holders, self, last);
  return { object, ...yield* takeFields(live, { ...live, object }, holders, { self, resetFields }) };
}

/** The object without what this applier applied last time, does not apply now, and nobody else owns. */
function* prune(merged: Typed, managers: Managers, self: string, last: Manager | undefined): Steps<JsonObject> {
  const now = managers.get(self)?.fields ?? noFields;
  if (last === undefined || isEmptySet(last.fields)) return merged.object;
  if (last.apiVersion === merged.apiVersion && isEmptySet(differenceOf(last.fields, now))) return merged.object;
  const before = yield* inVersion(merged, last.apiVersion);
  if (before === undefined) return merged.object;
  const lastFields = withNamedFields(last.fields, before.type);
  const bare: Typed = { ...before, object: fieldsOf(removeFields(before.object, lastFields, before.type)) };
  const owned = yield* addBackOwned(before, bare, managers);
  const pruned = yield* addBackDangling(before, owned, lastFields);
  return (yield* inVersion(pruned, merged.apiVersion))?.object ?? merged.object;
}

/** Gives back what somebody owns: another manager, or this one with what it applies now. */
function* addBackOwned(merged: Typed, pruned: Typed, managers: Managers): Steps<Typed> {
  const byVersion = new Map<string, FieldSet>();
  for (const { apiVersion, fields } of managers.values()) {
    byVersion.set(apiVersion, unionOf(byVersion.get(apiVersion) ?? noFields, fields));
  }
  // The version it was applied in goes first, so that what a conversion needs is there again.
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
  const merged = yield* inVersion(mergedBefore, version);
  const pruned = merged === undefined ? undefined : yield* inVersion(prunedBefore, version);
  if (merged === undefined || pruned === undefined) return { merged: mergedBefore, pruned: prunedBefore };
  const { type } = merged;
  const all = withNamedFields(ownedFields(merged.object, type), type);
  const left = withNamedFields(ownedFields(pruned.object, type), type);
  const gone = differenceOf(all, unionOf(left, withNamedFields(owned, type)));
  return { merged, pruned: { ...merged, object: fieldsOf(removeFields(merged.object, gone, type)) } };
}

/** Gives back what this applier never applied: what nobody owns, or only those who update. */
function* addBackDangling(merged: Typed, prunedBefore: Typed, lastFields: FieldSet): Steps<Typed> {
  const pruned = yield* inVersion(prunedBefore, merged.apiVersion);
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
