/**
 * Carries plans out: brings the Nodes that concern a pool to what they should be, several at a time.
 *
 * Guarantees: a Node that changed meanwhile is read anew and planned anew, five tries at most (behaviours.md 75); one
 * Node that cannot be written holds up no other; a Node that is gone is nobody's trouble.
 */
import { isConflict, isNotFound, Node, type ReconcileContext, type RuntimeClass } from "../../mod.ts";
import { poolsOf } from "./claims.ts";
import type { Gift } from "./desired.ts";
import { type Membership, type NodeConflict, planFor } from "./plan.ts";
import type { NodePool } from "./resource.ts";

/** What the controller declared, see `controller.ts`. */
export type Context = ReconcileContext<
  typeof NodePool,
  typeof NodePool | typeof RuntimeClass | typeof Node
>;

/** What a pool wants of its Nodes. */
export interface Wish {
  readonly pool: string;
  /** Undefined: everything is taken back. */
  readonly gift: Gift | undefined;
}

/** What became of the Nodes. */
export interface Outcome {
  readonly changed: readonly { readonly node: string; readonly membership: Membership }[];
  readonly conflicts: readonly NodeConflict[];
  readonly failures: readonly { readonly node: string; readonly error: unknown }[];
}

/** Requests under way at once for one pool. */
const mostAtOnce = 8;
const mostTries = 5;

/** The Nodes that concern a pool, by name: its members and those it gave something. */
export function concerned(nodes: readonly Node[], pool: string): readonly Node[] {
  return nodes.filter((node) => poolsOf(node).includes(pool))
    .toSorted((left, right) => nodeName(left) < nodeName(right) ? -1 : 1);
}

/** True when all Nodes are as the pool wants them. */
export function areSettled(nodes: readonly Node[], wish: Wish): boolean {
  return nodes.every((node) => planFor(node, wish.pool, wish.gift).kind === "settled");
}

/** Brings the Nodes to what the pool wants. */
export async function bringNodes(ctx: Context, nodes: readonly Node[], wish: Wish): Promise<Outcome> {
  const outcomes: Outcome[] = [];
  const rest = nodes.entries();
  const worker = async () => {
    for (const [at, node] of rest) {
      ctx.signal.throwIfAborted();
      outcomes[at] = await tryNode(ctx, node, wish);
    }
  };
  await Promise.all(Array.from({ length: Math.min(mostAtOnce, nodes.length) }, worker));
  return {
    changed: outcomes.flatMap(({ changed }) => changed),
    conflicts: outcomes.flatMap(({ conflicts }) => conflicts),
    failures: outcomes.flatMap(({ failures }) => failures),
  };
}

const untouched: Outcome = { changed: [], conflicts: [], failures: [] };

async function tryNode(ctx: Context, node: Node, wish: Wish): Promise<Outcome> {
  try {
    return await bringNode(ctx, node, wish);
  } catch (error) {
    ctx.signal.throwIfAborted();
    if (isNotFound(error)) return untouched;
    return { ...untouched, failures: [{ node: nodeName(node), error }] };
  }
}

async function bringNode(ctx: Context, cached: Node, { pool, gift }: Wish): Promise<Outcome> {
  const name = nodeName(cached);
  const readLive = () => ctx.client.get(Node, name, { signal: ctx.signal });
  let node = cached;
  let isLive = false;
  for (let tries = 1;; tries++) {
    let plan = planFor(node, pool, gift);
    if (plan.kind === "change" && plan.needsOwners && !isLive) {
      // The cache keeps no managedFields.
      [node, isLive] = [await readLive(), true];
      plan = planFor(node, pool, gift);
    }
    const { conflicts } = plan;
    if (plan.kind === "settled") return { ...untouched, conflicts };
    try {
      await ctx.patch(Node, node, { kind: "merge", value: plan.patch });
      return { ...untouched, conflicts, changed: [{ node: name, membership: plan.membership }] };
    } catch (error) {
      if (!isConflict(error) || tries >= mostTries) throw error;
    }
    [node, isLive] = [await readLive(), true];
  }
}

function nodeName(node: Node): string {
  return node.metadata.name ?? "";
}
