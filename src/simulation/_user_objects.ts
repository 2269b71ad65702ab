/**
 * UserObjects: the objects that the steps of a workload create. The operator must not delete one of a kind of dependents that it
 * does not control: a label or a name selects an object, and does not make it the operator's.
 *
 * Guarantees: no fault is needed. Objects of a primary kind may be deleted, and so may those that the operator has adopted.
 */
import { controllerOf, type KubeObject, resourceName } from "../api/mod.ts";
import type { OperatorController } from "../manager/mod.ts";
import type { StoredView } from "./_stored_views.ts";
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

/** The kinds of the dependents of controllers, but those that are primary kinds as well: `deployments.apps`. */
export function dependentKinds(controllers: readonly OperatorController[]): ReadonlySet<string> {
  const primaries = new Set(controllers.map(({ primary }) => resourceName(primary)));
  const owned = controllers.flatMap(({ watches }) =>
    watches.flatMap(({ role, resource }) => role === "owns" ? [resourceName(resource)] : [])
  );
  return new Set(owned.filter((name) => !primaries.has(name)));
}

/**
 * Whether a field manager is a controller that declares with `writes` that it sets fields of objects of other owners: such
 * writes are its task. @returns a function of the manager and the collection
 */
export function writesForeignFields(
  controllers: readonly OperatorController[],
): (manager: string, collection: string) => boolean {
  const declared = new Set(
    controllers.flatMap(({ name, options: { fieldManager = name }, watches }) =>
      watches.flatMap(({ role, writes, resource }) =>
        role === "watches" && writes ? [`${fieldManager} ${resourceName(resource)}`] : []
      )
    ),
  );
  return (manager, collection) => declared.has(`${manager} ${collection}`);
}

/** The objects of users in a run. */
export class UserObjects {
  readonly #server: StepServer;
  readonly #isDependentKind: (collection: string) => boolean;
  readonly #deletions = new Map<string, Deletion>();

  constructor(server: StepServer, isDependentKind: (collection: string) => boolean) {
    this.#server = server;
    this.#isDependentKind = isDependentKind;
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
    return this.#isDependentKind(collection) && controllerOf(object) === undefined &&
      this.#server.createdBySteps.has(object.metadata.uid ?? "");
  }
}
