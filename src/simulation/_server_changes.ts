/** changesSince(): what has changed on the simulated server, in order. The summary of a run and its recording read it. */
import type { KubeObject } from "../api/mod.ts";
import type { ObjectStorage } from "../apiserver/mod.ts";
import type { NotedChange, Plain } from "../observe/mod.ts";

/** One change, with its revision. */
export interface Change {
  readonly kind: "added" | "modified" | "deleted";
  readonly revision: number;
  readonly current: { readonly key: string; readonly object: unknown };
}

/** A change of an object, with its collection. */
export interface SummaryChange {
  readonly collection: string;
  readonly change: Change;
}

/** The changes since a revision, oldest first. @param ignored collections that are left out */
export function changesSince(
  storage: ObjectStorage,
  revision: number,
  ignored: ReadonlySet<string>,
): readonly SummaryChange[] {
  const changes: SummaryChange[] = [];
  if (storage.revision === revision) return changes;
  for (const { collection } of storage.collections()) {
    if (ignored.has(collection)) continue;
    using cursor = storage.watch(collection, { namespace: "", after: revision, onChange: () => {} });
    for (let change = cursor.read(); typeof change === "object"; change = cursor.read()) {
      changes.push({ collection, change });
    }
  }
  return inOrder(changes);
}

export function inOrder(changes: readonly SummaryChange[]): readonly SummaryChange[] {
  return changes.toSorted((one, other) => one.change.revision - other.change.revision);
}

/** Changes as a recording has them. @param withStates with the whole objects */
export function notedChanges(changes: readonly SummaryChange[], withStates: boolean): readonly NotedChange[] {
  return changes.map(({ collection, change: { kind, revision, current } }) => {
    const object = current.object as KubeObject;
    return {
      change: kind === "modified" ? "updated" : kind,
      object: { resource: collection, kind: object.kind, key: current.key },
      resourceVersion: String(revision),
      ...(withStates ? { state: object as unknown as Plain } : {}),
    };
  });
}
