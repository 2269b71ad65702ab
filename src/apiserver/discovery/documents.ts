/** The documents of discovery as kube-apiserver writes them: one per group and version, and all in one. */
import { createHash } from "node:crypto";
import type { JsonObject, Kind, Subresource } from "../model/mod.ts";
import type { DiscoveredKind, Group, GroupVersion } from "./groups.ts";

/** `/api`: the versions of the core group. @param address host and port the server is known by */
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

/** `/api/v1` and `/apis/GROUP/VERSION`: the kinds and their parts. */
export function resourceList(group: Group, { version, kinds }: GroupVersion): JsonObject {
  const groupVersion = group.name === "" ? version : `${group.name}/${version}`;
  const resources = kinds.flatMap((known) => {
    const parts = partsOf(known.kind).map((part) => partEntry(known.kind, part));
    return [resourceEntry(known), ...parts];
  });
  // The core group's document is older than the field.
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
    // What cannot be watched is not stored.
    ...(kind.verbs.includes("watch") ? { storageVersionHash: storageHash(stored) } : {}),
  };
}

function partEntry(kind: Kind, { name, verbs, body }: Subresource): JsonObject {
  const foreign = foreignBody(kind, body);
  return {
    name: `${kind.plural}/${name}`,
    singularName: "",
    namespaced: kind.scope === "Namespaced",
    ...(foreign === undefined ? {} : { group: foreign.group, version: foreign.version }),
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
    responseKind: foreignBody(kind, body) ?? { group: "", version: "", kind: body?.kind ?? kind.kind },
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

/** As apiserver's: it changes when the version that is stored does. */
function storageHash({ group, version, kind }: Kind): string {
  const text = `${group}/${version}/${kind}`;
  return createHash("sha256").update(text).digest().subarray(0, 8).toString("base64");
}

/** The body where it is of another group or version than the kind: only then documents say which. */
function foreignBody({ group, version }: Kind, body: Subresource["body"]): Subresource["body"] {
  return body === undefined || (body.group === group && body.version === version) ? undefined : body;
}

/** By name; those of custom resources as their definition has them. */
function partsOf(kind: Kind): readonly Subresource[] {
  if (!kind.hasStrategicMerge) return [...kind.subresources.values()];
  return [...kind.subresources.values()].toSorted((left, right) => left.name < right.name ? -1 : 1);
}

function listed(key: string, values: readonly string[]): JsonObject {
  return values.length === 0 ? {} : { [key]: values };
}
