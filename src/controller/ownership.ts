/**
 * Ownership: how the dependents of a controller refer to their owner. The default is the controller reference, which the
 * garbage collector follows. A kind that is declared with `owns(..., { track: "labels" })` refers by labels instead
 * (`label_tracking.ts`), so its objects may live where no owner reference can lead.
 *
 * Guarantees: an owner reference that the garbage collector would not find is refused before anything is sent. Such a
 * reference looks right and is not: the collector looks for the owner in the namespace of the dependent, finds none, and
 * deletes the dependent.
 */
import {
  controllerOf,
  controllerReference,
  isControlledBy,
  keyOf,
  type KubeObject,
  type ObjectMeta,
  type Resource,
  resourceId,
  type StringMap,
} from "../api/mod.ts";
import type { DeleteOptions } from "../client/mod.ts";
import { describeLabelledOwner, isLabelledFor, trackingMetadata } from "./label_tracking.ts";
import { TerminalError } from "./request.ts";

/**
 * The object that controls what is written; an argument of {@link Toolbox.apply} and {@link Toolbox.delete}.
 */
export interface Owner {
  /** The kind of the owner. */
  readonly resource: Resource;
  /** The owner itself. */
  readonly object: KubeObject;
  /** Called before a delete with the live owner; the delete is sent only if it returns true. @default every delete is sent */
  readonly isStillDue?: (live: unknown) => boolean;
  /**
   * What a delete does with the dependents of the deleted object. Without a policy some kinds keep them: a Job that is
   * deleted through the API leaves its Pods.
   *
   * @default "Background"
   */
  readonly propagationPolicy?: DeleteOptions["propagationPolicy"];
}

/** How the dependents of one kind refer to their owner. */
export interface Relation {
  /** True when `dependent` belongs to `owner`, by UID. */
  isOwned(dependent: KubeObject, owner: Owner): boolean;
  /**
   * The metadata with which `dependent` belongs to `owner`.
   *
   * @throws TerminalError when the dependent cannot refer to the owner.
   */
  claim(dependent: KubeObject, owner: Owner): ObjectMeta;
}

/** How the dependents of each kind of a controller refer to their owner. */
export interface Ownership {
  of(resource: Resource): Relation;
  /** The kinds that `ctx.prune` is about. */
  readonly pruned: readonly Resource[];
  /** The kinds whose objects refer to their owner by labels. */
  readonly tracked: readonly Resource[];
  /**
   * True when the controller deletes objects of the kind because of what their owner says. Such an object is created only
   * after a live read of the owner: a controller that starts with an old cache would create again what it had deleted.
   */
  needsLiveOwner(resource: Resource): boolean;
  /** The name of the controller, which is in these labels. */
  readonly controller: string;
}

/** All dependents refer to their owner by a controller reference, and none is pruned. */
export const referencesOnly: Ownership = {
  of: (resource) => byReference(resource),
  pruned: [],
  tracked: [],
  needsLiveOwner: () => false,
  controller: "",
};

/** The same, with further labels on what is applied. */
export function withLabels(ownership: Ownership, labelsOf: (owner: KubeObject) => StringMap | undefined): Ownership {
  return {
    ...ownership,
    of(resource) {
      const relation = ownership.of(resource);
      return {
        isOwned: (dependent, owner) => relation.isOwned(dependent, owner),
        claim(dependent, owner) {
          const metadata = relation.claim(dependent, owner);
          const labels = labelsOf(owner.object);
          return labels === undefined ? metadata : { ...metadata, labels: { ...metadata.labels, ...labels } };
        },
      };
    },
  };
}

/** What a controller declares about the dependents of its kinds. */
export interface OwnershipDeclaration {
  readonly name: string;
  readonly options: { readonly namespace?: string };
  readonly watches: readonly { readonly resource: Resource; readonly track?: "labels"; readonly prunes?: boolean }[];
  readonly dependents?: { readonly steps: readonly { readonly resource: Resource }[] };
}

/** The ownership that a controller declares. */
export function ownershipOf({ name, options, watches, dependents }: OwnershipDeclaration): Ownership {
  const deleted = watches.filter(({ track, prunes }) => track === "labels" || prunes === true);
  const alive = new Set([...deleted, ...dependents?.steps ?? []].map(({ resource }) => resourceId(resource)));
  const labelled = new Set(
    watches.filter((watch) => watch.track === "labels").map((watch) => resourceId(watch.resource)),
  );
  return {
    of: (resource) =>
      labelled.has(resourceId(resource)) ? byLabels(resource, name, options.namespace) : byReference(resource),
    pruned: watches.filter((watch) => watch.prunes === true).map((watch) => watch.resource),
    tracked: watches.filter((watch) => watch.track === "labels").map((watch) => watch.resource),
    needsLiveOwner: (resource) => alive.has(resourceId(resource)),
    controller: name,
  };
}

function byReference(resource: Resource): Relation {
  return {
    isOwned: (dependent, owner) => isControlledBy(dependent, owner.object),
    claim(dependent, owner) {
      const problem = unreachableOwner(resource, dependent, owner);
      if (problem !== undefined) throw new TerminalError(problem);
      const controlling = controllerReference(owner.object, owner.resource);
      const others = dependent.metadata.ownerReferences?.filter(({ uid }) => uid !== controlling.uid) ?? [];
      return { ...dependent.metadata, ownerReferences: [controlling, ...others] };
    },
  };
}

function byLabels(resource: Resource, controller: string, watched: string | undefined): Relation {
  return {
    isOwned: (dependent, owner) => isLabelledFor(resource, dependent, owner, controller),
    claim(dependent, owner) {
      const { namespace } = dependent.metadata;
      if (resource.scope === "Namespaced" && watched !== undefined && namespace !== watched) {
        throw new TerminalError(
          `Cannot apply ${resource.kind} "${
            keyOf(dependent)
          }": the controller watches the namespace "${watched}" only, ` +
            "so it would not notice when the object changes. Run it without a namespace",
        );
      }
      return trackingMetadata(resource, dependent, owner, controller);
    },
  };
}

/** Why no owner reference can lead from the dependent to the owner; undefined when one can. */
function unreachableOwner(resource: Resource, dependent: KubeObject, owner: Owner): string | undefined {
  if (owner.resource.scope === "Cluster") return undefined;
  const { namespace } = dependent.metadata;
  const ownerText = `${owner.resource.kind} "${keyOf(owner.object)}"`;
  const place = resource.scope === "Cluster"
    ? "is cluster-scoped"
    : namespace !== owner.object.metadata.namespace
    ? `is in the namespace "${namespace}"`
    : undefined;
  if (place === undefined) return undefined;
  return `Cannot apply ${resource.kind} "${
    keyOf(dependent)
  }" with ${ownerText} as its controller: the object ${place}, ` +
    "where an owner reference does not find the owner, so the garbage collector would delete the object. Declare " +
    `owns(${resource.kind}, { track: "labels" }), or write it with ctx.client and a label, and declare ` +
    `watches(${resource.kind}, { to })`;
}

/** Who owns `object`, for messages: by reference or by labels; undefined when it has no owner. */
export function describeOwner(object: KubeObject): string | undefined {
  const controller = controllerOf(object);
  if (controller !== undefined) return `controlled by ${controller.kind} "${controller.name}"`;
  return describeLabelledOwner(object);
}
