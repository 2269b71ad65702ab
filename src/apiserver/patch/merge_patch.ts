/**
 * JSON merge patch (RFC 7386) with the semantics of kube-apiserver, which uses evanphx/json-patch v4: null removes a field, and
 * a list replaces a list. In a list that the object did not have before, nulls are dropped from the objects in it.
 */
import {
  badRequest,
  type Draft,
  draftOf,
  type DraftValue,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  jsonTypeName,
  put,
  read,
} from "../model/mod.ts";
import type { FieldValidation } from "./json_patch.ts";

/**
 * The object with a patch merged into it.
 *
 * @throws StatusError 400 when the patch is not an object
 */
export function mergePatch(object: JsonObject, patch: Json, validation: FieldValidation = "Warn"): Draft {
  if (isJsonObject(patch)) return merged(object, patch);
  if (validation !== "Ignore" && patch !== null) {
    const type = "map[string]interface {}";
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${jsonTypeName(patch)} into Go value of type ${type}`,
    );
  }
  throw badRequest("Invalid JSON Patch");
}

function merged(object: JsonObject, patch: JsonObject): Draft {
  const result: Draft = {};
  for (const key of Object.keys(object)) {
    const value = object[key] ?? null;
    const change = read(patch, key);
    if (change === undefined) put(result, key, draftOf(value));
    else if (change !== null) put(result, key, replaced(value, change));
  }
  for (const key of Object.keys(patch)) {
    const value = patch[key] ?? null;
    if (value !== null && !Object.hasOwn(object, key)) put(result, key, withoutNulls(value));
  }
  return result;
}

function replaced(value: Json, change: Json): DraftValue {
  if (!isJsonObject(value)) return withoutNulls(change);
  return isJsonObject(change) ? merged(value, change) : draftOf(change);
}

/** Nulls go from objects, also from those in lists; those that are items stay. */
function withoutNulls(value: Json): DraftValue {
  if (isJsonArray(value)) return value.map(withoutNulls);
  if (!isJsonObject(value)) return value;
  const result: Draft = {};
  for (const key of Object.keys(value)) {
    const field = value[key] ?? null;
    if (field !== null) put(result, key, withoutNulls(field));
  }
  return result;
}
