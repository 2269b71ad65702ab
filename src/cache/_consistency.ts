/**
 * findInconsistency(): compares a state that was just synced with a LIST at exactly its version. For tests
 * (behaviours.md 19): it costs a second full list, and tells whether a server's streaming and listing agree with
 * what the cache made of them.
 */
import type { KubeObject, ListWatch, ObjectKey, ResourceVersion } from "../api/mod.ts";
import { keyOfUnchecked } from "./_event_reader.ts";

/**
 * Says what differs, or undefined when nothing does.
 *
 * @throws what the ListWatch throws.
 */
export async function findInconsistency<T extends KubeObject>(
  listWatch: ListWatch<T>,
  state: { readonly version: ResourceVersion; readonly entries: ReadonlyMap<ObjectKey, T> },
  signal: AbortSignal,
): Promise<string | undefined> {
  const { version, entries } = state;
  const page = await listWatch.list({ resourceVersion: version, resourceVersionMatch: "Exact" }, signal);
  const listed = new Map(page.items.flatMap((item) => {
    const key = keyOfUnchecked(item);
    return key === undefined ? [] : [[key, identityOf(item)] as const];
  }));
  for (const [key, object] of entries) {
    const expected = listed.get(key);
    if (expected === undefined) return `"${key}" is cached but not listed`;
    if (expected !== identityOf(object)) return `"${key}" is cached as ${identityOf(object)} but listed as ${expected}`;
  }
  for (const key of listed.keys()) {
    if (!entries.has(key)) return `"${key}" is listed but not cached`;
  }
  return undefined;
}

/** An object's state is fixed by who it is and which version it has. */
function identityOf(object: KubeObject): string {
  return `uid ${object.metadata.uid ?? "none"} version ${object.metadata.resourceVersion ?? "none"}`;
}
