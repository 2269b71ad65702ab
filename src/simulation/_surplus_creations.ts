/**
 * Surplus creations: objects with generated names that an operator created although it had enough of them. Their names say
 * nothing, and at the end one stands for another, so they are counted by role. The usual cause is a decision from a cache that
 * does not show the operator's own last creation or deletion yet: it starts or deletes one too many, and corrects that later.
 *
 * Assumptions: the order and the delay of events change how often an object is seen, not how many are needed. Other faults may
 * make a further object necessary: a lost response, a crash, a deletion by a user.
 */
import type { KubeObject } from "../api/mod.ts";
import type { CanonicalNames } from "./_canonical_names.ts";
import { inOrder, type SummaryChange } from "./_server_changes.ts";
import type { FaultPlan } from "./fault_plan.ts";

/** The number of objects that were created, by the name of their role. */
export type CreationsByRole = ReadonlyMap<string, number>;

/** More of a role than another run needed. */
export interface Surplus {
  /** As in a summary: `pods default/web-*(Backup/web)`. */
  readonly role: string;
  readonly created: number;
  readonly needed: number;
}

/** Counts the creations of objects with generated names. Those for an owner that was deleted before do not count. */
export function creationsByRole(changes: readonly SummaryChange[], names: CanonicalNames): CreationsByRole {
  const counts = new Map<string, number>();
  const deletedUids = new Set<string>();
  for (const { collection, change: { kind, current } } of inOrder(changes)) {
    const object = current.object as KubeObject;
    const { uid = "", ownerReferences = [] } = object.metadata;
    if (kind === "deleted") deletedUids.add(uid);
    if (kind !== "added" || !names.isGenerated({ collection, object })) continue;
    const isLate = ownerReferences.length > 0 && ownerReferences.every((owner) => deletedUids.has(owner.uid));
    if (isLate) continue;
    const role = names.nameOf({ collection, object });
    counts.set(role, (counts.get(role) ?? 0) + 1);
  }
  return counts;
}

/** The roles of which one run created more than another one. */
export function surplusIn(actual: CreationsByRole, needed: CreationsByRole): readonly Surplus[] {
  return [...actual].flatMap(([role, created]) => {
    const enough = needed.get(role) ?? 0;
    return created > enough ? [{ role, created, needed: enough }] : [];
  });
}

/** True when the faults only delay, repeat or hide events and responses, so that nothing more is needed than without them. */
export function changesOnlyTiming({ faults }: FaultPlan): boolean {
  return faults.every(({ kind }) => kind === "event" || kind === "slow");
}
