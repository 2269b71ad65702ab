/**
 * UserObjects: the objects that the steps of a workload create. The operator must not delete one of a kind of dependents that it
 * does not control: a label or a name selects an object, and does not make it the operator's.
 *
 * Guarantees: no fault is needed. Objects of a primary kind may be deleted, and so may those that the operator has adopted.
 */
import { controllerOf, type KubeObject, resourceName } from "../api/mod.ts";
import type { OperatorController } from "../manager/mod.ts";
import type { StoredView } from "./_cluster_reactions.ts";
import type { Violation } from "./violation.ts";

/** The server of a run, as {@link UserObjects} reads it. */
export interface StepServer {
  /** The UIDs of the objects that steps have created. */
  readonly createdBySteps: ReadonlySet<string>;
  objects(all?: boolean): Iterable<StoredView>;
}

interface Deletion {
  readonly path: string;
  readonly uid: string;
}

/** The objects of users in a run. */
export class UserObjects {
  readonly #server: StepServer;
  /** The kinds of dependents, as `deployments.apps`. */
  readonly #collections: ReadonlySet<string>;
  readonly #deletions = new Map<string, Deletion>();

  constructor(server: StepServer, controllers: readonly OperatorController[]) {
    this.#server = server;
    const primaries = new Set(controllers.map(({ primary }) => resourceName(primary)));
    const owned = controllers.flatMap(({ watches }) =>
      watches.flatMap(({ role, resource }) => role === "owns" ? [resourceName(resource)] : [])
    );
    this.#collections = new Set(owned.filter((name) => !primaries.has(name)));
  }

  /** Records that the operator sends a deletion. @param path of an object or a collection */
  noteDelete(path: string): void {
    if (this.#server.createdBySteps.size === 0) return;
    for (const view of this.#server.objects()) {
      const isMeant = view.path === path || view.path.slice(0, view.path.lastIndexOf("/")) === path;
      const { uid = "", deletionTimestamp } = view.object.metadata;
      if (!isMeant || !this.#isOfUser(view) || deletionTimestamp !== undefined) continue;
      this.#deletions.set(uid, { path: view.path, uid });
    }
  }

  /** The deletions that took place: the server rejects one whose preconditions fail. */
  violations(): readonly Violation[] {
    const objects = new Map<string, KubeObject>();
    for (const { object } of this.#server.objects()) objects.set(object.metadata.uid ?? "", object);
    const isDeleted = ({ uid }: Deletion) =>
      objects.get(uid)?.metadata.deletionTimestamp !== undefined || !objects.has(uid);
    return [...this.#deletions.values()].filter(isDeleted).map(({ path }) => ({
      invariant: "foreign-objects",
      message: `${path} was deleted, which a user had created and the operator did not control`,
    }));
  }

  #isOfUser({ collection, object }: StoredView): boolean {
    return this.#collections.has(collection) && controllerOf(object) === undefined &&
      this.#server.createdBySteps.has(object.metadata.uid ?? "");
  }
}
