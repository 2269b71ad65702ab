/**
 * How the real server writes a patched object, and what it says of values that do not fit, where it refuses a patch: its
 * decoders are not those of a body, and both their order of fields and their words are their own.
 */
import { goJson, isJsonObject, isSameJson, type JsonObject, read, type TypeSchema } from "../model/mod.ts";

/** The fields of metadata as Go writes them. */
const metadataOrder = [
  "name",
  "generateName",
  "namespace",
  "selfLink",
  "uid",
  "resourceVersion",
  "generation",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "labels",
  "annotations",
  "ownerReferences",
  "finalizers",
  "managedFields",
];

/**
 * An object after a patch, before it is read again: what the patch went through stands sorted, the rest in Go's order.
 *
 * @param old the object before the patch
 */
export function patchedText(object: JsonObject, old: JsonObject, type: TypeSchema): string {
  const fields = Object.keys(object).sort().map((key) => `${goJson(key)}:${fieldText(object, old, key, type)}`);
  return `{${fields.join(",")}}`;
}

function fieldText(object: JsonObject, old: JsonObject, key: string, type: TypeSchema): string {
  const value = read(object, key) ?? null;
  const isTouched = !isSameJson(value, read(old, key) ?? null);
  if (isTouched || !isJsonObject(value)) return goJson(value);
  if (key === "metadata") return metadataText(value);
  const schema = type.kind === "struct" ? type.fields.get(key) : undefined;
  return schema?.kind === "map" ? goJson(value) : JSON.stringify(value);
}

function metadataText(metadata: JsonObject): string {
  const fields = metadataOrder.filter((key) => Object.hasOwn(metadata, key)).map((key) => {
    const value = metadata[key] ?? null;
    // Lists of structs stand in Go's order already; maps are sorted.
    return `${goJson(key)}:${isJsonObject(value) ? goJson(value) : JSON.stringify(value)}`;
  });
  return `{${fields.join(",")}}`;
}

const unmarshalling = /^json: cannot unmarshal (\w+)( [^ ]+)? into Go (?:struct field [^ ]+|value) of type (.+)$/;

/** Go's names for what a value is, by those of its JSON decoder. */
const kinds: ReadonlyMap<string, string> = new Map([["array", "slice"], ["object", "map"]]);
const scalars: ReadonlySet<string> = new Set(["string", "bool", "int32", "int64", "float64"]);

/** A complaint of the JSON decoder in the words of the one that reads maps, which serves strategic merge patches. */
export function restoringText(complaint: string): string {
  const [, found, number = "", type] = unmarshalling.exec(complaint) ?? [];
  if (found === undefined || type === undefined) return complaint;
  const kind = found === "number" ? (/[.eE]/.test(number) ? "float64" : "int64") : kinds.get(found) ?? found;
  if (type.startsWith("[]")) return `cannot restore slice from ${kind}`;
  if (type.startsWith("map[")) return `cannot restore map from ${kind}`;
  if (!scalars.has(type)) return `cannot restore struct from: ${kind}`;
  // Go converts any number to a text, and so is at a loss in other words.
  const isConvertible = (kind === "int64" && type === "string") || (kind === "float64" && type.startsWith("int"));
  return isConvertible ? `cannot convert ${kind} to ${type}` : `unrecognized type: ${type}`;
}
