/**
 * Reconciles the Nodes of a pool, several at a time.
 *
 * Guarantees: a Node that changed in the meantime is read and planned again, with five attempts at most (behaviour 75); a Node
 * that cannot be written does not block the others; a deleted Node is ignored.
 */
import { isConflict, isNotFound, Node, type ReconcileContext, type RuntimeClass } from "../../mod.ts";
import { poolsOf } from "./claims.ts";
import type { NodeSettings } from "./desired.ts";
import { type Membership, type NodeConflict, planFor } from "./plan.ts";
import type { NodePool } from "./resource.ts";

/** The context of the reconciler: the kinds are those that `controller.ts` declares. */
export type Context = ReconcileContext<
  typeof NodePool,
  typeof NodePool | typeof RuntimeClass | typeof Node
>;

/** A pool and the settings of its Nodes. */
export interface PoolSettings {
  readonly pool: string;
  /** Undefined: everything that the pool has set is removed. */
  readonly settings: NodeSettings | undefined;
}

/** The results for all Nodes. */
export interface NodesResult {
  readonly changed: readonly { readonly node: string; readonly membership: Membership }[];
  readonly conflicts: readonly NodeConflict[];
  readonly failures: readonly { readonly node: string; readonly error: unknown }[];
}

/** Concurrent requests for one pool. */
const maxConcurrentWrites = 8;
const maxAttempts = 5;

/** Returns the Nodes of a pool, sorted by name: its members, and those that it has set something on. */
export function nodesOfPool(nodes: readonly Node[], pool: string): readonly Node[] {
  return nodes.filter((node) => poolsOf(node).includes(pool))
    .toSorted((left, right) => nodeName(left) < nodeName(right) ? -1 : 1);
}

/** True when no Node must be changed. */
export function areSettled(nodes: readonly Node[], { pool, settings }: PoolSettings): boolean {
  return nodes.every((node) => planFor(node, pool, settings).kind === "settled");
}

/** Reconciles the Nodes of a pool. */
export async function reconcileNodes(
  ctx: Context,
  nodes: readonly Node[],
  desired: PoolSettings,
): Promise<NodesResult> {
  const results: NodesResult[] = [];
  const rest = nodes.entries();
  const worker = async () => {
    for (const [at, node] of rest) {
      ctx.signal.throwIfAborted();
      results[at] = await tryNode(ctx, node, desired);
    }
  };
  await Promise.all(Array.from({ length: Math.min(maxConcurrentWrites, nodes.length) }, worker));
  return {
    changed: results.flatMap(({ changed }) => changed),
    conflicts: results.flatMap(({ conflicts }) => conflicts),
    failures: results.flatMap(({ failures }) => failures),
  };
}

const unchanged: NodesResult = { changed: [], conflicts: [], failures: [] };

/** Turns an error into a failure of this Node, so that the other Nodes are still reconciled. */
async function tryNode(ctx: Context, node: Node, desired: PoolSettings): Promise<NodesResult> {
  try {
    return await reconcileNode(ctx, node, desired);
  } catch (error) {
    ctx.signal.throwIfAborted();
    if (isNotFound(error)) return unchanged;
    return { ...unchanged, failures: [{ node: nodeName(node), error }] };
  }
}

async function reconcileNode(ctx: Context, cached: Node, { pool, settings }: PoolSettings): Promise<NodesResult> {
  const name = nodeName(cached);
  const readLive = () => ctx.client.get(Node, name, { signal: ctx.signal });
  let node = cached;
  let isLive = false;
  for (let attempt = 1;; attempt++) {
    let plan = planFor(node, pool, settings);
    if (plan.kind === "change" && plan.needsOwners && !isLive) {
      // The cache stores no managedFields.
      [node, isLive] = [await readLive(), true];
      plan = planFor(node, pool, settings);
    }
    const { conflicts } = plan;
    if (plan.kind === "settled") return { ...unchanged, conflicts };
    try {
      await ctx.patch(Node, node, { kind: "merge", value: plan.patch });
      return { ...unchanged, conflicts, changed: [{ node: name, membership: plan.membership }] };
    } catch (error) {
      if (!isConflict(error) || attempt >= maxAttempts) throw error;
    }
    [node, isLive] = [await readLive(), true];
  }
}

function nodeName(node: Node): string {
  return node.metadata.name ?? "";
}
