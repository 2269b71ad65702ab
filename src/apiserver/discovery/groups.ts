/** The groups of a registry: their versions in order of preference, and the kinds of each. */
import { compareKubeVersions } from "../../schema/mod.ts";
import type { Kind } from "../model/mod.ts";
import type { KindRegistry } from "../registry/mod.ts";

/** One version of a group. */
export interface GroupVersion {
  readonly version: string;
  /** In the order of their plurals. */
  readonly kinds: readonly Kind[];
}

/** One group. */
export interface Group {
  /** "" for core. */
  readonly name: string;
  /** The preferred one first. */
  readonly versions: readonly GroupVersion[];
}

/** All groups, built-in ones first, in the order in which they became known. */
export function groupsOf(kinds: KindRegistry): readonly Group[] {
  const groups = new Map<string, Map<string, Kind[]>>();
  for (const kind of kinds.kinds()) {
    const versions = groups.get(kind.group) ?? new Map<string, Kind[]>();
    groups.set(kind.group, versions);
    versions.set(kind.version, [...versions.get(kind.version) ?? [], kind]);
  }
  return [...groups].map(([name, versions]) => ({
    name,
    versions: [...versions]
      .map(([version, held]) => ({
        version,
        kinds: held.toSorted((left, right) => left.plural < right.plural ? -1 : 1),
      }))
      .toSorted((left, right) => compareKubeVersions(right.version, left.version)),
  }));
}
