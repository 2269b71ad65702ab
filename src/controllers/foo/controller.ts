/**
 * foo: keeps one Deployment for each Foo. It re-creates Kubernetes' sample-controller.
 *
 * Guarantees: a Deployment that was deleted or scaled is restored; a foreign Deployment is never changed; a converged Foo
 * causes no write and no Event.
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
    const desired = desiredDeployment(foo);
    const cached = ctx.find(Deployment, keyOf(desired));
    const live = await ctx.apply(desired).catch((error: unknown) => {
      if (error instanceof NotControlledError) {
        const note = `Resource "${desired.metadata.name}" already exists and is not managed by Foo`;
        ctx.event("Warning", "ErrResourceExists", note);
      }
      throw error;
    });
    const availableReplicas = live.status?.availableReplicas ?? 0;
    const isConverged = live === cached && foo.status?.availableReplicas === availableReplicas;
    await ctx.patchStatus({ availableReplicas });
    if (!isConverged) ctx.event("Normal", "Synced", "Foo synced successfully");
    return done;
  });
