/**
 * What a NodePool means where it says nothing. The defaulting webhook writes it into the object; the controller reads
 * every pool through it, so that it does the same where no webhook runs.
 */
import { defaultHandler, type NodePool } from "./resource.ts";

/** The label of a pool that names none: its RuntimeClass selects Nodes by the pool's labels, so there must be one. */
export function defaultLabel(pool: string): string {
  return `node-pool.lailin.xyz/${pool}`;
}

/**
 * The pool with its defaults. Applied twice is applied once.
 *
 * @param pool may come from a webhook, before the schema's own defaults are in it
 */
export function withDefaults(pool: NodePool): NodePool {
  const { name } = pool.metadata;
  const { labels = {}, taints = [], handler = defaultHandler } = pool.spec;
  // A name that the server is yet to make has no label; the controller knows it later.
  const isBare = Object.keys(labels).length === 0 && name !== undefined;
  return { ...pool, spec: { ...pool.spec, labels: isBare ? { [defaultLabel(name)]: "" } : labels, taints, handler } };
}
