/**
 * The recording of a fleet by its clusters. Objects of two clusters may have the same name, so a question is about one cluster:
 * the one that it names, or the only one in which the object occurs.
 *
 * Guarantees: linear time; a recording without a fleet is used as it is.
 */
import type { Entry, EntryId, ObjectRef } from "../observe/mod.ts";

/** The members of which a recording has entries, sorted. */
export function membersIn(entries: readonly Entry[]): readonly string[] {
  return [...new Set(entries.flatMap(({ cluster }) => cluster ?? []))].sort();
}

/**
 * The entries of one cluster. A member also has what led to its entries in the hub, with kinds that no question means, and
 * whether the process leads.
 *
 * @param cluster undefined: the hub
 */
export function entriesIn(entries: readonly Entry[], cluster: string | undefined): readonly Entry[] {
  if (entries.every((entry) => entry.cluster === undefined)) return cluster === undefined ? entries : [];
  if (cluster === undefined) return entries.filter((entry) => entry.cluster === undefined);
  const causes = new Set<EntryId>();
  const found: Entry[] = [];
  // Causes come before what they lead to.
  for (const entry of entries.toReversed()) {
    const isOwn = entry.cluster === cluster;
    const isOfHub = entry.cluster === undefined &&
      (causes.has(entry.id) || entry.kind === "lease" || (entry.kind === "note" && entry.changes === undefined));
    if (!isOwn && !isOfHub) continue;
    for (const cause of entry.causes) causes.add(cause);
    found.push(isOwn ? entry : ofHub(entry));
  }
  return found.reverse();
}

/** The name of a kind of the hub, among the entries of a member. */
export function hubKind(resource: string): string {
  return `hub:${resource}`;
}

function ofHub(entry: Entry): Entry {
  if (!("object" in entry) || entry.object === undefined) return entry;
  const { resource, kind, ...object }: ObjectRef = entry.object;
  return { ...entry, object: { ...object, resource: hubKind(resource), kind: `${kind} (hub)` } } as Entry;
}
