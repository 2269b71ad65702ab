/**
 * The verbs that read: get, list, and the deletecollection that begins with a list.
 */
import { notFound, StatusError } from "../model/mod.ts";
import {
  listObjects,
  type ListResult,
  parseResourceVersion,
  resourceVersionTooLarge,
  type StoredObject,
} from "../storage/mod.ts";
import { type Call, type RegistryParts, type Representation, storageNamespace, subjectOf } from "./call.ts";
import { computedObject, selectComputed } from "./computed_objects.ts";
import { deleteObject, type DeleteOptions } from "./delete.ts";
import { represent, representAll } from "./represent.ts";
import type { Selection } from "./selection.ts";

/** The version and page parameters of a list; the caller has validated their combination. */
export interface ListOptions {
  readonly resourceVersion: string;
  readonly resourceVersionMatch: "" | "Exact" | "NotOlderThan";
  /** 0: all objects in one page. */
  readonly limit: number;
  readonly continue: string;
}

/** One page of a list, in the version of the call. */
export interface Page {
  readonly items: readonly Representation[];
  /** Undefined if the objects are not stored. */
  readonly revision: number | undefined;
  readonly continue: string;
  readonly remaining: number | undefined;
}

/** One object. @throws StatusError 404; 504 when `resourceVersion` is not reached yet */
export function get(
  parts: RegistryParts,
  call: Call,
  name: string,
  resourceVersion: string,
): Representation | Promise<Representation> {
  const { kind } = call;
  const computed = parts.computed.get(kind.collection);
  if (computed !== undefined) return computedObject(computed, name) ?? notFoundHere(call, name);
  const parsed = parseResourceVersion(resourceVersion);
  if (parsed.kind === "malformed") {
    const value = JSON.stringify(resourceVersion);
    throw new StatusError(500, "", `resourceVersion: Invalid value: ${value}: ${parsed.why}`);
  }
  if (parsed.revision > parts.storage.revision) throw resourceVersionTooLarge(parsed.revision, parts.storage.revision);
  const stored = parts.storage.find(kind.collection, storageNamespace(call), name);
  return stored === undefined ? notFoundHere(call, name) : represent(stored, kind);
}

function notFoundHere({ kind }: Call, name: string): never {
  throw notFound({ ...subjectOf(kind, name), resource: kind.missingResource ?? kind.plural });
}

/** One page. @throws StatusError 400, 410 or 504 when the requested version is malformed, expired or not reached yet */
export function list(
  parts: RegistryParts,
  call: Call,
  selection: Selection,
  options: ListOptions,
): Page | Promise<Page> {
  const computed = parts.computed.get(call.kind.collection);
  if (computed !== undefined) {
    return { items: selectComputed(computed, selection), revision: undefined, continue: "", remaining: undefined };
  }
  const result = listStored(parts, call, selection, options);
  const items = representAll(result.items, call.kind);
  const pageOf = (shown: readonly Representation[]): Page => ({
    items: shown,
    revision: result.revision,
    continue: result.continue,
    remaining: result.remaining,
  });
  return items instanceof Promise ? items.then(pageOf) : pageOf(items);
}

/** Deletes the objects of a list, and returns the list. @throws StatusError */
export async function deleteCollection(
  parts: RegistryParts,
  call: Call,
  selection: Selection,
  options: { readonly list: ListOptions; readonly delete: DeleteOptions },
): Promise<Page> {
  const found = listStored(parts, call, selection, options.list);
  const items = await representAll(found.items, call.kind);
  for (const item of found.items) {
    call.signal.throwIfAborted();
    await deleteFound(parts, call, item, options.delete);
  }
  return { items, revision: found.revision, continue: found.continue, remaining: found.remaining };
}

async function deleteFound(
  parts: RegistryParts,
  call: Call,
  item: StoredObject,
  options: DeleteOptions,
): Promise<void> {
  const namespace = call.kind.scope === "Cluster" ? call.namespace : item.namespace;
  const own: Call = { ...call, namespace, isPartOfCollection: true };
  try {
    await deleteObject(parts, own, item.name, options);
  } catch (error) {
    // Another client has deleted it in the meantime.
    if (!(error instanceof StatusError && error.status.code === 404)) throw error;
  }
}

function listStored(parts: RegistryParts, call: Call, selection: Selection, options: ListOptions): ListResult {
  const { namespace, name, matches } = selection;
  return listObjects(parts.storage, call.kind.collection, {
    namespace,
    ...(name === undefined ? {} : { name }),
    resourceVersion: options.resourceVersion,
    match: options.resourceVersionMatch,
    limit: options.limit,
    continue: options.continue,
    ...(matches === undefined ? {} : { matches }),
  });
}
