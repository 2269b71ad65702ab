/** The kinds that a plan reads from the cluster: what the controllers watch, own, read and write, and in which namespaces. */
import { builtin, type KubeObject, type Resource, resourceName, splitKey } from "../../api/mod.ts";
import { isMetadataOnly } from "../../controller/mod.ts";
import type { OperatorController } from "../../manager/mod.ts";

/** A kind to read. */
export interface PlannedKind {
  readonly resource: Resource<KubeObject>;
  /** True when only the metadata of its objects matters. */
  readonly metadataOnly: boolean;
  /** The first controller that needs it. */
  readonly controller: string;
  /** The namespaces to read; empty: all, or the kind is cluster-scoped. */
  readonly namespaces: readonly string[];
  /** True when the cluster may do without the kind, because it is watched under a condition. */
  readonly isOptional?: boolean;
}

/** Kinds that record what happens. Their objects are no state that a controller works on. */
const records: ReadonlySet<string> = new Set([builtin.Event, builtin.Lease].map(resourceName).concat("events"));

/** Kinds whose objects are questions to the server: they are not stored. */
const reviews: ReadonlySet<string> = new Set(["authentication.k8s.io", "authorization.k8s.io"]);

/**
 * Returns the kinds that controllers declare, each once.
 *
 * @param namespaces Those of the command line; empty: those of the controllers, else all
 */
export function plannedKinds(
  controllers: readonly OperatorController[],
  namespaces: readonly string[],
): readonly PlannedKind[] {
  const kinds = new Map<string, PlannedKind>();
  for (const { name: controller, watches, permissions, options } of controllers) {
    const own = namespaces.length > 0 || options.namespace === undefined ? namespaces : [options.namespace];
    const watched = new Set(watches.map(({ resource }) => resourceName(resource)));
    const used = permissions.filter(({ verbs, subresource }) => subresource !== undefined || !isOnlyCreated(verbs));
    const writes = new Set(
      [...watches.filter((watch) => watch.role === "owns" || watch.writes || watch.deletes), ...used]
        .map(({ resource }) => resourceName(resource)),
    );
    const declared = [
      ...watches.map(({ resource, activation }) => ({
        resource,
        namespaces: own,
        isOptional: activation !== undefined,
      })),
      ...used.map(({ resource }) => ({ resource, namespaces: own, isOptional: false })),
      ...decisiveKinds(watches),
    ];
    for (const { resource, namespaces, isOptional } of declared) {
      const name = resourceName(resource);
      if ((records.has(name) && !watched.has(name)) || reviews.has(resource.group)) continue;
      const needed = {
        resource: resource as Resource<KubeObject>,
        // The scheduler of the simulated cluster reads whole Nodes.
        metadataOnly: isMetadataOnly(resource) && !writes.has(name) && name !== resourceName(builtin.Node),
        controller,
        namespaces: resource.scope === "Cluster" ? [] : namespaces,
        isOptional,
      };
      const known = kinds.get(name);
      kinds.set(name, known === undefined ? needed : joined(known, needed));
    }
  }
  return [...kinds.values()];
}

/** The kinds of the objects that decide whether others are watched. Definitions of kinds are read in any case. */
function decisiveKinds(watches: OperatorController["watches"]) {
  return watches.flatMap(({ activation }) => {
    if (activation === undefined || activation.resource.kind === "CustomResourceDefinition") return [];
    const { namespace } = splitKey(activation.key);
    return [{
      resource: activation.resource,
      namespaces: namespace === undefined ? [] : [namespace],
      isOptional: false,
    }];
  });
}

function isOnlyCreated(verbs: readonly string[]): boolean {
  return verbs.every((verb) => verb === "create");
}

function joined(one: PlannedKind, other: PlannedKind): PlannedKind {
  const isEverywhere = one.namespaces.length === 0 || other.namespaces.length === 0;
  return {
    ...one,
    metadataOnly: one.metadataOnly && other.metadataOnly,
    isOptional: one.isOptional === true && other.isOptional === true,
    namespaces: isEverywhere ? [] : [...new Set([...one.namespaces, ...other.namespaces])],
  };
}
