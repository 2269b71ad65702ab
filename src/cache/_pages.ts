/**
 * readList(): one full list, page by page, into a replacement of the cache.
 *
 * Guarantees: what is committed is one list at one version. A continue token that expired, or a page of another
 * version, throws away what was read and asks once more for everything in one piece, at the version first asked for.
 */
import type { ListOptions, ListPage, ListWatch, ResourceVersion } from "../api/mod.ts";
import { type Clock, scope } from "../async/mod.ts";
import { classify } from "./_classify.ts";
import type { ReflectorTarget, Replacement } from "./target.ts";

/** What to list, and how. */
export interface ListRequest<T> {
  readonly listWatch: ListWatch<T>;
  readonly target: ReflectorTarget<T>;
  /** "" for a consistent read, "0" for whatever is at hand, else not older than this. */
  readonly version: ResourceVersion | "" | "0";
  /** Largest number of items in a page; undefined: no paging. */
  readonly pageSize: number | undefined;
  /** How long one page may take, in milliseconds. */
  readonly timeoutMs: number;
  readonly clock: Clock;
}

/** A list that has been read and not yet been committed. */
export interface ListResult<T> {
  readonly replacement: Replacement<T>;
  readonly version: ResourceVersion;
  /** The server did send more than one page. */
  readonly paged: boolean;
}

/**
 * Reads a whole list.
 *
 * @throws what the ListWatch throws.
 */
export async function readList<T>(request: ListRequest<T>, signal: AbortSignal): Promise<ListResult<T>> {
  const { version, pageSize } = request;
  const start: ListOptions = { resourceVersion: version, ...(pageSize === undefined ? {} : { limit: pageSize }) };
  const first = await readPage(request, start, signal);
  const replacement = request.target.beginReplace();
  take(first, replacement);
  let next = first.continue;
  while (next !== undefined && next !== "") {
    const page = await readFurtherPage(
      request,
      { ...(start.limit ? { limit: start.limit } : {}), continue: next },
      signal,
    );
    if (page === undefined || page.resourceVersion !== first.resourceVersion) {
      return { ...await readWhole(request, signal), paged: true };
    }
    take(page, replacement);
    next = page.continue;
  }
  return { replacement, version: first.resourceVersion, paged: first.continue !== undefined && first.continue !== "" };
}

async function readWhole<T>(request: ListRequest<T>, signal: AbortSignal): Promise<Omit<ListResult<T>, "paged">> {
  const page = await readPage(request, { resourceVersion: request.version }, signal);
  const replacement = request.target.beginReplace();
  take(page, replacement);
  return { replacement, version: page.resourceVersion };
}

/** A page after the first; undefined when its token has expired. */
async function readFurtherPage<T>(
  request: ListRequest<T>,
  options: ListOptions,
  signal: AbortSignal,
): Promise<ListPage<T> | undefined> {
  try {
    return await readPage(request, options, signal);
  } catch (error) {
    if (classify(error).reason === "expired") return undefined;
    throw error;
  }
}

async function readPage<T>(request: ListRequest<T>, options: ListOptions, signal: AbortSignal): Promise<ListPage<T>> {
  using attempt = scope(signal, { timeoutMs: request.timeoutMs, clock: request.clock });
  return await request.listWatch.list(options, attempt.signal);
}

function take<T>(page: ListPage<T>, replacement: Replacement<T>): void {
  for (const item of page.items) replacement.upsert(item);
}
