/**
 * updateManagedFields(): the managed fields after a create, an update, or a patch that is not an apply. The manager of the
 * write owns the changed fields, and their previous owners lose them. There are no conflicts.
 *
 * Guarantees: it runs on every write, so unchanged parts are shared. A write that changes no field returns the same list.
 */
import {
  isJsonArray,
  isJsonObject,
  isSameJson,
  type Json,
  type JsonObject,
  read,
  type TypeSchema,
} from "../model/mod.ts";
import { type Convert, runSteps, type Steps } from "./_conversion.ts";
import { FieldsError } from "./_element.ts";
import { reconcileManagers, type ResetFields, takeFields, type Typed } from "./updater.ts";
import { differenceOf, type FieldSet, fieldSetOf, isEmptySet, noFields, unionOf } from "./field_set.ts";
import {
  capUpdateManagers,
  identityOf,
  isReset,
  type ManagedFields,
  managedFieldsOf,
  type Manager,
  type Managers,
  readManagers,
  timeText,
  withManagedFields,
  withoutEmpty,
  withoutKeys,
  writeManagers,
} from "./managed_fields.ts";

/** What all writes have in common. */
export interface FieldContext {
  /** The kind in the version of the request. */
  readonly type: TypeSchema;
  /** The fields that an empty object of the kind has. @default none */
  readonly empty?: JsonObject;
  /** The version of the request, e.g. `apps/v1`. */
  readonly apiVersion: string;
  /** "" for the object itself. */
  readonly subresource: string;
  /** The field manager; "" becomes `unknown`. */
  readonly manager: string;
  /** Milliseconds since 1970, of the server's Clock. */
  readonly now: number;
  /** By apiVersion, the fields that writes to this subresource never change. */
  readonly resetFields?: ResetFields;
  /** @default the kind has one version; entries of other versions are dropped */
  readonly convert?: Convert;
}

/** A create, an update or a patch. */
export interface UpdateFields extends FieldContext {
  /** The live object, in the version of the request; undefined for a create. */
  readonly live: JsonObject | undefined;
  /** The new object, decoded and with defaults. */
  readonly updated: JsonObject;
}

const unownedMetadata: ReadonlySet<string> = new Set([
  "name",
  "namespace",
  "creationTimestamp",
  "selfLink",
  "uid",
  "clusterName",
  "generation",
  "managedFields",
  "resourceVersion",
]);
const unownedTop: ReadonlySet<string> = new Set(["apiVersion", "kind"]);

/** Fields that no manager owns. */
export const unownedFields: FieldSet = fieldSetOf([
  ["f:metadata"],
  ...Array.from(unownedTop, (name) => [`f:${name}`]),
  ...Array.from(unownedMetadata, (name) => ["f:metadata", `f:${name}`]),
]);

/** The part of an object that managers can own. */
function ownablePart(object: JsonObject): JsonObject {
  const part = withoutKeys(object, unownedTop);
  const metadata = read(part, "metadata");
  part["metadata"] = isJsonObject(metadata) ? withoutKeys(metadata, unownedMetadata) : {};
  return part;
}

/**
 * The new managed fields, which replace those in `updated`; undefined for none, when the object was never tracked or the client
 * has reset them.
 *
 * As in kube-apiserver, an object with ambiguous fields (an item of a keyed list without its key) is not tracked any more.
 */
export function updateManagedFields(
  write: UpdateFields,
): ManagedFields | undefined | Promise<ManagedFields | undefined> {
  try {
    const outcome = runSteps(updateSteps(write), write.convert);
    return outcome instanceof Promise ? outcome.catch(untrack) : outcome;
  } catch (error) {
    return untrack(error);
  }
}

function untrack(error: unknown): undefined {
  if (!(error instanceof FieldsError)) throw error;
}

function* updateSteps(write: UpdateFields): Steps<ManagedFields | undefined> {
  const { live, updated } = write;
  const source = sourceOf(write);
  const before = managersOf(source);
  if (before.size === 0 && live !== undefined) return undefined;
  const after = yield* updateManagers(write, live ?? write.empty ?? {}, updated, before);
  return after === before && isJsonArray(source) && live !== undefined && source === managedFieldsOf(live)
    ? source
    : writeManagers(after);
}

