/**
 * The verbs that read: get, list, and the deletecollection that begins with a list.
 */
import { notFound, Refusal } from "../model/mod.ts";
import { listObjects, type ListResult, parseResourceVersion, type StoredObject, tooLarge } from "../storage/mod.ts";
import type { Call, Representation } from "./call.ts";
import { deleteObject, type DeleteOptions } from "./delete.ts";
import { type Engine, storageNamespace, subjectOf } from "./engine.ts";
import { represent, representAll } from "./represent.ts";
import type { Selection } from "./selection.ts";

/** The version and page parameters of a list; validated against each other before. */
export interface ListOptions {
  readonly resourceVersion: string;
  readonly resourceVersionMatch: "" | "Exact" | "NotOlderThan";
  /** 0: all in one page. */
  readonly limit: number;
  readonly continue: string;
}

/** One page of a list, as the kind of the call shows it. */
export interface Page {
  readonly items: readonly Representation[];
  readonly revision: number;
  readonly continue: string;
  readonly remaining: number | undefined;
}

/** The object. @throws Refusal 404; 504 when `resourceVersion` is not reached yet */
export function get(
  engine: Engine,
  call: Call,
  name: string,
  resourceVersion: string,
): Representation | Promise<Representation> {
  const { kind } = call;
  const parsed = parseResourceVersion(resourceVersion);
  if (parsed.kind === "malformed") {
    const value = JSON.stringify(resourceVersion);
    throw new Refusal(500, "", `resourceVersion: Invalid value: ${value}: ${parsed.why}`);
  }
  if (parsed.revision > engine.storage.revision) throw tooLarge(parsed.revision, engine.storage.revision);
  const stored = engine.storage.find(kind.collection, storageNamespace(call), name);
  if (stored === undefined) throw notFound(subjectOf(kind, name));
  return represent(stored, kind);
}

/** One page. @throws Refusal 400, 410 or 504 where the versions asked for cannot be had */
export function list(
  engine: Engine,
  call: Call,
  selection: Selection,
  options: ListOptions,
): Page | Promise<Page> {
  const result = listStored(engine, call, selection, options);
  const items = representAll(result.items, call.kind);
  const pageOf = (shown: readonly Representation[]): Page => ({
    items: shown,
    revision: result.revision,
    continue: result.continue,
    remaining: result.remaining,
  });
  return items instanceof Promise ? items.then(pageOf) : pageOf(items);
}

/** Deletes what a list finds, and answers the list. @throws Refusal */
export async function deleteCollection(
  engine: Engine,
  call: Call,
  selection: Selection,
  options: { readonly list: ListOptions; readonly delete: DeleteOptions },
): Promise<Page> {
  const found = listStored(engine, call, selection, options.list);
  const items = await representAll(found.items, call.kind);
  for (const item of found.items) {
    call.signal.throwIfAborted();
    await deleteFound(engine, call, item, options.delete);
  }
  return { items, revision: found.revision, continue: found.continue, remaining: found.remaining };
}

async function deleteFound(engine: Engine, call: Call, item: StoredObject, options: DeleteOptions): Promise<void> {
  const namespace = call.kind.scope === "Cluster" ? call.namespace : item.namespace;
  const own: Call = { ...call, namespace, isOfMany: true };
  try {
    await deleteObject(engine, own, item.name, options);
  } catch (error) {
    // Somebody else deleted it meanwhile.
    if (!(error instanceof Refusal && error.status.code === 404)) throw error;
  }
}

function listStored(engine: Engine, call: Call, selection: Selection, options: ListOptions): ListResult {
  const { namespace, name, matches } = selection;
  return listObjects(engine.storage, call.kind.collection, {
    namespace,
    ...(name === undefined ? {} : { name }),
    resourceVersion: options.resourceVersion,
    match: options.resourceVersionMatch,
    limit: options.limit,
    continue: options.continue,
    ...(matches === undefined ? {} : { matches }),
  });
}
