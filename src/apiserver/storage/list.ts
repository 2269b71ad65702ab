/**
 * listObjects(): one page of a collection, under the resourceVersion semantics of the API ("Resource versions" and
 * "Retrieving large results sets in chunks" of the API concepts), with the answers of apiserver's storage layer.
 *
 * "" is now; "0" is what is at hand (here: now too, and never paged, as from a watch cache); Exact, and a plain version
 * together with a limit, are the state of that revision; NotOlderThan is now, once now is not older.
 */
import { badRequest, expired, Refusal } from "../model/mod.ts";
import type { JsonObject } from "../model/mod.ts";
import type { Snapshot } from "./change.ts";
import { continueAfter, type ContinueToken, decodeContinue, encodeContinue } from "./continue_token.ts";
import { parseResourceVersion } from "./resource_version.ts";
import type { ObjectStorage } from "./storage.ts";
import type { StoredObject } from "./stored_object.ts";

/** What to list. The parameters were validated against each other before. */
export interface ListQuery {
  /** "": all of them. */
  readonly namespace: string;
  /** One object alone. @default all */
  readonly name?: string;
  readonly resourceVersion: string;
  readonly match: "" | "Exact" | "NotOlderThan";
  /** 0: all in one page. */
  readonly limit: number;
  /** The token of the page before, or "". */
  readonly continue: string;
  /** Selectors. @default everything matches */
  readonly matches?: (object: JsonObject) => boolean;
}

/** One page. */
export interface ListResult {
  readonly items: readonly StoredObject[];
  /** Of the whole list. */
  readonly revision: number;
  /** Token of the next page; "" on the last. */
  readonly continue: string;
  /** Objects after this page; undefined on the last page and where a selector leaves that open. */
  readonly remaining: number | undefined;
}

/** Where to read, once the version parameters are understood. */
interface Place {
  readonly snapshot: Snapshot;
  readonly revision: number;
  /** First key that may be in the page; "" is the first of all. */
  readonly from: string;
  readonly limit: number;
}

/** @throws Refusal 400, 410 or 504 where the versions asked for cannot be had */
export function listObjects(storage: ObjectStorage, collection: string, query: ListQuery): ListResult {
  const place = query.continue === "" || query.name !== undefined
    ? firstPage(storage, collection, query)
    : nextPage(storage, collection, query);
  return query.name === undefined ? page(place, query) : single(place, query, query.name);
}

function firstPage(storage: ObjectStorage, collection: string, query: ListQuery): Place {
  const { resourceVersion, match, limit } = query;
  const revision = requestedRevision(resourceVersion);
  const isExact = match === "Exact" || (match === "" && limit > 0 && revision > 0 && query.name === undefined);
  if (revision > storage.revision) throw tooLarge(revision, storage.revision);
  if (!isExact) {
    const snapshot = present(storage, collection);
    return { snapshot, revision: storage.revision, from: "", limit: resourceVersion === "0" ? 0 : limit };
  }
  const snapshot = storage.snapshot(collection, revision);
  if (snapshot === undefined) throw expired("The resourceVersion for the provided list is too old.");
  return { snapshot, revision, from: "", limit };
}

function nextPage(storage: ObjectStorage, collection: string, query: ListQuery): Place {
  const token = decodeContinue(query.continue);
  if (query.resourceVersion !== "" && query.resourceVersion !== "0") {
    throw badRequest("specifying resource version is not allowed when using continue");
  }
  const { from, revision = storage.revision } = token;
  if (revision > storage.revision) throw tooLarge(revision, storage.revision);
  const snapshot = storage.snapshot(collection, revision);
  if (snapshot === undefined) throw expiredToken(token);
  return { snapshot, revision, from, limit: query.limit };
}

function page(place: Place, query: ListQuery): ListResult {
  const { namespace, matches } = query;
  const { snapshot, revision, limit } = place;
  const prefix = namespace === "" ? "" : `${namespace}/`;
  const items: StoredObject[] = [];
  let last = "";
  let hasMore = false;
  snapshot.scan(place.from < prefix ? prefix : place.from, (item) => {
    if (prefix !== "" && !item.key.startsWith(prefix)) return false;
    if (limit > 0 && items.length === limit) {
      hasMore = true;
      return false;
    }
    last = item.key;
    if (matches === undefined || matches(item.object)) items.push(item);
    return true;
  });
  return {
    items,
    revision,
    continue: hasMore ? continueAfter(last, revision) : "",
    remaining: hasMore && matches === undefined ? itemsAfter(snapshot, last, namespace) : undefined,
  };
}

function single(place: Place, query: ListQuery, name: string): ListResult {
  const { namespace, matches } = query;
  const items: StoredObject[] = [];
  const found = place.snapshot.get(namespace === "" ? name : `${namespace}/${name}`);
  if (found !== undefined && (matches === undefined || matches(found.object))) items.push(found);
  return { items, revision: place.revision, continue: "", remaining: undefined };
}

function itemsAfter(snapshot: Snapshot, key: string, namespace: string): number {
  // "0" is the character after "/", so this is the first key behind the namespace.
  const end = namespace === "" ? snapshot.size : snapshot.rank(`${namespace}0`);
  return end - snapshot.rank(key) - 1;
}

function present(storage: ObjectStorage, collection: string): Snapshot {
  const snapshot = storage.snapshot(collection);
  if (snapshot === undefined) throw new Error(`Cannot read ${collection}: its present state is not kept`);
  return snapshot;
}

function requestedRevision(text: string): number {
  const parsed = parseResourceVersion(text);
  if (parsed.kind === "revision") return parsed.revision;
  throw badRequest(`invalid resource version: resourceVersion: Invalid value: ${JSON.stringify(text)}: ${parsed.why}`);
}

/** 504: the client has seen a later state than this server. */
export function tooLarge(requested: number, current: number): Refusal {
  const message = `Timeout: Too large resource version: ${requested}, current: ${current}`;
  return new Refusal(504, "Timeout", message, {
    causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
    retryAfterSeconds: 1,
  });
}

/** 410 with a token that goes on from the same key, at the present revision. */
function expiredToken(token: ContinueToken): Refusal {
  return expired(inconsistentContinue, encodeContinue({ from: token.from, revision: undefined }));
}

const inconsistentContinue = "The provided continue parameter is too old to display a consistent list result. " +
  "You can start a new list without the continue parameter, or use the continue token in this response to retrieve " +
  "the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that " +
  "were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.";
