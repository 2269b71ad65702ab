/**
 * readList(): reads one full list, page by page, into a replacement of the cache.
 *
 * Guarantees: the result is one list at one version. If a continue token has expired, or a page has another version,
 * the pages are dropped and the whole list is requested once in one piece, at the version of the first request.
 */
import { type ListOptions, type ListPage, type ListWatch, PageTokens, type ResourceVersion } from "../api/mod.ts";
import { type Clock, scope } from "../async/mod.ts";
import type { ReflectorTarget, Replacement } from "./cache_writer.ts";
import { classify } from "./reflector_state.ts";

/** What to list, and how. */
interface ListRequest<T> {
  readonly listWatch: ListWatch<T>;
  readonly target: ReflectorTarget<T>;
  /** "" for a consistent read, "0" for any version that the server has in memory, else not older than this. */
  readonly version: ResourceVersion | "" | "0";
  /** Maximum number of items in a page; undefined: no paging. */
  readonly pageSize: number | undefined;
  /** How long one page may take, in milliseconds. */
  readonly timeoutMs: number;
  readonly clock: Clock;
}

/** A list that has been read and is not committed yet. */
interface ListResult<T> {
  readonly replacement: Replacement<T>;
  readonly version: ResourceVersion;
  /** True when the server sent more than one page. */
  readonly isPaged: boolean;
}

/** Reads one full list. @throws what the ListWatch throws */
export async function readList<T>(request: ListRequest<T>, signal: AbortSignal): Promise<ListResult<T>> {
  const { version, pageSize } = request;
  const start: ListOptions = { resourceVersion: version, ...(pageSize === undefined ? {} : { limit: pageSize }) };
  const first = await readPage(request, start, signal);
  const replacement = request.target.beginReplace();
  take(first, replacement);
  const tokens = new PageTokens();
  let next = tokens.after(first);
  while (next !== undefined) {
    const options = { ...(start.limit ? { limit: start.limit } : {}), continue: next };
    const page = await readFurtherPage(request, options, signal);
    if (page === undefined || page.resourceVersion !== first.resourceVersion) {
      return { ...await readWhole(request, signal), isPaged: true };
    }
    take(page, replacement);
    next = tokens.after(page);
  }
  const isPaged = first.continue !== undefined && first.continue !== "";
  return { replacement, version: first.resourceVersion, isPaged };
}

async function readWhole<T>(request: ListRequest<T>, signal: AbortSignal): Promise<Omit<ListResult<T>, "isPaged">> {
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
