/**
 * What a NodePool asks for: the labels and taints of its Nodes, and its RuntimeClass. Pure functions: what a pool means
 * is decided here and nowhere else.
 */
import { type Desired, manifest, type Node, RuntimeClass } from "../../mod.ts";
import { withDefaults } from "./defaults.ts";
import type { NodePool } from "./resource.ts";
import { labelProblems, taintId, taintProblems } from "./validate.ts";

/** Begins the label that makes a Node a member. */
export const rolePrefix = "node-role.kubernetes.io/";

/** One taint, as a Node has it. */
export type Taint = NonNullable<Node["spec"]["taints"]>[number];

/** What every member of a pool gets. */
export interface Gift {
  readonly labels: ReadonlyMap<string, string>;
  /** By key and effect, see `taintId`. */
  readonly taints: ReadonlyMap<string, Taint>;
}

/** What is given to a Node that is no member. */
export const nothing: Gift = { labels: new Map(), taints: new Map() };

/** What a pool gives: all of it that `validate.ts` does not refuse. Of two taints alike the first counts. */
export function giftOf(pool: NodePool): Gift {
  const { labels, taints } = withDefaults(pool).spec;
  const legal = new Map<string, Taint>();
  for (const [at, taint] of taints.entries()) {
    const id = taintId(taint);
    if (taintProblems(taint, at).length === 0 && !legal.has(id)) legal.set(id, taint);
  }
  return {
    labels: new Map(Object.entries(labels).filter(([key, value]) => labelProblems(key, value).length === 0)),
    taints: legal,
  };
}

/** True when the Node has the pool's label, with whatever value. */
export function isMember(node: Pick<Node, "metadata">, pool: string): boolean {
  return Object.hasOwn(node.metadata.labels ?? {}, rolePrefix + pool);
}

/** The pool's RuntimeClass: Pods that name it go to the pool's Nodes and tolerate their taints. */
export function desiredRuntimeClass(pool: NodePool): Desired<typeof RuntimeClass> {
  const { labels, taints } = giftOf(pool);
  const name = nameOf(pool);
  // Of labels that were all refused none is left, and no selector at all would be every Node.
  const nodeSelector = labels.size === 0 ? { [rolePrefix + name]: "" } : Object.fromEntries(labels);
  return manifest(RuntimeClass, {
    metadata: { name: `node-pool-${name}` },
    handler: withDefaults(pool).spec.handler,
    scheduling: {
      nodeSelector,
      // The server leaves an empty value out of its answers, so it is not written either.
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
