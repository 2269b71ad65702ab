/**
 * ManagedFields: reads and writes `metadata.managedFields`, whose entries are the Managers of an object.
 *
 * The identity of an entry is its manager, operation and subresource, and for an Update also its apiVersion. So a client that
 * updates in two versions has two entries, and a client that applies has one.
 */
import {
  type Draft,
  draftOf,
  goJson,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  put,
  read,
} from "../model/mod.ts";
import { FieldsError } from "./_element.ts";
import { type FieldSet, isEmptySet, noFields, readFieldSet, unionOf } from "./field_set.ts";

/** The operation by which a manager owns fields. */
export type ManagerOperation = "Apply" | "Update";

/** `metadata.managedFields`; the keys of each entry have the order of kube-apiserver. */
export type ManagedFields = readonly Json[];

/** An owner of fields. */
export interface Manager {
  readonly name: string;
  readonly operation: ManagerOperation;
  readonly apiVersion: string;
  readonly subresource: string;
  /** RFC 3339, whole seconds, UTC. */
  readonly time: string | undefined;
  readonly fields: FieldSet;
}

/** Managers by their identity. */
export type Managers = ReadonlyMap<string, Manager>;

/** The oldest Update entries are merged when there are more, as in `managedfields` of apimachinery. */
const maxUpdateManagers = 10;

/** The owner of merged entries. */
const ancientName = "ancient-changes";

/** The identity of a manager. */
export function identityOf(manager: Pick<Manager, "name" | "operation" | "apiVersion" | "subresource">): string {
  const { name, operation, apiVersion, subresource } = manager;
  return `${operation}\n${operation === "Update" ? apiVersion : ""}\n${subresource}\n${name}`;
}

/** The identity as kube-apiserver writes it, and sorts by it. */
export function identityText(manager: Pick<Manager, "name" | "operation" | "apiVersion" | "subresource">): string {
  const { name, operation, apiVersion, subresource } = manager;
  let text = name === "" ? "" : `"manager":${goJson(name)},`;
  text += `"operation":"${operation}"`;
  if (operation === "Update") text += `,"apiVersion":${goJson(apiVersion)}`;
  if (subresource !== "") text += `,"subresource":${goJson(subresource)}`;
  return `{${text}}`;
}

/** Sets that this file has read or written; they are not parsed again. */
const known = new WeakSet<JsonObject>();

function isKnown(value: JsonObject): value is FieldSet {
  return known.has(value);
}

/**
 * Reads `metadata.managedFields`.
 *
 * @throws FieldsError when it is malformed, with the texts of kube-apiserver
 */
export function readManagers(list: Json | undefined): Managers {
  const managers = new Map<string, Manager>();
  if (!isJsonArray(list)) return managers;
  for (const [index, entry] of list.entries()) {
    const manager = readManager(isJsonObject(entry) ? entry : {}, index);
    managers.set(identityOf(manager), manager);
  }
  return managers;
}

function readManager(entry: JsonObject, index: number): Manager {
  const operation = read(entry, "operation");
  if (operation !== "Apply" && operation !== "Update") throw problem("operation must be `Apply` or `Update`");
  const apiVersion = textOf(entry, "apiVersion");
  if (apiVersion === "") throw problem("apiVersion must not be empty");
  const fieldsType = textOf(entry, "fieldsType");
  if (fieldsType === "") throw problem(`missing fieldsType in managed fields entry ${index}`);
  if (fieldsType !== "FieldsV1") {
    throw problem(`invalid fieldsType ${JSON.stringify(fieldsType)} in managed fields entry ${index}`);
  }
  const fields = read(entry, "fieldsV1") ?? null;
  const time = read(entry, "time");
  return {
    name: textOf(entry, "manager"),
    operation,
    apiVersion,
    subresource: textOf(entry, "subresource"),
    time: typeof time === "string" ? wholeSeconds(time) : undefined,
    fields: isJsonObject(fields) && isKnown(fields) ? fields : readFieldSet(fields),
  };
}

function wholeSeconds(time: string): string | undefined {
  if (/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(time)) return time;
  const at = Date.parse(time);
  return Number.isNaN(at) ? undefined : timeText(at);
}

function textOf(entry: JsonObject, key: string): string {
  const value = read(entry, key);
  return typeof value === "string" ? value : "";
}

function problem(message: string): FieldsError {
  return new FieldsError([{ path: "", message }]);
}

/**
 * The error of a list of managed fields after a mutating webhook; undefined when it is valid. kube-apiserver then warns and
 * restores the previous list.
 */
export function managedFieldsProblem(list: Json | undefined): string | undefined {
  try {
    readManagers(list);
    return undefined;
  } catch (error) {
    if (error instanceof FieldsError) return error.message;
    throw error;
  }
}

/** `metadata.managedFields` of these managers; undefined when there are none. */
export function writeManagers(managers: Managers): ManagedFields | undefined {
  if (managers.size === 0) return undefined;
  const sorted = managers.size === 1 ? managers.values() : [...managers.values()].sort(compareManagers);
  return Array.from(sorted, entryOf);
}

