/**
 * The decoding of an ObjectMeta as Go does it, in an object and in an embedded resource: the types of its fields, the form of
 * its times, unknown and empty fields.
 */
import { canonicalTime, type Draft, type DraftValue, goJson, isDraft, jsonTypeName, TimeError } from "../model/mod.ts";

/** Metadata that Go cannot decode. The message is that of Go's decoder. */
export class ObjectMetaError extends Error {
  override readonly name = "ObjectMetaError";
}

type FieldType = "string" | "uid" | "time" | "integer" | "strings" | "references" | "list" | "entries";

/** The types of the fields of ObjectMeta. */
const types: ReadonlyMap<string, FieldType> = new Map<string, FieldType>([
  ["name", "string"],
  ["generateName", "string"],
  ["namespace", "string"],
  ["selfLink", "string"],
  ["uid", "uid"],
  ["resourceVersion", "string"],
  ["generation", "integer"],
  ["creationTimestamp", "time"],
  ["deletionTimestamp", "time"],
  ["deletionGracePeriodSeconds", "integer"],
  ["labels", "strings"],
  ["annotations", "strings"],
  ["ownerReferences", "references"],
  ["finalizers", "list"],
  ["managedFields", "entries"],
]);

/** The fields of an item of a list, with the names of their Go types. */
type ItemTypes = ReadonlyMap<
  string,
  "string" | "types.UID" | "bool" | "time" | "any" | "v1.ManagedFieldsOperationType"
>;

const referenceTypes: ItemTypes = new Map([
  ["apiVersion", "string"],
  ["kind", "string"],
  ["name", "string"],
  ["uid", "types.UID"],
  ["controller", "bool"],
  ["blockOwnerDeletion", "bool"],
]);

const entryTypes: ItemTypes = new Map([
  ["manager", "string"],
  ["operation", "v1.ManagedFieldsOperationType"],
  ["apiVersion", "string"],
  ["time", "time"],
  ["fieldsType", "string"],
  ["fieldsV1", "any"],
  ["subresource", "string"],
]);

/** Where the metadata is. */
export interface ObjectMetaOptions {
  /** In Go's error messages. */
  readonly path: string;
  /** Whether an empty list of managedFields is dropped. @default false */
  readonly dropsEmptyEntries?: boolean;
  /** Whether fields that only the server sets are dropped if they have a wrong type. @default false */
  readonly dropsMalformed?: boolean;
}

const serverFields: ReadonlySet<string> = new Set([
  "generation",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
]);

/**
 * Drops unknown and empty fields: null, and empty texts, lists and maps. Times get their canonical form.
 *
 * @returns the paths of unknown fields below the metadata
 * @throws ObjectMetaError
 */
export function decodeObjectMeta(metadata: Draft, options: ObjectMetaOptions): readonly string[] {
  const { path, dropsEmptyEntries = false, dropsMalformed = false } = options;
  const unknown: string[] = [];
  for (const [field, given] of Object.entries(metadata)) {
    const type = types.get(field);
    if (type === undefined) unknown.push(field);
    const value = type === undefined || given === null || (dropsMalformed && isMalformed(type, field, given))
      ? null
      : decodeField(`${path}.${field}`, { field, type, value: given }, unknown);
    if (value === null || (isEmpty(value) && (type !== "entries" || dropsEmptyEntries))) delete metadata[field];
    else metadata[field] = value;
  }
  return unknown;
}

/** Whether Go cannot decode a field that only the server sets. */
function isMalformed(type: FieldType, field: string, value: DraftValue): boolean {
  if (!serverFields.has(field)) return false;
  try {
    decodeField("", { field, type, value }, []);
    return false;
  } catch (error) {
    if (error instanceof ObjectMetaError) return true;
    throw error;
  }
}

function isEmpty(value: DraftValue): boolean {
  if (value === "" || value === 0) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isDraft(value) && Object.keys(value).length === 0;
}

/** A field and its value, which is not null. */
interface Field {
  readonly field: string;
  readonly type: FieldType;
  readonly value: DraftValue;
}

