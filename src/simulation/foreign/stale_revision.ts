/** revisionOf(): the revision that a server which is behind shows, from a fault that says it by its distance or by a change. */
import type { KubeObject } from "../../api/mod.ts";
import type { ObjectStorage } from "../../apiserver/mod.ts";
import { changesSince, type SummaryChange } from "../engine.ts";
import type { FaultOf, NamedPoint } from "../fault_plan.ts";

/** What a change does to an object, as a point of a plan names it. DELETING: the change that sets the deletionTimestamp. */
export type ChangeVerb = "ADDED" | "MODIFIED" | "DELETING" | "DELETED";

/** A change with its name. */
export interface NamedChange {
  readonly verb: ChangeVerb;
  readonly resource: string;
  /** `namespace/name`. */
  readonly name: string;
  readonly revision: number;
}

/** The changes since a revision, oldest first. @param ignored collections that are left out */
export function namedChanges(
  storage: ObjectStorage,
  revision: number,
  ignored: ReadonlySet<string> = new Set(),
): readonly NamedChange[] {
  const deleting = new Set<string>();
  return changesSince(storage, revision, ignored).map(({ collection, change }) => ({
    verb: verbOf(change, deleting),
    resource: collection,
    name: change.current.key,
    revision: change.revision,
  }));
}

function verbOf({ kind, current }: SummaryChange["change"], deleting: Set<string>): ChangeVerb {
  const { uid = "", deletionTimestamp } = (current.object as KubeObject).metadata;
  if (kind === "added") return "ADDED";
  if (kind === "deleted") return "DELETED";
  if (deletionTimestamp === undefined || deleting.has(uid)) return "MODIFIED";
  deleting.add(uid);
  return "DELETING";
}

/** The revision that lists and watches show. A change that did not come leaves them at the newest state. */
export function revisionOf(
  { at, back }: FaultOf<"stale">,
  { storage, firstRevision }: { readonly storage: ObjectStorage; readonly firstRevision: number },
): number {
  if (at === undefined) return Math.max(firstRevision, storage.revision - back);
  const found = namedChanges(storage, firstRevision).filter((change) => isAt(change, at));
  return found[at.occurrence - 1]?.revision ?? storage.revision;
}

function isAt({ verb, resource, name }: NamedChange, at: NamedPoint): boolean {
  return verb === at.verb && resource === at.resource && (at.name === undefined || name === at.name);
}
