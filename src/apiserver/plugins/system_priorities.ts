/** The PriorityClasses that every cluster has from its first moment: for what the cluster itself runs on. */
import type { JsonObject } from "../model/mod.ts";

/** The value of each, and what it is for. Source: kubernetes `pkg/apis/scheduling/v1/helpers.go` of 1.36. */
const classes = [
  {
    name: "system-node-critical",
    value: 2_000_001_000,
    description: "Used for system critical pods that must not be moved from their current node.",
  },
  {
    name: "system-cluster-critical",
    value: 2_000_000_000,
    description:
      "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.",
  },
];

/** The values by name. */
export const systemPriorities: ReadonlyMap<string, number> = new Map(classes.map(({ name, value }) => [name, value]));

/**
 * The classes as they are stored.
 *
 * @param seal gives an object what a server adds to its metadata
 */
export function systemPriorityClasses(
  seal: () => JsonObject,
): readonly { readonly name: string; readonly object: JsonObject }[] {
  return classes.map(({ name, value, description }) => ({
    name,
    object: {
      apiVersion: "scheduling.k8s.io/v1",
      kind: "PriorityClass",
      metadata: { name, generation: 1, ...seal() },
      value,
      description,
      preemptionPolicy: "PreemptLowerPriority",
    },
  }));
}