function decodeField(path: string, { field, type, value }: Field, unknown: string[]): DraftValue {
  switch (type) {
    case "string":
    case "uid":
      if (typeof value !== "string") throw mistyped(value, path, type === "uid" ? "types.UID" : "string");
      return value;
    case "time":
      return decodeTime(path, value);
    case "integer":
      if (!isInt64(value)) throw mistyped(value, path, "int64");
      return value;
    case "strings":
      return decodeStrings(path, value);
    case "list":
      return decodeTexts(path, value);
    case "references":
      return decodeItems({ path, field, type: "v1.OwnerReference", types: referenceTypes }, value, unknown);
    case "entries":
      return decodeItems({ path, field, type: "v1.ManagedFieldsEntry", types: entryTypes }, value, unknown);
    default:
      return type satisfies never;
  }
}

const int64Limit = 2 ** 63;

function isInt64(value: DraftValue): boolean {
  if (typeof value === "bigint") return true;
  return typeof value === "number" && Number.isInteger(value) && value >= -int64Limit && value < int64Limit;
}

function decodeTime(path: string, value: DraftValue): string {
  if (typeof value !== "string") throw mistyped(value, path, "string");
  try {
    return canonicalTime(value);
  } catch (error) {
    if (error instanceof TimeError) throw new ObjectMetaError(error.message);
    throw error;
  }
}

function decodeTexts(path: string, value: DraftValue): DraftValue {
  if (!Array.isArray(value)) throw mistyped(value, path, "[]string");
  value.forEach((item, index) => {
    // Go decodes null into a string as "".
    if (item === null) value[index] = "";
    else if (typeof item !== "string") throw mistyped(item, path, "string");
  });
  return value;
}

function decodeStrings(path: string, value: DraftValue): DraftValue {
  if (!isDraft(value)) throw mistyped(value, path, "map[string]string");
  for (const key of Object.keys(value)) {
    const text = value[key] ?? null;
    // Go decodes null into a string as "".
    if (text === null) value[key] = "";
    else if (typeof text !== "string") throw mistyped(text, path, "string");
  }
  return value;
}

/** A list of structs. */
interface List {
  readonly path: string;
  readonly field: string;
  /** The Go type of an item. */
  readonly type: string;
  readonly types: ItemTypes;
}

function decodeItems(list: List, value: DraftValue, unknown: string[]): DraftValue {
  const { path, field, type } = list;
  if (!Array.isArray(value)) throw mistyped(value, path, `[]${type}`);
  value.forEach((given, index) => {
    const item = given ?? zeroItem(list);
    if (!isDraft(item)) throw mistyped(item, path, type);
    value[index] = item;
    decodeItem(list, item, (name) => unknown.push(`${field}[${index}].${name}`));
  });
  return value;
}

/** What Go decodes null into. */
function zeroItem({ types }: List): Draft {
  return types === referenceTypes ? { apiVersion: "", kind: "", name: "", uid: "" } : {};
}

function decodeItem({ field, type, types }: List, item: Draft, onUnknown: (name: string) => void): void {
  for (const [name, value] of Object.entries(item)) {
    const expected = types.get(name);
    const path = `${type.slice("v1.".length)}.${field}.${name}`;
    if (expected === undefined) onUnknown(name);
    if (expected === undefined || value === null) delete item[name];
    else if (expected === "time") item[name] = decodeTime(path, value);
    else if (expected !== "any" && (expected === "bool" ? typeof value !== "boolean" : typeof value !== "string")) {
      throw mistyped(value, path, expected);
    }
  }
}

/** The error of Go's decoder about a value of another type. @param path "" for the whole value */
export function mistyped(value: DraftValue, path: string, type: string): ObjectMetaError {
  const found = type === "int64" && typeof value === "number" ? `number ${goJson(value)}` : jsonTypeName(value);
  const place = path === "" ? "value" : `struct field ${path}`;
  return new ObjectMetaError(`json: cannot unmarshal ${found} into Go ${place} of type ${type}`);
}
