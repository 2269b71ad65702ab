/**
 * Reconciles the RuntimeClass of a pool. The handler of a RuntimeClass is immutable: a RuntimeClass with another handler is
 * deleted and created again, as long as the pool has no Nodes.
 */
import { isControlledBy, NotControlledError, RuntimeClass } from "../../mod.ts";
import { desiredRuntimeClass } from "./desired.ts";
import type { Context } from "./nodes.ts";
import type { NodePool } from "./resource.ts";
import type { Finding } from "./status.ts";

/** The result. */
export interface RuntimeClassResult {
  readonly finding?: Finding;
  /** The error to throw at the end of the reconcile, for a retry. */
  readonly error?: unknown;
}

/** Reconciles the RuntimeClass. @param members The number of Nodes in the pool */
export async function reconcileRuntimeClass(
  ctx: Context,
  pool: NodePool,
  members: number,
): Promise<RuntimeClassResult> {
  const desired = desiredRuntimeClass(pool);
  const { name } = desired.metadata;
  const cached = ctx.find(RuntimeClass, name);
  const keepsHandler = cached === undefined || cached.handler === desired.handler || !isControlledBy(cached, pool);
  if (!keepsHandler && members === 0) {
    // The watch delivers the deletion, and the next reconcile creates it again.
    await ctx.delete(RuntimeClass, cached);
    ctx.event(
      "Normal",
      "RuntimeClassReplaced",
      `RuntimeClass "${name}" deleted to change its handler to "${desired.handler}"`,
    );
    return {};
  }
  try {
    const live = await ctx.apply(keepsHandler ? desired : { ...desired, handler: cached.handler });
    await removeStaleLabels(ctx, live, desired.scheduling?.nodeSelector ?? {});
  } catch (error) {
    if (!(error instanceof NotControlledError)) throw error;
    const message = `RuntimeClass "${name}" already exists and is not managed by NodePool`;
    return { finding: { reason: "ErrResourceExists", message }, error };
  }
  if (cached === undefined) ctx.event("Normal", "RuntimeClassCreated", `RuntimeClass "${name}" created`);
  if (keepsHandler) return {};
  const message =
    `the handler is "${cached.handler}" and cannot change to "${desired.handler}" while the pool has Nodes`;
  return { finding: { reason: "HandlerInUse", message } };
}

/** Removes labels from the selector that are no longer desired: the apply keeps keys that it does not name. */
async function removeStaleLabels(
  ctx: Context,
  live: RuntimeClass,
  desired: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  const keys = Object.keys(live.scheduling?.nodeSelector ?? {}).filter((key) => !Object.hasOwn(desired, key));
  if (keys.length === 0) return;
  const nodeSelector = Object.fromEntries(keys.map((key) => [key, null]));
  const { resourceVersion } = live.metadata;
  await ctx.patch(RuntimeClass, live, {
    kind: "merge",
    value: { metadata: { resourceVersion }, scheduling: { nodeSelector } },
  });
}
