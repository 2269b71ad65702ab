/**
 * The documents of discovery, as kube-apiserver writes them: one per group and version, and the aggregated one. groupsOf()
 * collects the groups of a registry: those of Kubernetes first, in the order of kube-apiserver, then those of CRDs by name.
 */
import { createHash } from "node:crypto";
import type { JsonObject, Kind, Subresource } from "../model/mod.ts";
import { compareKubeVersions } from "../../schema/mod.ts";
import { builtinGroups } from "../kinds/mod.ts";
import type { KindRegistry } from "../registry/mod.ts";

/** `/api`: the versions of the core group. @param address host and port of the server */
export function coreVersions(address: string): JsonObject {
  const serverAddressByClientCIDRs = [{ clientCIDR: "0.0.0.0/0", serverAddress: address }];
  return { kind: "APIVersions", versions: ["v1"], serverAddressByClientCIDRs };
}

/** `/apis`: all other groups. */
export function groupList(groups: readonly Group[]): JsonObject {
  return { kind: "APIGroupList", apiVersion: "v1", groups: groups.map(groupEntry) };
}

/** `/apis/GROUP`. */
export function groupDocument(group: Group): JsonObject {
  return { kind: "APIGroup", apiVersion: "v1", ...groupEntry(group) };
}

function groupEntry({ name, versions }: Group): JsonObject {
  const entries = versions.map(({ version }) => ({ groupVersion: `${name}/${version}`, version }));
  return { name, versions: entries, preferredVersion: entries[0] ?? {} };
}

/** `/api/v1` and `/apis/GROUP/VERSION`: the kinds and their subresources. */
export function resourceList(group: Group, { version, kinds }: GroupVersion): JsonObject {
  const groupVersion = group.name === "" ? version : `${group.name}/${version}`;
  const resources = kinds.flatMap((known) => {
    const parts = partsOf(known.kind).map((part) => partEntry(known.kind, part));
    return [resourceEntry(known), ...parts];
  });
  // The document of the core group does not have the field.
  const apiVersion: JsonObject = group.name === "" ? {} : { apiVersion: "v1" };
  return { kind: "APIResourceList", ...apiVersion, groupVersion, resources };
}

function resourceEntry({ kind, stored }: DiscoveredKind): JsonObject {
  return {
    name: kind.plural,
    singularName: kind.singular,
    namespaced: kind.scope === "Namespaced",
    kind: kind.kind,
    verbs: kind.verbs,
    ...listed("shortNames", kind.shortNames),
    ...listed("categories", kind.categories),
    // A kind that cannot be watched is not stored.
    ...(kind.verbs.includes("watch") ? { storageVersionHash: storageHash(stored) } : {}),
  };
}

function partEntry(kind: Kind, { name, verbs, body }: Subresource): JsonObject {
  const other = otherBody(kind, body);
  return {
    name: `${kind.plural}/${name}`,
    singularName: "",
    namespaced: kind.scope === "Namespaced",
    ...(other === undefined ? {} : { group: other.group, version: other.version }),
    kind: body?.kind ?? kind.kind,
    verbs,
  };
}

/** All groups in one document. */
export function aggregatedList(groups: readonly Group[]): JsonObject {
  const items = groups.flatMap(({ name, versions }): readonly JsonObject[] => {
    const entries = versions.flatMap(aggregatedVersion);
    return entries.length === 0 ? [] : [{ metadata: name === "" ? {} : { name }, versions: entries }];
  });
  return { kind: "APIGroupDiscoveryList", apiVersion: "apidiscovery.k8s.io/v2", metadata: {}, items };
}

/** A version that nobody serves has no entry. */
function aggregatedVersion({ version, kinds, other }: GroupVersion): readonly JsonObject[] {
  if (other !== undefined) return other.entry === undefined ? [] : [other.entry];
  return [{ version, resources: kinds.map(({ kind }) => aggregatedEntry(kind)), freshness: "Current" }];
}

function aggregatedEntry(kind: Kind): JsonObject {
  const subresources = partsOf(kind).map(({ name, verbs, body }): JsonObject => ({
    subresource: name,
    responseKind: otherBody(kind, body) ?? { group: "", version: "", kind: body?.kind ?? kind.kind },
    verbs,
  }));
  return {
    resource: kind.plural,
    responseKind: { group: "", version: "", kind: kind.kind },
    scope: kind.scope === "Namespaced" ? "Namespaced" : "Cluster",
    singularResource: kind.singular,
    verbs: kind.verbs,
    ...listed("shortNames", kind.shortNames),
    ...listed("categories", kind.categories),
    ...(subresources.length === 0 ? {} : { subresources }),
  };
}

/** The hash of apiserver: it changes when the storage version does. */
function storageHash({ group, version, kind }: Kind): string {
  const text = `${group}/${version}/${kind}`;
  return createHash("sha256").update(text).digest().subarray(0, 8).toString("base64");
}

/** The body if it has another group or version than the kind; only then the documents contain them. */
function otherBody({ group, version }: Kind, body: Subresource["body"]): Subresource["body"] {
  return body === undefined || (body.group === group && body.version === version) ? undefined : body;
}

