/**
 * The pool's RuntimeClass: made, kept as it should be, and replaced where only that helps, since the API server lets no
 * handler change.
 */
import { isControlledBy, NotControlledError, RuntimeClass } from "../../mod.ts";
import { desiredRuntimeClass } from "./desired.ts";
import type { Context } from "./nodes.ts";
import type { NodePool } from "./resource.ts";
import type { Finding } from "./status.ts";

/** What became of it. */
export interface RuntimeClassOutcome {
  readonly finding?: Finding;
  /** To be thrown in the end, so that there is another try. */
  readonly error?: unknown;
}

/** Brings it to what the pool wants. */
export async function bringRuntimeClass(ctx: Context, pool: NodePool, members: number): Promise<RuntimeClassOutcome> {
  const wanted = desiredRuntimeClass(pool);
  const { name } = wanted.metadata;
  const held = ctx.find(RuntimeClass, name);
  const keepsHandler = held === undefined || held.handler === wanted.handler || !isControlledBy(held, pool);
  if (!keepsHandler && members === 0) {
    // Its deletion comes back as a change, and then it is made anew.
    await ctx.delete(RuntimeClass, held);
    ctx.event("Normal", "RuntimeClassReplaced", `RuntimeClass "${name}" makes room for handler "${wanted.handler}"`);
    return {};
  }
  try {
    const live = await ctx.apply(keepsHandler ? wanted : { ...wanted, handler: held.handler });
    await removeSurplus(ctx, live, wanted.scheduling?.nodeSelector ?? {});
  } catch (error) {
    if (!(error instanceof NotControlledError)) throw error;
    const message = `RuntimeClass "${name}" already exists and is not managed by NodePool`;
    return { finding: { reason: "ErrResourceExists", message }, error };
  }
  if (held === undefined) ctx.event("Normal", "RuntimeClassCreated", `RuntimeClass "${name}" created`);
  if (keepsHandler) return {};
  const message = `the handler is "${held.handler}" and cannot change to "${wanted.handler}" while the pool has Nodes`;
  return { finding: { reason: "HandlerInUse", message } };
}

/** Takes labels out of the selector that are not wanted any more: an apply changes what it names and leaves the rest. */
async function removeSurplus(
  ctx: Context,
  live: RuntimeClass,
  wanted: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  const keys = Object.keys(live.scheduling?.nodeSelector ?? {}).filter((key) => !Object.hasOwn(wanted, key));
  if (keys.length === 0) return;
  const nodeSelector = Object.fromEntries(keys.map((key) => [key, null]));
  const { resourceVersion } = live.metadata;
  await ctx.patch(RuntimeClass, live, {
    kind: "merge",
    value: { metadata: { resourceVersion }, scheduling: { nodeSelector } },
  });
}
