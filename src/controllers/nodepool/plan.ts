/**
 * planFor(): plans the change of one Node as one merge patch. Labels, taints and claims change together or not at all; the
 * patch contains the resourceVersion, so that it fails for a Node that has changed in the meantime.
 */
import type { Node } from "../../mod.ts";
import type { PatchValue } from "../../client.ts";
import { claimPrefix, type Claims, claimsOfOthers, claimText, fieldOf, formatClaims, parseClaims } from "./claims.ts";
import { isMember, type NodeSettings, noSettings, type Taint } from "./desired.ts";
import { taintId } from "./validate.ts";

/** The field manager of this controller. */
export const fieldManager = "nodepool";

/** A conflict, with the Node and the kind of value. */
export interface NodeConflict extends Conflict {
  readonly node: string;
  readonly what: "label" | "taint";
}

/** What a change means for the membership of the Node. */
export type Membership = "joined" | "left" | "changed";

/** The planned change of a Node. */
export type NodePlan =
  | { readonly kind: "settled"; readonly conflicts: readonly NodeConflict[] }
  | {
    readonly kind: "change";
    readonly membership: Membership;
    readonly patch: PatchValue<Node>;
    /** True when a label is removed or replaced: managedFields must show whether another manager owns it, too. */
    readonly needsOwners: boolean;
    readonly conflicts: readonly NodeConflict[];
  };

/**
 * Plans the change of a Node.
 *
 * @param node With managedFields when the plan before said `needsOwners`
 * @param pool The name of the pool
 * @param settings The settings of its members; undefined when the pool is deleted
 */
export function planFor(node: Node, pool: string, settings: NodeSettings | undefined): NodePlan {
  const before = claimText(node, pool);
  const member = settings !== undefined && isMember(node, pool);
  const desired = member ? settings : noSettings;
  const claimed = parseClaims(before);
  const others = claimsOfOthers(node, pool);
  const labels = labelChanges(node, desired, claimed, others);
  const taints = taintChanges(node, desired, claimed, others);
  const conflicts = [...conflictsOf(node, "label", labels), ...conflictsOf(node, "taint", taints)];
  const claims: Claims = {
    labels: labels.claims,
    taints: new Map([...desired.taints].filter(([id]) => taints.claims.has(id))),
  };
  const after = member ? formatClaims(claims) : undefined;
  if (isEmpty(labels) && isEmpty(taints) && before === after) return { kind: "settled", conflicts };
  return {
    kind: "change",
    membership: member ? before === undefined ? "joined" : "changed" : "left",
    patch: {
      metadata: {
        resourceVersion: node.metadata.resourceVersion,
        ...labelPatch(labels),
        ...(before === after ? {} : { annotations: { [claimPrefix + pool]: after ?? null } }),
      },
      ...taintPatch(node, taints, desired),
    },
    needsOwners: labels.remove.size > 0 ||
      [...labels.set.keys()].some((key) => Object.hasOwn(node.metadata.labels ?? {}, key)),
    conflicts,
  };
}

function labelChanges(node: Node, desired: NodeSettings, claimed: Claims, others: readonly Claims[]): OwnedChanges {
  return resolveOwnership({
    live: new Map(Object.entries(node.metadata.labels ?? {})),
    desired: desired.labels,
    claimed: claimed.labels,
    isShared: (key, value) => others.some(({ labels }) => labels.get(key) === value),
    isOwnedByOthers: (key) => isOwnedByOthers(node, key),
  });
}

function taintChanges(node: Node, desired: NodeSettings, claimed: Claims, others: readonly Claims[]): OwnedChanges {
  return resolveOwnership({
    live: valuesOf(node.spec.taints ?? []),
    desired: valuesOf(desired.taints.values()),
    claimed: valuesOf(claimed.taints.values()),
    isShared: (id, value) => others.some(({ taints }) => valuesOf(taints.values()).get(id) === value),
    isOwnedByOthers: () => false,
  });
}

function valuesOf(taints: Iterable<Pick<Taint, "key" | "value" | "effect">>): ReadonlyMap<string, string> {
  return new Map(Array.from(taints, (taint) => [taintId(taint), taint.value ?? ""]));
}

