/**
 * foo: keeps one Deployment for each Foo. Re-creates Kubernetes' sample-controller.
 *
 * Guarantees: a Deployment that somebody deleted or scaled is put right; one that belongs to another owner is never
 * touched; a Foo whose world is in order causes no write and no Event.
 */
import { changed, controller, Deployment, done, keyOf, NotControlledError, TerminalError } from "../../mod.ts";
import { desiredDeployment } from "./desired.ts";
import { Foo } from "./resource.ts";

export const fooController = controller("foo", { maxConcurrentReconciles: 2, queueName: "Foos", resyncMs: 30_000 })
  .for(Foo)
  .owns(Deployment, { when: changed.resourceVersion })
  .reconcile(async (ctx) => {
    const foo = ctx.object;
    if (foo.spec.deploymentName === "") {
      throw new TerminalError(`Cannot reconcile Foo "${keyOf(foo)}": spec.deploymentName is empty`);
    }
    const wanted = desiredDeployment(foo);
    const held = ctx.find(Deployment, keyOf(wanted));
    const live = await ctx.apply(wanted).catch((error: unknown) => {
      if (error instanceof NotControlledError) {
        const note = `Resource "${wanted.metadata.name}" already exists and is not managed by Foo`;
        ctx.event("Warning", "ErrResourceExists", note);
      }
      throw error;
    });
    const availableReplicas = live.status?.availableReplicas ?? 0;
    const settled = live === held && foo.status?.availableReplicas === availableReplicas;
    await ctx.patchStatus({ availableReplicas });
    if (!settled) ctx.event("Normal", "Synced", "Foo synced successfully");
    return done;
  });