/** The subresources sorted by name; those of custom resources in the order of their definition. */
function partsOf(kind: Kind): readonly Subresource[] {
  if (!kind.hasStrategicMerge) return [...kind.subresources.values()];
  return [...kind.subresources.values()].toSorted((left, right) => left.name < right.name ? -1 : 1);
}

function listed(key: string, values: readonly string[]): JsonObject {
  return values.length === 0 ? {} : { [key]: values };
}

/** A served kind, and the kind of its storage version. */
interface DiscoveredKind {
  readonly kind: Kind;
  readonly stored: Kind;
}

/** One version of a group. */
interface GroupVersion {
  readonly version: string;
  /** Sorted by plural. */
  readonly kinds: readonly DiscoveredKind[];
  /** For a version that another API server serves, or nobody: an APIService alone names it. */
  readonly other?: AggregatedVersion;
}

/** A version of a group, as its APIService has it. */
export interface AggregatedVersion {
  readonly group: string;
  readonly version: string;
  readonly groupPriority: number;
  readonly versionPriority: number;
  /** True if another API server serves it. */
  readonly isRemote: boolean;
  /** For aggregated discovery; undefined if this server serves it. */
  readonly entry: JsonObject | undefined;
}

/** The versions of all APIServices. */
export interface AggregatedVersions {
  /** Grows when they change. */
  readonly generation: number;
  versions(): readonly AggregatedVersion[];
}

/** One group. */
export interface Group {
  /** "" for core. */
  readonly name: string;
  /** The preferred one first. */
  readonly versions: readonly GroupVersion[];
}

/** All groups of a registry, and those of APIServices. */
export function groupsOf(kinds: KindRegistry, apiServices: readonly AggregatedVersion[] = []): readonly Group[] {
  const groups = new Map<string, Map<string, DiscoveredKind[]>>();
  for (const { served, storage } of kinds.families()) {
    for (const kind of served) {
      const versions = groups.get(kind.group) ?? new Map<string, DiscoveredKind[]>();
      groups.set(kind.group, versions);
      versions.set(kind.version, [...versions.get(kind.version) ?? [], { kind, stored: storage }]);
    }
  }
  const own = [...groups].map(([name, versions]) => ({ name, versions: sortedVersions(versions) })).toSorted(
    compareGroups,
  );
  return withOthers(own, apiServices);
}

/** Adds the versions that this server does not serve itself, by the priorities of all. */
function withOthers(own: readonly Group[], apiServices: readonly AggregatedVersion[]): readonly Group[] {
  const isOwn = ({ group, version, isRemote }: AggregatedVersion) =>
    !isRemote && own.some(({ name, versions }) => name === group && versions.some((one) => one.version === version));
  const others = apiServices.filter((one) => one.group !== "" && !isOwn(one));
  const groups = [...own];
  for (const other of others) {
    const at = groups.findIndex(({ name }) => name === other.group);
    const group = groups[at];
    if (group === undefined) {
      groups.splice(placeOf(other, groups, apiServices), 0, groupWith(undefined, other, apiServices));
    } else groups[at] = groupWith(group, other, apiServices);
  }
  return groups;
}

/** The group with one more version. The first one is preferred: the one with the highest priority. */
function groupWith(group: Group | undefined, other: AggregatedVersion, all: readonly AggregatedVersion[]): Group {
  const kept = (group?.versions ?? []).filter(({ version }) => version !== other.version);
  const priorityOf = (version: string) =>
    all.find((one) => one.group === other.group && one.version === version)?.versionPriority ??
      customPriorities.version;
  const versions = [...kept, { version: other.version, kinds: [], other }].toSorted((left, right) =>
    priorityOf(right.version) - priorityOf(left.version) || compareKubeVersions(right.version, left.version)
  );
  return { name: other.group, versions };
}

/** The priorities of custom resources. */
const customPriorities = { group: 1_000, version: 100 } as const;

/** Where a new group belongs: before the first one of a lower priority, or of the same one and a later name. */
function placeOf(other: AggregatedVersion, groups: readonly Group[], all: readonly AggregatedVersion[]): number {
  const nameOf = ({ group, version }: { readonly group: string; readonly version: string }) => `${version}.${group}`;
  const isAfter = ({ name, versions }: Group) => {
    const own = all.filter(({ group }) => group === name);
    const builtin = rankOf(name) < (ranks?.size ?? 0) ? Infinity : customPriorities.group;
    const priority = own.length === 0 ? builtin : Math.max(...own.map(({ groupPriority }) => groupPriority));
    if (priority !== other.groupPriority) return priority < other.groupPriority;
    return versions.every(({ version }) => nameOf({ group: name, version }) > nameOf(other));
  };
  const at = groups.findIndex(isAfter);
  return at < 0 ? groups.length : at;
}

function sortedVersions(versions: ReadonlyMap<string, readonly DiscoveredKind[]>): readonly GroupVersion[] {
  return [...versions]
    .map(([version, unsorted]) => ({
      version,
      kinds: unsorted.toSorted((left, right) => left.kind.plural < right.kind.plural ? -1 : 1),
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