/** The managed fields before the write: those in the body, or the stored ones if the body has none or invalid ones. */
function sourceOf(write: UpdateFields): Json | undefined {
  const stored = write.live === undefined ? undefined : managedFieldsOf(write.live);
  const sent = managedFieldsOf(write.updated);
  if (write.subresource !== "" || sent === stored || isSameJson(sent, stored)) return stored;
  if (isReset(sent)) return undefined;
  return managersOf(sent).size === 0 ? stored : sent;
}

function managersOf(list: Json | undefined): Managers {
  try {
    return readManagers(list);
  } catch (error) {
    if (error instanceof FieldsError) return new Map();
    throw error;
  }
}

/**
 * The managers after a write that takes the fields it changes.
 *
 * @returns the same managers when the write changed nothing
 */
export function* updateManagers(
  write: FieldContext,
  live: JsonObject,
  updated: JsonObject,
  before: Managers,
): Steps<Managers> {
  const { type, apiVersion, resetFields } = write;
  const typed: Typed = { object: live, apiVersion, type };
  const managers = yield* reconcileManagers(typed, before);
  const isOneVersion = managers.size === 0 || [...managers.values()].every((one) => one.apiVersion === apiVersion);
  const [old, now] = isOneVersion ? [ownablePart(live), ownablePart(updated)] : [live, updated];
  const updater = updaterOf(write);
  const self = identityOf(updater);
  // In one version, the writer would get back each field that it takes from itself: it keeps them, and usually its whole set.
  const taken = yield* takeFields({ ...typed, object: old }, { ...typed, object: now }, managers, {
    self: isOneVersion ? self : undefined,
    resetFields,
  });
  if (taken.comparison === undefined) return managers;
  const { added, modified, removed } = taken.comparison;
  const rest = isOneVersion ? withoutRemoved(taken.managers, self, removed) : taken.managers;
  const changed = unionOf(modified, added);
  const own = isOneVersion ? changed : differenceOf(changed, unownedFields);
  if (isEmptySet(own)) return rest;
  const fields = unionOf(rest.get(self)?.fields ?? noFields, own);
  return capUpdateManagers(new Map(rest).set(self, { ...updater, fields }));
}

/** The manager of a write, without fields. */
function updaterOf({ manager, apiVersion, subresource, now }: FieldContext): Manager {
  const name = manager === "" ? "unknown" : manager;
  return { name, operation: "Update", apiVersion, subresource, time: timeText(now), fields: noFields };
}

/** The managers, of which one has lost the removed fields. */
function withoutRemoved(managers: Managers, identity: string, removed: FieldSet): Managers {
  const manager = managers.get(identity);
  if (manager === undefined || isEmptySet(removed)) return managers;
  const fields = differenceOf(manager.fields, removed);
  return fields === manager.fields ? managers : withoutEmpty(new Map(managers).set(identity, { ...manager, fields }));
}

/**
 * The stored list, with its old times, when a write changes only times in managed fields. Such a write changes nothing, and the
 * object keeps its resourceVersion.
 *
 * @returns undefined when `updated` differs from `live` in anything else
 */
export function unchangedButTimes(live: JsonObject, updated: JsonObject): ManagedFields | undefined {
  const [stored, sent] = [managedFieldsOf(live), managedFieldsOf(updated)];
  if (!isJsonArray(stored) || !isJsonArray(sent) || stored.length !== sent.length || stored.length === 0) {
    return undefined;
  }
  const isSame = stored.every((entry, index) => isSameJson(withoutTime(entry), withoutTime(sent[index] ?? null)));
  if (!isSame || !isSameJson(withManagedFields(live, undefined), withManagedFields(updated, undefined))) {
    return undefined;
  }
  return stored;
}

function withoutTime(entry: Json): Json {
  if (!isJsonObject(entry) || read(entry, "time") === undefined) return entry;
  const { time: _, ...rest } = entry;
  return rest;
}
