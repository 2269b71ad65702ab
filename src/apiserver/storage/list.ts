/**
 * listObjects(): one page of a collection, with the resourceVersion semantics of the API ("Resource versions" and
 * "Retrieving large results sets in chunks" in the API concepts) and the errors of the storage layer of apiserver.
 *
 * resourceVersion "" reads the live state. "0" reads any state: here also the live one, and never paged, like a watch cache.
 * Exact, and a version with a limit, read the state of that revision. NotOlderThan reads the live state if it is not older.
 */
import { badRequest, expired, jsonError, StatusError } from "../model/mod.ts";
import type { Snapshot } from "./change_log.ts";
import type { ObjectStorage } from "./storage.ts";
import type { StoredObject } from "./stored_object.ts";
import { fromBase64, toBase64 } from "../../runtime/mod.ts";

/** What to list. The caller has validated the combination of parameters. */
export interface ListQuery {
  /** "": all namespaces. */
  readonly namespace: string;
  /** A single object. @default all */
  readonly name?: string;
  readonly resourceVersion: string;
  readonly match: "" | "Exact" | "NotOlderThan";
  /** 0: all in one page. */
  readonly limit: number;
  /** The token of the previous page, or "". */
  readonly continue: string;
  /** Selectors. @default everything matches */
  readonly matches?: (state: StoredObject) => boolean;
}

/** One page. */
export interface ListResult {
  readonly items: readonly StoredObject[];
  /** The revision of the whole list. */
  readonly revision: number;
  /** Token of the next page; "" on the last. */
  readonly continue: string;
  /** Number of objects after this page; undefined on the last page and with a selector. */
  readonly remaining: number | undefined;
}

/** The state and the position that a query reads. */
interface Position {
  readonly snapshot: Snapshot;
  readonly revision: number;
  /** The first key that may be in the page; "" is the first of all. */
  readonly from: string;
  readonly limit: number;
}

/** @throws StatusError 400, 410 or 504 when the requested version is malformed, expired or not reached yet */
export function listObjects(storage: ObjectStorage, collection: string, query: ListQuery): ListResult {
  const position = query.continue === "" || query.name !== undefined
    ? firstPage(storage, collection, query)
    : nextPage(storage, collection, query);
  return query.name === undefined ? page(position, query) : single(position, query, query.name);
}

function firstPage(storage: ObjectStorage, collection: string, query: ListQuery): Position {
  const { resourceVersion, match, limit } = query;
  const revision = requestedRevision(resourceVersion);
  const isExact = match === "Exact" || (match === "" && limit > 0 && revision > 0 && query.name === undefined);
  if (revision > storage.revision) throw resourceVersionTooLarge(revision, storage.revision);
  if (!isExact) {
    const snapshot = liveSnapshot(storage, collection);
    return { snapshot, revision: storage.revision, from: "", limit: resourceVersion === "0" ? 0 : limit };
  }
  const snapshot = storage.snapshot(collection, revision);
  if (snapshot === undefined) throw expired("The resourceVersion for the provided list is too old.");
  return { snapshot, revision, from: "", limit };
}

function nextPage(storage: ObjectStorage, collection: string, query: ListQuery): Position {
  const token = decodeContinue(query.continue);
  if (query.resourceVersion !== "" && query.resourceVersion !== "0") {
    throw badRequest("specifying resource version is not allowed when using continue");
  }
  const { from, revision = storage.revision } = token;
  if (revision > storage.revision) throw resourceVersionTooLarge(revision, storage.revision);
  const snapshot = storage.snapshot(collection, revision);
  if (snapshot === undefined) throw expiredToken(token);
  return { snapshot, revision, from, limit: query.limit };
}

function page(position: Position, query: ListQuery): ListResult {
  const { namespace, matches } = query;
  const { snapshot, revision, limit } = position;
  const prefix = namespace === "" ? "" : `${namespace}/`;
  const items: StoredObject[] = [];
  let last = "";
  let hasMore = false;
  snapshot.scan(position.from < prefix ? prefix : position.from, (item) => {
    if (prefix !== "" && !item.key.startsWith(prefix)) return false;
    if (limit > 0 && items.length === limit) {
      hasMore = true;
      return false;
    }
    last = item.key;
    if (matches === undefined || matches(item)) items.push(item);
    return true;
  });
  return {
    items,
    revision,
    continue: hasMore ? continueAfter(last, revision) : "",
    remaining: hasMore && matches === undefined ? itemsAfter(snapshot, last, namespace) : undefined,
  };
}

function single(position: Position, query: ListQuery, name: string): ListResult {
  const { namespace, matches } = query;
  const items: StoredObject[] = [];
  const found = position.snapshot.get(namespace === "" ? name : `${namespace}/${name}`);
  if (found !== undefined && (matches === undefined || matches(found))) items.push(found);
  return { items, revision: position.revision, continue: "", remaining: undefined };
}

