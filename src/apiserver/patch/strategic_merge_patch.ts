/**
 * Strategic merge patch: a merge patch that knows which lists are merged by key, as the patch strategies of a built-in kind's
 * type say. It is what kubectl apply, edit, set and rollout undo send. The rules, directives included, are those of
 * apimachinery `strategicpatch` of Kubernetes 1.36:
 *
 * - `$patch: delete | replace` in an object or an item of a list
 * - `$deleteFromPrimitiveList/finalizers: [...]`, `$setElementOrder/containers: [...]`, `$retainKeys: [...]`
 */
import {
  badRequest,
  type Draft,
  draftOf,
  type DraftValue,
  isDraft,
  isJsonObject,
  type Json,
  type JsonObject,
  put,
  read,
  type TypeSchema,
} from "../model/mod.ts";
import { jsonTypeName } from "./_go_text.ts";
import { badDirective, badPatchType, badType, failed } from "./_strategic_errors.ts";
import { type FieldPatch, mergeLists, mergeOrderedList } from "./_strategic_lists.ts";

const deleteListPrefix = "$deleteFromPrimitiveList";
const orderPrefix = "$setElementOrder";
const retainKeys = "$retainKeys";
const directive = "$patch";

/**
 * The object with a strategic merge patch merged into it.
 *
 * @throws Refusal 400 or 422 when the patch is not well formed; 500 where the real server answers that, e.g. for an item
 * without its merge key
 */
export function strategicMergePatch(object: JsonObject, patch: Json, type: TypeSchema): Draft {
  if (patch !== null && !isJsonObject(patch)) {
    throw badRequest(
      `json: cannot unmarshal ${jsonTypeName(patch)} into Go value of type map[string]interface {}`,
    );
  }
  return mergeObjects(draftOf(object), draftOf(patch ?? {}), type);
}

/** Merges a patch into a draft; both are changed on the way. */
function mergeObjects(original: Draft, patch: Draft, type: TypeSchema): Draft {
  const what = read(patch, directive);
  if (what !== undefined) return directed(what, patch);
  retainOnly(original, patch);
  mergeOrderedLists(original, patch, type);
  for (const key of Object.keys(patch)) mergeField(original, key, patch[key] ?? null, type);
  return original;
}

function directed(what: DraftValue, patch: Draft): Draft {
  if (what === "delete") return {};
  if (what !== "replace") throw badPatchType(what, patch);
  delete patch[directive];
  return patch;
}

function mergeField(original: Draft, patchKey: string, change: DraftValue, type: TypeSchema): void {
  const isDeletion = patchKey.startsWith(deleteListPrefix);
  const key = isDeletion ? keyOf(patchKey, deleteListPrefix) : patchKey;
  if (change === null) {
    delete original[key];
    return;
  }
  const value = read(original, key);
  const isSameKind = value !== undefined && value !== null && typeof value === typeof change &&
    Array.isArray(value) === Array.isArray(change);
  if (!isSameKind || typeof value !== "object") {
    if (isDeletion && !isSameKind) return;
    if (value === undefined || !isSameKind) discardNulls(change);
    set(original, key, withoutDirectives(change));
    return;
  }
  const field = fieldPatchOf(type, key);
  if (Array.isArray(value) && Array.isArray(change)) {
    const isMerged = field.isMerged || isDeletion;
    put(original, key, isMerged ? mergeLists(value, change, itemPatchOf(field), isDeletion) : change);
  } else if (isDraft(value) && isDraft(change)) {
    put(original, key, field.isReplaced ? change : mergeObjects(value, change, field.type));
  }
}

function set(object: Draft, key: string, value: DraftValue | undefined): void {
  if (value === undefined) delete object[key];
  else put(object, key, value);
}

/** What follows the slash of `$setElementOrder/containers`. */
function keyOf(key: string, prefix: string): string {
  const slash = key.indexOf("/");
  if (slash >= 0 && key.slice(0, slash) === prefix) return key.slice(slash + 1);
  throw badDirective(prefix === orderPrefix ? "setElementOrder list" : "primitive list");
}

/** Obeys `$retainKeys`: what it does not name goes from the original, and the patch may set nothing else. */
function retainOnly(original: Draft, patch: Draft): void {
  const keys = read(patch, retainKeys);
  if (keys === undefined) return;
  delete patch[retainKeys];
  if (!Array.isArray(keys)) throw badDirective("retainKeys");
  const retained = new Set(keys);
  for (const key of Object.keys(patch)) {
    const isDirective = key.startsWith(deleteListPrefix) || key.startsWith(orderPrefix);
    if (patch[key] !== null && !isDirective && !retained.has(key)) throw badDirective("retainKeys");
  }
  for (const key of Object.keys(original)) if (!retained.has(key)) delete original[key];
}

/** Merges the lists that have a `$setElementOrder`, and takes them out of the patch. */
function mergeOrderedLists(original: Draft, patch: Draft, type: TypeSchema): void {
  for (const patchKey of Object.keys(patch)) {
    if (!patchKey.startsWith(orderPrefix)) continue;
    const order = patch[patchKey] ?? null;
    delete patch[patchKey];
    if (!Array.isArray(order)) throw badType("list", order);
    const key = keyOf(patchKey, orderPrefix);
    const before = listAt(original, key);
    const change = listAt(patch, key);
    const field = itemPatchOf(fieldPatchOf(type, key));
    const after = mergeOrderedList({ before, change, order }, field, withoutDirectives);
    if (after === undefined) continue;
    put(original, key, after);
    delete patch[key];
  }
}

function listAt(object: Draft, key: string): DraftValue[] | undefined {
  const value = read(object, key);
  if (value === undefined || Array.isArray(value)) return value;
  throw badType("list", value);
}

/** How a field is patched. @throws Refusal 500 when there is no such field */
function fieldPatchOf(type: TypeSchema, name: string): FieldPatch {
  if (type.kind !== "struct") {
    const what = type.kind === "list" ? "slice" : type.kind;
    throw failed(`merging an object in json but data type is not struct, instead is: ${what}`);
  }
  const field = type.fields.get(name);
  if (field === undefined) {
    throw failed(`unable to find api field in struct for the json field ${JSON.stringify(name)}`);
  }
  const patch = type.patch.get(name);
  return {
    type: field,
    isMerged: patch?.strategy === "merge" || patch?.strategy === "merge,retainKeys",
    isReplaced: patch?.strategy === "replace",
    mergeKey: patch?.mergeKey ?? "",
    mergeObjects,
  };
}

function itemPatchOf(field: FieldPatch): FieldPatch {
  if (field.type.kind === "list") return { ...field, type: field.type.items };
  throw failed(`expected slice or array type, but got: ${field.type.kind}`);
}

/**
 * A value of a patch where there is nothing to merge it into.
 *
 * @returns undefined when it says that it should not be there
 */
function withoutDirectives(value: DraftValue): DraftValue | undefined {
  if (Array.isArray(value)) {
    return value.map(withoutDirectives).filter((item) => item !== undefined);
  }
  if (!isDraft(value)) return value;
  if (Object.hasOwn(value, directive)) return undefined;
  for (const key of Object.keys(value)) set(value, key, withoutDirectives(value[key] ?? null));
  return value;
}

/** Takes the nulls out of the objects in a value. */
function discardNulls(value: DraftValue): void {
  if (Array.isArray(value)) value.forEach(discardNulls);
  else if (isDraft(value)) {
    for (const key of Object.keys(value)) {
      const field = value[key] ?? null;
      if (field === null) delete value[key];
      else discardNulls(field);
    }
  }
}
