/**
 * Objects that cannot go, because a finalizer holds them: those of our own controllers only they take off, so that a
 * definition that is deleted while none of them runs never goes.
 */
import { keyOf, type KubeObject, resourceName } from "../../api/mod.ts";
import type { ControllerDefinition } from "../../controller/mod.ts";
import type { StoredCrd } from "../../schema/mod.ts";
import { count, type CrdWork } from "./crd_work.ts";
import { storedKindOf, storedObjects } from "./stored_objects.ts";

/** How often a finalizer is on objects, and whose it is. */
export interface FinalizerUse {
  readonly finalizer: string;
  /** The controller that takes it off; undefined when it is none of this program's. */
  readonly controller: string | undefined;
  readonly objects: number;
  /** The key of one of them. */
  readonly example: string;
}

/** What there is of a kind. */
export interface Inventory {
  readonly objects: number;
  readonly namespaces: number;
  /** Those that are being deleted. */
  readonly deleting: number;
  readonly finalizers: readonly FinalizerUse[];
}

/** Counts the objects of a kind, and what holds them. */
export async function inventoryOf(
  crd: StoredCrd,
  controllers: readonly ControllerDefinition[],
  work: CrdWork,
): Promise<Inventory> {
  const kind = storedKindOf(crd);
  const namespaces = new Set<string>();
  const uses = new Map<string, FinalizerUse>();
  let [objects, deleting] = [0, 0];
  if (kind === undefined) return { objects, namespaces: 0, deleting, finalizers: [] };
  using progress = work.session.progress();
  for await (const page of storedObjects(work, kind, { metadataOnly: true })) {
    for (const object of page) {
      const { namespace, deletionTimestamp } = object.metadata;
      if (namespace !== undefined) namespaces.add(namespace);
      if (deletionTimestamp !== undefined) deleting++;
      noteFinalizers(object, { crd, controllers, uses });
    }
    objects += page.length;
    progress.report(`counting ${resourceName(kind)}: ${count(objects, "object")}`);
  }
  return { objects, namespaces: namespaces.size, deleting, finalizers: [...uses.values()] };
}

/** `3 objects wait for the finalizer nodes.lailin.xyz/nodepool of the controller nodepool, e.g. blue`. */
export function finalizerText({ finalizer, controller, objects, example }: FinalizerUse): string {
  const whose = controller === undefined ? "" : ` of the controller ${controller}`;
  return `${count(objects, "object")} ${
    objects === 1 ? "has" : "have"
  } the finalizer ${finalizer}${whose}, e.g. ${example}`;
}

interface Notes {
  readonly crd: StoredCrd;
  readonly controllers: readonly ControllerDefinition[];
  readonly uses: Map<string, FinalizerUse>;
}

function noteFinalizers(object: KubeObject, { crd, controllers, uses }: Notes): void {
  for (const finalizer of object.metadata.finalizers ?? []) {
    const known = uses.get(finalizer);
    const controller = known === undefined ? ownerOf(finalizer, crd, controllers) : known.controller;
    const example = known?.example ?? keyOf(object);
    uses.set(finalizer, { finalizer, controller, objects: (known?.objects ?? 0) + 1, example });
  }
}

function ownerOf(
  finalizer: string,
  { spec: { group, names } }: StoredCrd,
  controllers: readonly ControllerDefinition[],
): string | undefined {
  return controllers.find(({ primary, finalizer: own }) =>
    own === finalizer && primary.group === group && primary.plural === names.plural
  )?.name;
}