function itemsAfter(snapshot: Snapshot, key: string, namespace: string): number {
  // "0" is the character after "/", so this is the first key after the namespace.
  const end = namespace === "" ? snapshot.size : snapshot.rank(`${namespace}0`);
  return end - snapshot.rank(key) - 1;
}

function liveSnapshot(storage: ObjectStorage, collection: string): Snapshot {
  const snapshot = storage.snapshot(collection);
  if (snapshot === undefined) throw new Error(`Cannot read ${collection}: its live state is missing`);
  return snapshot;
}

function requestedRevision(text: string): number {
  const parsed = parseResourceVersion(text);
  if (parsed.kind === "revision") return parsed.revision;
  throw badRequest(`invalid resource version: resourceVersion: Invalid value: ${JSON.stringify(text)}: ${parsed.why}`);
}

/** 504: the client has seen a later state than this server. */
export function resourceVersionTooLarge(requested: number, current: number): StatusError {
  const message = `Timeout: Too large resource version: ${requested}, current: ${current}`;
  return new StatusError(504, "Timeout", message, {
    causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
    retryAfterSeconds: 1,
  });
}

/** 410 with a token that continues from the same key, at the live revision. */
function expiredToken(token: ContinueToken): StatusError {
  return expired(inconsistentContinue, encodeContinue({ from: token.from, revision: undefined }));
}

const inconsistentContinue = "The provided continue parameter is too old to display a consistent list result. " +
  "You can start a new list without the continue parameter, or use the continue token in this response to retrieve " +
  "the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that " +
  "were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.";

/** The start of a page. */
export interface ContinueToken {
  /** The first key that may be in the page. */
  readonly from: string;
  /** The revision of the whole list; undefined for the live state, after the revision of the list expired. */
  readonly revision: number | undefined;
}

const tokenVersion = "meta.k8s.io/v1";

/** The token of the page after the item with `key`. */
export function continueAfter(key: string, revision: number): string {
  return encodeContinue({ from: `${key}\0`, revision });
}

/** Encodes a token. */
export function encodeContinue(token: ContinueToken): string {
  const text = JSON.stringify({ v: tokenVersion, rv: token.revision ?? -1, start: token.from });
  const bytes = new TextEncoder().encode(text);
  return toBase64(bytes, "base64url");
}

/** @throws StatusError 400 when the token is malformed */
export function decodeContinue(text: string): ContinueToken {
  const token = parsed(text);
  const { v, rv, start } = token;
  if (v !== tokenVersion) {
    throw invalidToken(`server does not recognize this encoded version ${typeof v === "string" ? v : ""}`);
  }
  if (typeof rv !== "number" || !Number.isSafeInteger(rv) || rv === 0) {
    throw invalidToken(`incorrect encoded start resourceVersion (version ${tokenVersion})`);
  }
  if (typeof start !== "string" || start === "") {
    throw invalidToken(`encoded start key empty (version ${tokenVersion})`);
  }
  const key = start.startsWith("/") ? start : `/${start}`;
  if (key.split("/").slice(1).some((part) => part === "" || part === "." || part === "..")) {
    throw badRequest(`invalid continue token: continue key is not valid: ${start}`);
  }
  return { from: key.slice(1), revision: rv < 0 ? undefined : rv };
}

function parsed(text: string): { v?: unknown; rv?: unknown; start?: unknown } {
  const json = decoded(text);
  if (json === undefined) throw invalidToken("illegal base64 data");
  try {
    const value: unknown = JSON.parse(json);
    if (typeof value === "object" && value !== null) return value;
  } catch {
    throw invalidToken(jsonError(json));
  }
  throw invalidToken("json: cannot unmarshal value into Go value of type storage.continueToken");
}

function decoded(text: string): string | undefined {
  try {
    return new TextDecoder().decode(fromBase64(text, "base64url"));
  } catch {
    return undefined;
  }
}

function invalidToken(why: string): Error {
  return badRequest(`invalid continue token: continue key is not valid: ${why}`);
}

/** A revision, or the error of strconv in Go, as clients see it. */
export type ParsedVersion =
  | { readonly kind: "revision"; readonly revision: number }
  | { readonly kind: "malformed"; readonly why: string };

/** The largest resourceVersion: 2^64 - 1. */
const maxResourceVersion = 18446744073709551615n;

/** Parses a resourceVersion parameter; "" is 0. */
export function parseResourceVersion(text: string): ParsedVersion {
  if (text === "") return { kind: "revision", revision: 0 };
  if (!/^[0-9]+$/.test(text)) {
    return { kind: "malformed", why: `strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax` };
  }
  if (text.length > 15 && BigInt(text) > maxResourceVersion) {
    return { kind: "malformed", why: `strconv.ParseUint: parsing ${JSON.stringify(text)}: value out of range` };
  }
  return { kind: "revision", revision: Number(text) };
}
