/**
 * Strategic merge patch: a merge patch that merges lists by key, with the patch strategies in the type of a built-in kind.
 * kubectl apply, edit, set and rollout undo send it. The rules and directives are those of apimachinery `strategicpatch` of
 * Kubernetes 1.36:
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
  jsonTypeName,
  put,
  read,
  type TypeSchema,
} from "../model/mod.ts";
import {
  badDirective,
  badPatchType,
  badType,
  failed,
  type FieldPatch,
  mergeLists,
  mergeOrderedList,
} from "./_strategic_lists.ts";

const deleteListPrefix = "$deleteFromPrimitiveList";
const orderPrefix = "$setElementOrder";
const retainKeys = "$retainKeys";
const directive = "$patch";

/**
 * The object with a strategic merge patch merged into it.
 *
 * @throws StatusError 400 or 422 when the patch is malformed; 500 where kube-apiserver responds with that, e.g. for an item
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

/** Merges a patch into a draft; it changes both. */
function mergeObjects(original: Draft, patch: Draft, type: TypeSchema): Draft {
  const what = read(patch, directive);
  if (what !== undefined) return applyDirective(what, patch);
  retainOnly(original, patch);
  mergeOrderedLists(original, patch, type);
  for (const key of Object.keys(patch)) mergeField(original, key, patch[key] ?? null, type);
  return original;
}

function applyDirective(what: DraftValue, patch: Draft): Draft {
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

/** The part after the slash of `$setElementOrder/containers`. */
function keyOf(key: string, prefix: string): string {
  const slash = key.indexOf("/");
  if (slash >= 0 && key.slice(0, slash) === prefix) return key.slice(slash + 1);
  throw badDirective(prefix === orderPrefix ? "setElementOrder list" : "primitive list");
}

/** Applies `$retainKeys`: removes all other keys from the original. The patch may not set other keys. */
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

/** Merges the lists that have a `$setElementOrder`, and removes them from the patch. */
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

/** The patch strategy of a field. @throws StatusError 500 when the field does not exist */
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
 * A value of a patch without a value to merge it into.
 *
 * @returns undefined when it has a directive that removes it
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

/** Removes nulls from the objects in a value. */
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