function isEmpty({ set, remove }: OwnedChanges): boolean {
  return set.size === 0 && remove.size === 0;
}

function conflictsOf(node: Node, what: NodeConflict["what"], { conflicts }: OwnedChanges): readonly NodeConflict[] {
  return conflicts.map((conflict) => ({ ...conflict, node: node.metadata.name ?? "", what }));
}

function labelPatch(changes: OwnedChanges): { readonly labels?: Readonly<Record<string, string | null>> } {
  if (isEmpty(changes)) return {};
  const removed = [...changes.remove].map((key) => [key, null] as const);
  return { labels: Object.fromEntries([...changes.set, ...removed]) };
}

/** The whole list, because it is atomic: the taints of others unchanged and in their order, then those of the pool. */
function taintPatch(node: Node, changes: OwnedChanges, { taints }: NodeSettings): PatchValue<Node> {
  if (isEmpty(changes)) return {};
  const { set, remove } = changes;
  const live = node.spec.taints ?? [];
  const others = live.filter((taint) => !remove.has(taintId(taint)) && !set.has(taintId(taint)));
  const own = [...taints].filter(([id]) => set.has(id)).map(([, taint]) => taint);
  const list = [...others, ...own];
  return { spec: { taints: list.length === 0 ? null : list } };
}

/** True when managedFields contain another manager of a label: one that applied the same value later. */
function isOwnedByOthers(node: Node, label: string): boolean {
  return (node.metadata.managedFields ?? []).some((entry) => {
    if (entry.manager === fieldManager) return false;
    const labels = fieldOf(fieldOf(entry.fieldsV1, "f:metadata"), "f:labels");
    return fieldOf(labels, `f:${label}`) !== undefined;
  });
}

/** The labels or the taints of a Node, and who owns them. Names are label keys or taint ids. */
export interface OwnedValues {
  /** The values on the Node. */
  readonly live: ReadonlyMap<string, string>;
  /** The values that the pool desires. */
  readonly desired: ReadonlyMap<string, string>;
  /** The values that the pool has set before. */
  readonly claimed: ReadonlyMap<string, string>;
  /** True when another pool has set the same value. */
  readonly isShared: (name: string, value: string) => boolean;
  /** True when another field manager owns the name, too. */
  readonly isOwnedByOthers: (name: string) => boolean;
}

/** A desired value that is not set, because another client has set another value. */
export interface Conflict {
  readonly name: string;
  readonly desired: string;
  readonly live: string;
}

/** The changes that a pool may make. */
export interface OwnedChanges {
  readonly set: ReadonlyMap<string, string>;
  readonly remove: ReadonlySet<string>;
  /** The claims of the pool after the change. */
  readonly claims: ReadonlyMap<string, string>;
  readonly conflicts: readonly Conflict[];
}

/**
 * Decides which values a pool may set and remove, for labels and taints alike.
 *
 * Guarantees: a value is set only where there is none, or where the pool itself has set the live value; it is removed only
 * while it is the value that the pool has set, and only if no other pool and no other field manager claims it. All other
 * values stay.
 */
export function resolveOwnership(values: OwnedValues): OwnedChanges {
  const { live, desired, claimed, isShared, isOwnedByOthers } = values;
  const set = new Map<string, string>();
  const claims = new Map<string, string>();
  const conflicts: Conflict[] = [];
  const isOwn = (name: string, value: string) =>
    claimed.get(name) === value && !isShared(name, value) && !isOwnedByOthers(name);
  for (const [name, value] of desired) {
    const present = live.get(name);
    if (present === value) {
      // An equal value of another client is accepted, without a claim: the pool does not remove it later.
      if (claimed.get(name) === value || isShared(name, value)) claims.set(name, value);
    } else if (present === undefined || isOwn(name, present)) {
      set.set(name, value);
      claims.set(name, value);
    } else {
      conflicts.push({ name, desired: value, live: present });
    }
  }
  const dropped = [...claimed].filter(([name, value]) => !desired.has(name) && live.get(name) === value);
  const remove = new Set(dropped.filter(([name, value]) => isOwn(name, value)).map(([name]) => name));
  return { set, remove, claims, conflicts };
}