function entryOf(manager: Manager): JsonObject {
  const { name, operation, apiVersion, time, fields, subresource } = manager;
  known.add(fields);
  const entry: Record<string, Json> = { manager: name, operation, apiVersion };
  if (time !== undefined) entry["time"] = time;
  entry["fieldsType"] = "FieldsV1";
  entry["fieldsV1"] = fields;
  if (subresource !== "") entry["subresource"] = subresource;
  return entry;
}

/** Managed fields for a draft. Sets of fields are shared, because they never change. */
export function managedFieldsDraft(list: ManagedFields): Draft[] {
  return list.map((entry) => {
    const copy: Draft = {};
    for (const [key, value] of Object.entries(isJsonObject(entry) ? entry : {})) {
      put(copy, key, isJsonObject(value) && isKnown(value) ? value : draftOf(value));
    }
    return copy;
  });
}

/** The order of kube-apiserver: Apply entries first, then by time, then by name. */
function compareManagers(left: Manager, right: Manager): number {
  return compareTexts(left.operation, right.operation) || secondsOf(left.time) - secondsOf(right.time) ||
    compareTexts(left.name, right.name) || compareTexts(left.apiVersion, right.apiVersion) ||
    compareTexts(left.subresource, right.subresource);
}

function compareTexts(left: string, right: string): number {
  return left === right ? 0 : left < right ? -1 : 1;
}

function secondsOf(time: string | undefined): number {
  return time === undefined ? 0 : Math.floor(Date.parse(time) / 1000);
}

/** The managers that own fields; the same map when all do. */
export function withoutEmpty(managers: Managers): Managers {
  let rest: Map<string, Manager> | undefined;
  for (const [identity, { fields }] of managers) {
    if (isEmptySet(fields)) (rest ??= new Map(managers)).delete(identity);
  }
  return rest ?? managers;
}

/**
 * Merges the oldest Update entries of a version until there are ten, so that an object with many writers does not grow without
 * limit.
 */
export function capUpdateManagers(managers: Managers): Managers {
  const updaters = [...managers].filter(([, manager]) => manager.operation === "Update");
  let count = updaters.length;
  if (count <= maxUpdateManagers) return managers;
  updaters.sort(([, left], [, right]) =>
    secondsOf(left.time) - secondsOf(right.time) || compareTexts(identityText(left), identityText(right))
  );
  const capped = new Map(managers);
  const firstOfVersion = new Map<string, string>();
  for (const [identity, manager] of updaters) {
    if (count <= maxUpdateManagers) break;
    const first = firstOfVersion.get(manager.apiVersion);
    if (first === undefined) {
      firstOfVersion.set(manager.apiVersion, identity);
      continue;
    }
    addToAncient(capped, manager, first);
    capped.delete(identity);
    count--;
  }
  return capped;
}

/** @param first the identity of the oldest entry of the version, which becomes the merged entry if there is none yet */
function addToAncient(managers: Map<string, Manager>, manager: Manager, first: string): void {
  const { apiVersion, time } = manager;
  const ancient: Manager = {
    name: ancientName,
    operation: "Update",
    apiVersion,
    subresource: "",
    time,
    fields: noFields,
  };
  const bucket = identityOf(ancient);
  const merged = managers.get(bucket) ?? managers.get(first);
  if (!managers.has(bucket)) managers.delete(first);
  managers.set(bucket, { ...ancient, fields: unionOf(manager.fields, merged?.fields ?? noFields) });
}

/** True when a client resets the managed fields: an empty list, or a single empty entry. */
export function isReset(list: Json | undefined): boolean {
  if (!isJsonArray(list)) return false;
  const [first] = list;
  return list.length === 0 || (list.length === 1 && isJsonObject(first) && Object.keys(first).length === 0);
}

/** The managed fields of an object. */
export function managedFieldsOf(object: JsonObject): Json | undefined {
  const metadata = read(object, "metadata");
  return isJsonObject(metadata) ? read(metadata, "managedFields") : undefined;
}

/** The object with other managed fields, or without any; all other parts are shared. */
export function withManagedFields(object: JsonObject, managedFields: ManagedFields | undefined): JsonObject {
  const metadata = read(object, "metadata");
  if (!isJsonObject(metadata)) return object;
  if (managedFields === undefined && !Object.hasOwn(metadata, "managedFields")) return object;
  const copy: Record<string, Json> = withoutKeys(metadata, managedFieldsKey);
  if (managedFields !== undefined) copy["managedFields"] = managedFields;
  return { ...object, metadata: copy };
}

const managedFieldsKey: ReadonlySet<string> = new Set(["managedFields"]);

/** A copy without some keys. */
export function withoutKeys(object: JsonObject, keys: ReadonlySet<string>): Record<string, Json> {
  const copy: Record<string, Json> = {};
  for (const key of Object.keys(object)) if (!keys.has(key)) put(copy, key, object[key] ?? null);
  return copy;
}

/** A time in the format of managed fields. @param now milliseconds since 1970 */
export function timeText(now: number): string {
  return `${new Date(now).toISOString().slice(0, 19)}Z`;
}
