/**
 * lastingLifecycles(): how often objects were created and deleted, without what processes on a stale server created and took
 * back. A process that starts with an old but consistent state creates the objects that belong to it. When it sees the newest
 * state, its next writes delete them. This is harmless, and the first list from a real server is not that old.
 *
 * Guarantees: only objects that do not exist at that time without faults are left out, so the deletion of an object that
 * should exist counts.
 */
import type { SummaryChange } from "./_server_changes.ts";
import { lifecyclesOf, type Outcome } from "./summary.ts";

/** The part of a run that is compared. */
export interface ComparedRun {
  readonly outcome: Outcome;
  /** The number of changes on the server until the end of each step. */
  readonly stepRevisions: readonly number[];
  /** The revision of the server at the start. */
  readonly firstRevision: number;
}

/** When a process first started on a stale server. */
export interface StaleStart {
  readonly revision: number;
  /** The step after which it started, from 1. */
  readonly step: number;
}

/** Collections whose objects hold data that a new object of the same name does not have. */
const dataCollections: ReadonlySet<string> = new Set([
  "persistentvolumeclaims",
  "persistentvolumes",
  "secrets",
  "statefulsets.apps",
]);

/** @param expected a run without faults @param staleFrom when a process first started on a stale server */
export function lastingLifecycles(
  actual: ComparedRun,
  expected: ComparedRun | undefined,
  staleFrom: StaleStart | undefined,
): ReadonlyMap<string, string> {
  if (staleFrom === undefined || expected === undefined) return new Map();
  const { changes } = actual.outcome;
  const undone = undoneCreations(actual, expected, staleFrom);
  const undoneIn = new Set([...undone].map(({ collection }) => collection));
  // The old object stood in for a newer one of the same kind for some time: both were deleted and created.
  const swapped = recreations(changes.filter((one) => !undone.has(one)), staleFrom.revision).filter((
    [{ collection }],
  ) => undoneIn.has(collection) && !dataCollections.has(collection));
  const forgiven = new Set([...undone, ...swapped.flat()]);
  return lifecyclesOf(changes.filter((one) => !forgiven.has(one)));
}

/** The creations after a stale start whose objects should not exist at that time and were deleted, and these deletions. */
function undoneCreations(
  { outcome, stepRevisions, firstRevision }: ComparedRun,
  expected: ComparedRun,
  { revision, step }: StaleStart,
): ReadonlySet<SummaryChange> {
  const existing = objectsAfterSteps(expected);
  const stepAt = (at: number) => stepRevisions.filter((revisions) => firstRevision + revisions < at).length;
  const isExpected = (key: string, from: number, until: number) =>
    existing.slice(from, until + 1).some((objects) => objects.has(key));
  const undone = new Set<SummaryChange>();
  const created = new Map<string, SummaryChange>();
  for (const one of outcome.changes) {
    const key = keyOf(one);
    if (one.change.revision > revision && one.change.kind === "added") created.set(key, one);
    const creation = created.get(key);
    if (one.change.kind !== "deleted" || creation === undefined) continue;
    // The index of the step during which, or after which it was created and deleted.
    const from = Math.max(step - 1, stepAt(creation.change.revision) - 1);
    if (!isExpected(key, from, stepAt(one.change.revision) - 1)) undone.add(creation).add(one);
    created.delete(key);
  }
  return undone;
}

/** The objects that were deleted and created again after a revision, as pairs of changes. */
function recreations(changes: readonly SummaryChange[], revision: number): readonly [SummaryChange, SummaryChange][] {
  const deleted = new Map<string, SummaryChange>();
  const found: [SummaryChange, SummaryChange][] = [];
  for (const one of changes) {
    if (one.change.revision <= revision) continue;
    const deletion = deleted.get(keyOf(one));
    if (one.change.kind === "deleted") deleted.set(keyOf(one), one);
    else if (one.change.kind === "added" && deletion !== undefined) {
      found.push([deletion, one]);
      deleted.delete(keyOf(one));
    }
  }
  return found;
}

/** The objects that exist at the end of each step. */
function objectsAfterSteps({ outcome, stepRevisions, firstRevision }: ComparedRun): readonly ReadonlySet<string>[] {
  const live = new Set<string>();
  let next = 0;
  return stepRevisions.map((revisions) => {
    for (; next < outcome.changes.length; next++) {
      const one = outcome.changes[next];
      if (one === undefined || one.change.revision > firstRevision + revisions) break;
      if (one.change.kind === "deleted") live.delete(keyOf(one));
      else live.add(keyOf(one));
    }
    return new Set(live);
  });
}

function keyOf({ collection, change }: SummaryChange): string {
  return `${collection} ${change.current.key}`;
}
