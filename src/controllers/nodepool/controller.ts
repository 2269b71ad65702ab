/**
 * nodepool: sets the labels and taints of the Nodes in a NodePool, and keeps a RuntimeClass for them. It re-creates the
 * NodePool operator of the kubebuilder tutorials.
 *
 * Guarantees: labels and taints of other clients stay on a Node; those of a pool are removed when the Node leaves the pool,
 * when the pool drops them, or when the pool is deleted, even if the controller did not run at that time: an annotation of
 * the Node records them (`claims.ts`). A converged pool causes no write and no Event.
 */
import {
  anyOf,
  type Change,
  changed,
  controller,
  done,
  Node,
  not,
  type Predicate,
  type Result,
  RuntimeClass,
} from "../../mod.ts";
import { claimPrefix, poolsOf } from "./claims.ts";
import { isMember, nameOf, nodeSettingsOf } from "./desired.ts";
import { areSettled, type Context, nodesOfPool, type NodesResult, reconcileNodes } from "./nodes.ts";
import { fieldManager } from "./plan.ts";
import { NodePool } from "./resource.ts";
import { reconcileRuntimeClass } from "./runtime_class.ts";
import { type Finding, findingsOf, membershipNotes, type Note, statusOf, warningNotes } from "./status.ts";

/** A resync delivers unchanged objects. */
const resync = not(changed.resourceVersion);

/** Nodes change every few minutes, with each heartbeat. Only these fields matter to pools. */
const changesPools: Predicate<Node> = (change: Change<Node>) =>
  change.kind !== "updated" || relevantFields(change.object) !== relevantFields(change.old);

function relevantFields({ metadata, spec, status }: Node): string {
  const claims = Object.entries(metadata.annotations ?? {}).filter(([key]) => key.startsWith(claimPrefix));
  return JSON.stringify([metadata.labels, claims, spec.taints, status?.allocatable]);
}

export const nodepoolController = controller("nodepool", { maxConcurrentReconciles: 2, fieldManager })
  .for(NodePool, { when: anyOf(changed.generation, resync) })
  .owns(RuntimeClass, { when: changed.resourceVersion, deletes: true })
  .watches(Node, { to: poolsOf, when: changesPools })
  .uses(Node, ["get", "list", "patch"])
  .uses(NodePool, ["get"])
  .finalize(finalize, "nodes.lailin.xyz/nodepool")
  .reconcile(reconcile);

async function reconcile(ctx: Context): Promise<Result> {
  const name = nameOf(ctx.object);
  const nodes = nodesOfPool(ctx.list(Node), name);
  const isSettled = areSettled(nodes, { pool: name, settings: nodeSettingsOf(ctx.object) });
  const pool = isSettled ? ctx.object : await readLive(ctx);
  if (pool === undefined) return done; // the watch will deliver its deletion
  const result = await reconcileNodes(ctx, nodes, { pool: name, settings: nodeSettingsOf(pool) });
  recordEvents(ctx, membershipNotes(result));
  const members = nodes.filter((node) => isMember(node, name));
  const runtimeClass = await reconcileRuntimeClass(ctx, pool, members.length);
  const findings = findingsOf(pool, result, runtimeClass.finding === undefined ? [] : [runtimeClass.finding]);
  await reportStatus(ctx, { pool, members, findings });
  throwFirstFailure(name, result, runtimeClass.error);
  return done;
}

/** Removes everything that the pool has set. Lists live Nodes: one that is not in the cache yet must not be missed. */
async function finalize(ctx: Context): Promise<Result> {
  const name = nameOf(ctx.object);
  const { items } = await ctx.client.listAll(Node, { signal: ctx.signal });
  const result = await reconcileNodes(ctx, nodesOfPool(items, name), { pool: name, settings: undefined });
  recordEvents(ctx, membershipNotes(result));
  throwFirstFailure(name, result);
  return done;
}

/**
 * Reads the live pool before its Nodes are changed: taints can evict Pods, so that a stale cache must not decide about them.
 * Returns undefined when the pool is deleted or being deleted.
 */
async function readLive(ctx: Context): Promise<NodePool | undefined> {
  const live = await ctx.client.find(NodePool, nameOf(ctx.object), { signal: ctx.signal });
  const isSame = live?.metadata.uid === ctx.object.metadata.uid;
  return isSame && live?.metadata.deletionTimestamp === undefined ? live : undefined;
}

interface Report {
  readonly pool: NodePool;
  readonly members: readonly Node[];
  readonly findings: readonly Finding[];
}

async function reportStatus(ctx: Context, { pool, members, findings }: Report): Promise<void> {
  const { generation } = pool.metadata;
  const current = { ...ctx.object, metadata: { ...ctx.object.metadata, generation } };
  await ctx.patchStatus(statusOf(current, members, findings, ctx.clock.now()));
  recordEvents(ctx, warningNotes(ctx.object, findings));
}

function recordEvents(ctx: Context, notes: readonly Note[]): void {
  for (const { type, reason, note } of notes) ctx.event(type, reason, note);
}

/** Makes the reconcile fail, so that it is retried. */
function throwFirstFailure(pool: string, { failures }: NodesResult, other?: unknown): void {
  const [first] = failures;
  if (first === undefined && other === undefined) return;
  if (first === undefined) throw other;
  const more = failures.length === 1 ? "" : ` and ${failures.length - 1} more`;
  throw new Error(`Cannot update Node "${first.node}"${more} of NodePool "${pool}"`, { cause: first.error });
}
