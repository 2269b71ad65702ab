/**
 * planFor(): what a pool does about one Node, as one merge patch. Labels, taints and the claims on them change together
 * or not at all; the patch names the version it was made for, so it never meets a Node that has changed since.
 */
import type { Node, PatchValue } from "../../mod.ts";
import { claimPrefix, type Claims, claimsOfOthers, claimText, fieldOf, formatClaims, parseClaims } from "./claims.ts";
import { type Gift, isMember, nothing, type Taint } from "./desired.ts";
import { type Conflict, settle, type Settlement } from "./settle.ts";
import { taintId } from "./validate.ts";

/** Owner of what this controller writes, in managedFields. */
export const fieldManager = "nodepool";

/** What somebody else has on a Node where the pool wants something else. */
export interface NodeConflict extends Conflict {
  readonly node: string;
  readonly what: "label" | "taint";
}

/** What a Node's change is to its pool. */
export type Membership = "joined" | "left" | "changed";

/** What is to be done about a Node. */
export type NodePlan =
  | { readonly kind: "settled"; readonly conflicts: readonly NodeConflict[] }
  | {
    readonly kind: "change";
    readonly membership: Membership;
    readonly patch: PatchValue<Node>;
    /** A label is taken away or replaced: only managedFields can say whether somebody else owns it, too. */
    readonly needsOwners: boolean;
    readonly conflicts: readonly NodeConflict[];
  };

/**
 * @param node with managedFields where `needsOwners` shall be decided
 * @param pool the name of the pool
 * @param gift what its members get; undefined when the pool goes, and nobody is a member any more
 */
export function planFor(node: Node, pool: string, gift: Gift | undefined): NodePlan {
  const before = claimText(node, pool);
  const member = gift !== undefined && isMember(node, pool);
  const wanted = member ? gift : nothing;
  const mine = parseClaims(before);
  const others = claimsOfOthers(node, pool);
  const labels = settleLabels(node, wanted, mine, others);
  const taints = settleTaints(node, wanted, mine, others);
  const conflicts = [...conflictsOf(node, "label", labels), ...conflictsOf(node, "taint", taints)];
  const claims: Claims = {
    labels: labels.claims,
    taints: new Map([...wanted.taints].filter(([id]) => taints.claims.has(id))),
  };
  const after = member ? formatClaims(claims) : undefined;
  if (isIdle(labels) && isIdle(taints) && before === after) return { kind: "settled", conflicts };
  return {
    kind: "change",
    membership: member ? before === undefined ? "joined" : "changed" : "left",
    patch: {
      metadata: {
        resourceVersion: node.metadata.resourceVersion,
        ...labelPatch(labels),
        ...(before === after ? {} : { annotations: { [claimPrefix + pool]: after ?? null } }),
      },
      ...taintPatch(node, taints, wanted),
    },
    needsOwners: labels.remove.size > 0 ||
      [...labels.set.keys()].some((key) => Object.hasOwn(node.metadata.labels ?? {}, key)),
    conflicts,
  };
}

function settleLabels(node: Node, wanted: Gift, mine: Claims, others: readonly Claims[]): Settlement {
  return settle({
    live: new Map(Object.entries(node.metadata.labels ?? {})),
    wanted: wanted.labels,
    mine: mine.labels,
    isShared: (key, value) => others.some(({ labels }) => labels.get(key) === value),
    isOwned: (key) => isOwnedByOthers(node, key),
  });
}

function settleTaints(node: Node, wanted: Gift, mine: Claims, others: readonly Claims[]): Settlement {
  return settle({
    live: valuesOf(node.spec.taints ?? []),
    wanted: valuesOf(wanted.taints.values()),
    mine: valuesOf(mine.taints.values()),
    isShared: (id, value) => others.some(({ taints }) => valuesOf(taints.values()).get(id) === value),
    isOwned: () => false,
  });
}

function valuesOf(taints: Iterable<Pick<Taint, "key" | "value" | "effect">>): ReadonlyMap<string, string> {
  return new Map(Array.from(taints, (taint) => [taintId(taint), taint.value ?? ""]));
}

function isIdle({ set, remove }: Settlement): boolean {
  return set.size === 0 && remove.size === 0;
}

function conflictsOf(node: Node, what: NodeConflict["what"], { conflicts }: Settlement): readonly NodeConflict[] {
  return conflicts.map((conflict) => ({ ...conflict, node: node.metadata.name ?? "", what }));
}

function labelPatch(settlement: Settlement): { readonly labels?: Readonly<Record<string, string | null>> } {
  if (isIdle(settlement)) return {};
  const removed = [...settlement.remove].map((key) => [key, null] as const);
  return { labels: Object.fromEntries([...settlement.set, ...removed]) };
}

/** The whole list, since that is how a Node holds it: those of others as they are and where they are, ours behind. */
function taintPatch(node: Node, settlement: Settlement, { taints }: Gift): PatchValue<Node> {
  if (isIdle(settlement)) return {};
  const { set, remove } = settlement;
  const live = node.spec.taints ?? [];
  const kept = live.filter((taint) => !remove.has(taintId(taint)) && !set.has(taintId(taint)));
  const given = [...taints].filter(([id]) => set.has(id)).map(([, taint]) => taint);
  const list = [...kept, ...given];
  return { spec: { taints: list.length === 0 ? null : list } };
}

/** True when managedFields name a writer of a label besides us: one that applied the same value after us. */
function isOwnedByOthers(node: Node, label: string): boolean {
  return (node.metadata.managedFields ?? []).some((entry) => {
    if (entry.manager === fieldManager) return false;
    const labels = fieldOf(fieldOf(entry.fieldsV1, "f:metadata"), "f:labels");
    return fieldOf(labels, `f:${label}`) !== undefined;
  });
}
