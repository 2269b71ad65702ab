/**
 * findInconsistency(): compares a synced state of a cache with what the server lists at exactly its version. For tests
 * (behaviour 19), and for those who doubt their server: it costs a second full list.
 */
import { keyOf, type KubeObject, type ListWatch, type ObjectKey, type ResourceVersion } from "../api/mod.ts";

/** What a cache contained at a version. */
export interface SyncedState<T> {
  readonly version: ResourceVersion;
  readonly entries: ReadonlyMap<ObjectKey, T>;
  /** Keys whose objects may be newer. */
  readonly unconfirmed: ReadonlySet<ObjectKey>;
}

/**
 * Compares the state with a LIST at its version.
 *
 * @returns a description of the difference, if there is one
 * @throws what the ListWatch throws.
 */
export async function findInconsistency<T extends KubeObject>(
  listWatch: ListWatch<T>,
  state: SyncedState<T>,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { version, entries, unconfirmed } = state;
  const page = await listWatch.list({ resourceVersion: version, resourceVersionMatch: "Exact" }, signal);
  const listed = new Map(page.items.flatMap((item) => {
    const name = item?.metadata?.name;
    return typeof name !== "string" || name === "" ? [] : [[keyOf(item), identityOf(item)] as const];
  }));
  for (const [key, object] of entries) {
    if (unconfirmed.has(key)) continue;
    const expected = listed.get(key);
    if (expected === undefined) return `"${key}" is cached but not listed`;
    if (expected !== identityOf(object)) return `"${key}" is cached as ${identityOf(object)} but listed as ${expected}`;
  }
  for (const key of listed.keys()) {
    if (!entries.has(key) && !unconfirmed.has(key)) return `"${key}" is listed but not cached`;
  }
  return undefined;
}

/** UID and version determine the state of an object. */
function identityOf(object: KubeObject): string {
  return `uid ${object.metadata.uid ?? "none"} version ${object.metadata.resourceVersion ?? "none"}`;
}
