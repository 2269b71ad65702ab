/**
 * The entries of a recording by process and cluster: each process of a simulation, and each cluster of a fleet, has caches of
 * its own and is replayed by itself. A member also has what the caches of the hub had, under other names of the kinds.
 */
import { hubKind, membersIn } from "../../explain/mod.ts";
import type { Entry } from "../../observe/mod.ts";

/** The entries of one process in one cluster. */
export interface RecordedPlace {
  /** The member of a fleet. Absent for the hub, and without a fleet. */
  readonly cluster?: string;
  readonly entries: readonly Entry[];
}

/** Divides a recording. The entries of the simulation itself, which have no process, belong to none. */
export function placesOf(entries: readonly Entry[]): readonly RecordedPlace[] {
  return byProcess(entries).flatMap((own) => {
    const members = membersIn(own);
    if (members.length === 0) return [{ entries: own }];
    return [
      { entries: own.filter(({ cluster }) => cluster === undefined) },
      ...members.map((cluster) => ({ cluster, entries: own.flatMap((entry) => seenFrom(cluster, entry)) })),
    ];
  });
}

function byProcess(entries: readonly Entry[]): readonly (readonly Entry[])[] {
  const processes = Map.groupBy(entries.filter((entry) => entry.process !== undefined), (entry) => entry.process);
  return processes.size === 0 ? [entries] : [...processes.values()];
}

/** What a member has of an entry. */
function seenFrom(cluster: string, entry: Entry): readonly Entry[] {
  if (entry.cluster === cluster) return [entry];
  if (entry.cluster !== undefined) return [];
  if (entry.kind === "lease") return [entry];
  if (entry.kind !== "list" && entry.kind !== "change") return [];
  const resource = hubKind(entry.object.resource);
  const cache = entry.kind === "list" ? entry.cache : entry.cache ?? entry.object.resource;
  return [{ ...entry, cache: hubKind(cache), object: { ...entry.object, resource } }];
}
