/** The desired state of a NodePool: the labels and taints of its Nodes, and its RuntimeClass. Pure functions. */
import { type Desired, manifest, type Node, RuntimeClass } from "../../mod.ts";
import { type NodePool, withDefaults } from "./resource.ts";
import { labelProblems, taintId, taintProblems } from "./validate.ts";

/** Prefix of the label that makes a Node a member of a pool. */
export const rolePrefix = "node-role.kubernetes.io/";

/** A taint of a Node. */
export type Taint = NonNullable<Node["spec"]["taints"]>[number];

/** The labels and taints that a pool sets on its Nodes. */
export interface NodeSettings {
  readonly labels: ReadonlyMap<string, string>;
  /** By key and effect, see `taintId`. */
  readonly taints: ReadonlyMap<string, Taint>;
}

/** The settings for a Node that is not a member. */
export const noSettings: NodeSettings = { labels: new Map(), taints: new Map() };

/** Returns the valid labels and taints of a pool. Of two taints with the same key and effect the first applies. */
export function nodeSettingsOf(pool: NodePool): NodeSettings {
  const { labels, taints } = withDefaults(pool).spec;
  const validTaints = new Map<string, Taint>();
  for (const [at, taint] of taints.entries()) {
    const id = taintId(taint);
    if (taintProblems(taint, at).length === 0 && !validTaints.has(id)) validTaints.set(id, taint);
  }
  return {
    labels: new Map(Object.entries(labels).filter(([key, value]) => labelProblems(key, value).length === 0)),
    taints: validTaints,
  };
}

/** True when the Node has the label of the pool, with any value. */
export function isMember(node: Pick<Node, "metadata">, pool: string): boolean {
  return Object.hasOwn(node.metadata.labels ?? {}, rolePrefix + pool);
}

/** Returns the RuntimeClass of a pool: its Pods are scheduled onto the Nodes of the pool and tolerate their taints. */
export function desiredRuntimeClass(pool: NodePool): Desired<typeof RuntimeClass> {
  const { labels, taints } = nodeSettingsOf(pool);
  const name = nameOf(pool);
  // When all labels are invalid, an empty selector would select every Node.
  const nodeSelector = labels.size === 0 ? { [rolePrefix + name]: "" } : Object.fromEntries(labels);
  return manifest(RuntimeClass, {
    metadata: { name: `node-pool-${name}` },
    handler: withDefaults(pool).spec.handler,
    scheduling: {
      nodeSelector,
      // The server omits an empty value in its responses, so the desired object omits it, too.
      tolerations: [...taints.values()].map(({ key, value = "", effect }) =>
        value === "" ? { key, operator: "Equal", effect } : { key, operator: "Equal", value, effect }
      ),
    },
  });
}

/** The name of a pool that the server has stored. */
export function nameOf(pool: NodePool): string {
  return pool.metadata.name ?? "";
}
