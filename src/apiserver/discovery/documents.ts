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
  const items = groups.map(({ name, versions }): JsonObject => ({
    metadata: name === "" ? {} : { name },
    versions: versions.map((one): JsonObject => ({
      version: one.version,
      resources: one.kinds.map(({ kind }) => aggregatedEntry(kind)),
      freshness: "Current",
    })),
  }));
  return { kind: "APIGroupDiscoveryList", apiVersion: "apidiscovery.k8s.io/v2", metadata: {}, items };
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
}

/** One group. */
export interface Group {
  /** "" for core. */
  readonly name: string;
  /** The preferred one first. */
  readonly versions: readonly GroupVersion[];
}

/** All groups of a registry. */
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
