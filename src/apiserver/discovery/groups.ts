/**
 * The groups of a registry: their versions in order of preference, and the kinds of each. Groups of Kubernetes come first,
 * in the order that the real server gives them, then those of definitions by their names.
 */
import { compareKubeVersions } from "../../schema/mod.ts";
import { builtinGroups } from "../kinds/mod.ts";
import type { Kind } from "../model/mod.ts";
import type { KindRegistry } from "../registry/mod.ts";

/** A served kind, and the one in whose version its objects are stored. */
export interface DiscoveredKind {
  readonly kind: Kind;
  readonly stored: Kind;
}

/** One version of a group. */
export interface GroupVersion {
  readonly version: string;
  /** In the order of their plurals. */
  readonly kinds: readonly DiscoveredKind[];
}

/** One group. */
export interface Group {
  /** "" for core. */
  readonly name: string;
  /** The preferred one first. */
  readonly versions: readonly GroupVersion[];
}

/** All groups. */
export function groupsOf(kinds: KindRegistry): readonly Group[] {
  const groups = new Map<string, Map<string, DiscoveredKind[]>>();
  for (const { served, storage } of kinds.families()) {
    for (const kind of served) {
      const versions = groups.get(kind.group) ?? new Map<string, DiscoveredKind[]>();
      groups.set(kind.group, versions);
      versions.set(kind.version, [...versions.get(kind.version) ?? [], { kind, stored: storage }]);
    }
  }
  return [...groups].map(([name, versions]) => ({ name, versions: sortedVersions(versions) })).toSorted(compareGroups);
}

function sortedVersions(versions: ReadonlyMap<string, readonly DiscoveredKind[]>): readonly GroupVersion[] {
  return [...versions]
    .map(([version, held]) => ({
      version,
      kinds: held.toSorted((left, right) => left.kind.plural < right.kind.plural ? -1 : 1),
    }))
    .toSorted((left, right) => compareKubeVersions(right.version, left.version));
}

function compareGroups(left: Group, right: Group): number {
  return rankOf(left.name) - rankOf(right.name) || (left.name < right.name ? -1 : 1);
}

let ranks: ReadonlyMap<string, number> | undefined;

function rankOf(group: string): number {
  ranks ??= new Map(builtinGroups().map((name, index) => [name, index]));
  return ranks.get(group) ?? ranks.size;
}
