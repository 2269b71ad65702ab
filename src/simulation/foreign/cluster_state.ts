/**
 * ClusterState: what users and oracles see of the cluster of a run, compared with the start of all runs: the objects that were
 * written since then, all changes, what has stayed of deleted objects, and whether something has changed since another moment.
 */
import type { KubeObject } from "../../api/mod.ts";
import { changesSince, transientCollections } from "../engine.ts";
import type { Outcome } from "../summary.ts";
import { uncomparedCollections } from "./cluster_summary.ts";
import { holdsLock } from "./leader_locks.ts";
import type { ControlPlane } from "./control_plane.ts";
import { type Leftover, leftoversOf } from "./leftovers.ts";

/** The state of one run. */
export class ClusterState {
  readonly #control: ControlPlane;
  readonly #firstRevision: number;

  /** @param firstRevision the revision before the first step */
  constructor(control: ControlPlane, firstRevision: number) {
    this.#control = control;
    this.#firstRevision = firstRevision;
  }

  /** What is there now, and has happened since the first step. */
  outcome(): Outcome {
    const { storage } = this.#control.api.server;
    const objects = [...this.#control.objects()].filter(({ collection, object }) =>
      !uncomparedCollections.has(collection) && !holdsLock(object) &&
      Number(object.metadata.resourceVersion ?? 0) > this.#firstRevision
    );
    const changes = changesSince(storage, this.#firstRevision, uncomparedCollections);
    return { objects, changes, deletedNamespaces: this.#deletedNamespaces(), outcomes: [] };
  }

  /** What the program has created for objects that users have created and deleted. */
  leftovers(): readonly Leftover[] {
    const { steps, program } = this.#control.creators;
    const live = [...this.#control.objects()].filter(({ collection, object }) =>
      !transientCollections.has(collection) && !holdsLock(object)
    );
    const isOf = (uids: ReadonlySet<string>) => ({ object }: { readonly object: KubeObject }) =>
      uids.has(object.metadata.uid ?? "");
    return leftoversOf({
      created: live.filter(isOf(program)),
      live: live.filter(isOf(steps)).map(({ object }) => object),
      deleted: this.#deletedObjects().filter((object) => steps.has(object.metadata.uid ?? "")),
    });
  }

  /** True if something has changed since a revision but Leases and Events. */
  hasChangedSince(revision: number): boolean {
    if (revision < 0) return true;
    for (const { collection } of this.#control.api.server.storage.changesAfter(revision)) {
      if (!transientCollections.has(collection)) return true;
    }
    return false;
  }

  #deletedNamespaces(): ReadonlySet<string> {
    const namespaces = this.#deletedObjects().filter(({ kind }) => kind === "Namespace");
    return new Set(namespaces.map(({ metadata }) => metadata.name ?? ""));
  }

  #deletedObjects(): readonly KubeObject[] {
    const changes = [...this.#control.api.server.storage.changesAfter(this.#firstRevision)];
    return changes.flatMap(({ change: { kind, current } }) =>
      kind === "deleted" ? [current.object as unknown as KubeObject] : []
    );
  }
}

/** A key without the names of list items, of which the server may have generated one: `kube-api-access-x7k2p`. */
export function itemPatternOf(key: string): string {
  return key.replaceAll(/\[[^\]]*\]/g, "[*]");
}

/** True for a field that is not compared. @param masked keys, and the patterns of items that not every run has */
export function isMasked(key: string, masked: ReadonlySet<string>): boolean {
  return masked.has(key) || (key.includes("[") && masked.has(itemPatternOf(key)));
}

/** Whether two states are equal. @param masked fields that are not compared, see {@link isMasked} */
export function isEqual(
  one: ReadonlyMap<string, string>,
  other: ReadonlyMap<string, string>,
  masked: ReadonlySet<string> = new Set(),
): boolean {
  for (const [key, value] of one) if (other.get(key) !== value && !isMasked(key, masked)) return false;
  for (const key of other.keys()) if (!one.has(key) && !isMasked(key, masked)) return false;
  return true;
}
