/**
 * nodepool: gives the Nodes of a NodePool their labels and taints and keeps a RuntimeClass for them. Re-creates the
 * NodePool operator of the kubebuilder tutorials.
 *
 * Guarantees: what others set on a Node stays, and what a pool gave goes when the Node leaves, when the pool drops it or
 * when the pool is deleted, no matter who was down meanwhile: a Node carries what it was given in an annotation
 * (`claims.ts`). A pool whose world is in order causes no write and no Event.
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
import { giftOf, isMember, nameOf } from "./desired.ts";
import { areSettled, bringNodes, concerned, type Context, type Outcome } from "./nodes.ts";
import { fieldManager } from "./plan.ts";
import { NodePool } from "./resource.ts";
import { bringRuntimeClass } from "./runtime_class.ts";
import { type Finding, findingsOf, membershipNotes, type Note, statusOf, warningNotes } from "./status.ts";

/** A resync delivers what has not changed. */
const repeated = not(changed.resourceVersion);

/** Nodes change every few minutes, in their heartbeats; this is what pools look at. */
const nodeMatters: Predicate<Node> = (change: Change<Node>) =>
  change.kind !== "updated" || seen(change.object) !== seen(change.old);

function seen({ metadata, spec, status }: Node): string {
  const claims = Object.entries(metadata.annotations ?? {}).filter(([key]) => key.startsWith(claimPrefix));
  return JSON.stringify([metadata.labels, claims, spec.taints, status?.allocatable]);
}

export const nodepoolController = controller("nodepool", { maxConcurrentReconciles: 2, fieldManager })
  .for(NodePool, { when: anyOf(changed.generation, repeated) })
  .owns(RuntimeClass, { when: changed.resourceVersion, deletes: true })
  .watches(Node, { to: poolsOf, when: nodeMatters })
  .uses(Node, ["get", "list", "patch"])
  .uses(NodePool, ["get"])
  .finalize(letGo, "nodes.lailin.xyz/nodepool")
  .reconcile(bringPool);

async function bringPool(ctx: Context): Promise<Result> {
  const name = nameOf(ctx.object);
  const nodes = concerned(ctx.list(Node), name);
  const isSettled = areSettled(nodes, { pool: name, gift: giftOf(ctx.object) });
  const pool = isSettled ? ctx.object : await readLive(ctx);
  if (pool === undefined) return done; // the cache will hear of its end
  const outcome = await bringNodes(ctx, nodes, { pool: name, gift: giftOf(pool) });
  tell(ctx, membershipNotes(outcome));
  const members = nodes.filter((node) => isMember(node, name));
  const runtimeClass = await bringRuntimeClass(ctx, pool, members.length);
  const findings = findingsOf(pool, outcome, runtimeClass.finding === undefined ? [] : [runtimeClass.finding]);
  await report(ctx, { pool, members, findings });
  throwFirst(name, outcome, runtimeClass.error);
  return done;
}

/** Takes everything back. Read live: a Node that the cache does not know yet would keep what it got for ever. */
async function letGo(ctx: Context): Promise<Result> {
  const name = nameOf(ctx.object);
  const { items } = await ctx.client.listAll(Node, { signal: ctx.signal });
  const outcome = await bringNodes(ctx, concerned(items, name), { pool: name, gift: undefined });
  tell(ctx, membershipNotes(outcome));
  throwFirst(name, outcome);
  return done;
}

/**
 * The pool as the server has it, before its Nodes are changed in its name: taints may end Pods, and a cache that lags
 * must not decide that (behaviours.md 3.4). Undefined when it is gone or going.
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

async function report(ctx: Context, { pool, members, findings }: Report): Promise<void> {
  const { generation } = pool.metadata;
  const current = { ...ctx.object, metadata: { ...ctx.object.metadata, generation } };
  await ctx.patchStatus(statusOf(current, members, findings, ctx.clock.now()));
  tell(ctx, warningNotes(ctx.object, findings));
}

function tell(ctx: Context, notes: readonly Note[]): void {
  for (const { type, reason, note } of notes) ctx.event(type, reason, note);
}

/** Makes the attempt a failed one, so that there is another. */
function throwFirst(pool: string, { failures }: Outcome, other?: unknown): void {
  const [first] = failures;
  if (first === undefined && other === undefined) return;
  if (first === undefined) throw other;
  const more = failures.length === 1 ? "" : ` and ${failures.length - 1} more`;
  throw new Error(`Cannot bring Node "${first.node}"${more} to what NodePool "${pool}" wants`, { cause: first.error });
}
