/**
 * updateManagedFields: who owns what after a create, an update or a patch that is no apply. Whoever writes owns the fields
 * that the write changed, and whoever owned them owns them no more; nobody is refused.
 *
 * It runs on every write, so what did not change is shared: a write that changes no field returns the very list it was given.
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
import { FieldsError } from "./_fields_error.ts";
import { reconcileManagers, type ResetFields, takeFields, type Typed } from "./_updater.ts";
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
  withoutKeys,
  writeManagers,
} from "./managed_fields.ts";

/** What is known of a write, whatever it is. */
export interface FieldContext {
  /** The kind in the version of the request. */
  readonly type: TypeSchema;
  /** What an object of the kind holds before anybody wrote to it. @default nothing */
  readonly empty?: JsonObject;
  /** The version of the request, e.g. `apps/v1`. */
  readonly apiVersion: string;
  /** "" for the object itself. */
  readonly subresource: string;
  /** The field manager; "" becomes `unknown`. */
  readonly manager: string;
  /** Milliseconds since 1970, of the server's Clock. */
  readonly now: number;
  /** By apiVersion, what this subresource's writes do not reach. */
  readonly resetFields?: ResetFields;
  /** @default there is but one version; entries of others are dropped */
  readonly convert?: Convert;
}

/** A create, an update or a patch. */
export interface UpdateFields extends FieldContext {
  /** The stored object, in the version of the request; undefined when it is being created. */
  readonly live: JsonObject | undefined;
  /** The object as the writer wants it, decoded and with its defaults. */
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

/** What never is a manager's. */
export const unownedFields: FieldSet = fieldSetOf([
  ["f:metadata"],
  ...Array.from(unownedTop, (name) => [`f:${name}`]),
  ...Array.from(unownedMetadata, (name) => ["f:metadata", `f:${name}`]),
]);

/** What of an object may be somebody's, so that nothing else is looked at. */
function ownablePart(object: JsonObject): JsonObject {
  const part = withoutKeys(object, unownedTop);
  const metadata = read(part, "metadata");
  part["metadata"] = isJsonObject(metadata) ? withoutKeys(metadata, unownedMetadata) : {};
  return part;
}

/**
 * The managed fields that the object is to be stored with: undefined for none (the object was never tracked, or its writer
 * asked to forget it all). Whatever managed fields `updated` holds are to be replaced.
 *
 * An object in which fields cannot be told apart (an item of a keyed list without its key) is no longer tracked, as on the
 * real server.
 */
export function updateManagedFields(
  write: UpdateFields,
): ManagedFields | undefined | Promise<ManagedFields | undefined> {
  try {
    const outcome = runSteps(updateSteps(write), write.convert);
    return outcome instanceof Promise ? outcome.catch(forget) : outcome;
  } catch (error) {
    return forget(error);
  }
}

function forget(error: unknown): undefined {
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

/** Who owned what before: as the writer says, or as it is stored where the writer knows nothing of it. */
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
 * The managers after a write that takes whatever it changes.
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
  const taken = yield* takeFields({ ...typed, object: old }, { ...typed, object: now }, managers, {
    self: undefined,
    resetFields,
  });
  if (taken.comparison === undefined) return managers;
  const { added, modified } = taken.comparison;
  const changed = unionOf(modified, added);
  const own = isOneVersion ? changed : differenceOf(changed, unownedFields);
  if (isEmptySet(own)) return taken.managers;
  return capUpdateManagers(withUpdate(write, taken.managers, own));
}

function withUpdate(write: FieldContext, managers: Managers, own: FieldSet): Managers {
  const name = write.manager === "" ? "unknown" : write.manager;
  const { apiVersion, subresource } = write;
  const updater: Manager = {
    name,
    operation: "Update",
    apiVersion,
    subresource,
    time: timeText(write.now),
    fields: noFields,
  };
  const self = identityOf(updater);
  const fields = unionOf(own, managers.get(self)?.fields ?? noFields);
  return new Map(managers).set(self, { ...updater, fields });
}

/**
 * Gives the entries of a list their old times, where a write changed nothing but times: then it is none, and the object
 * keeps its resourceVersion.
 *
 * @returns the stored list when `updated` differs from `live` in nothing but times; else undefined
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
