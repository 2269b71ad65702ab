/**
 * foo: keeps one Deployment for each Foo. It re-creates Kubernetes' sample-controller.
 *
 * Guarantees: a Deployment that was deleted is created again, and the values of `desired.ts` are restored; all other fields
 * of the Deployment stay, also the replicas while the Foo has none. A foreign Deployment is never changed; a converged Foo
 * causes no write, no Event and no log record.
 */
import {
  changed,
  controller,
  type ControllerDefinition,
  Deployment,
  done,
  isControlledBy,
  keyOf,
  NotControlledError,
  type ReconcileContext,
  type Request,
  TerminalError,
  type Toolbox,
} from "../../mod.ts";
import { resourceName } from "../../client.ts";
import { desiredDeployment } from "./desired.ts";
import { Foo } from "./resource.ts";

const definition = controller("foo", { maxConcurrentReconciles: 2, queueName: "Foos", resyncMs: 30_000 })
  .for(Foo)
  .owns(Deployment, { when: changed.resourceVersion })
  .reconcile(async (ctx) => {
    const foo = ctx.object;
    if (foo.spec.deploymentName === "") {
      throw new TerminalError(`Cannot reconcile Foo "${keyOf(foo)}": spec.deploymentName is empty`);
    }
    const desired = desiredDeployment(foo);
    const cached = ctx.find(Deployment, keyOf(desired));
    // The apply checks the owner, but it comes after the release.
    if (cached !== undefined && isControlledBy(cached, foo) && foo.spec.replicas === undefined) {
      await releaseReplicas(ctx, cached);
    }
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
    if (isConverged) return done;
    ctx.event("Normal", "Synced", "Foo synced successfully");
    ctx.log.info("Successfully synced");
    return done;
  });

/** The object reconciler is not called for a Foo that no longer exists, but the original logs it. */
export const fooController: ControllerDefinition = {
  ...definition,
  reconciler: async (request, toolbox) => {
    if (toolbox.find(Foo, request.key) === undefined) logMissing(request, toolbox);
    return await definition.reconciler(request, toolbox);
  },
};

/** The Deployments of a deleted Foo are deleted after it. Only the deletion of the Foo itself is logged at the default level. */
function logMissing({ key }: Request, { causes, log }: Toolbox): void {
  const isDeleted = causes.some(({ source, change }) => source === resourceName(Foo) && change === "deleted");
  if (isDeleted) log.info(`foo '${key}' in work queue no longer exists`);
  else log.debug("ignoring an orphan, its Foo no longer exists");
}

/** Owns the replicas of a Deployment that were applied for a Foo which has none any more. */
const releasedReplicas = "foo-released";

/**
 * Gives the replicas of the Deployment to another field manager, if this controller owns them. Without that, an apply
 * without replicas would remove them, and the API server would set its default of 1.
 *
 * Not forced, and only for the version that was read: if another client has changed the Deployment in the meantime, it is a
 * conflict and the Foo is retried.
 */
async function releaseReplicas(
  { client, signal }: ReconcileContext<typeof Foo, typeof Foo | typeof Deployment>,
  { metadata, spec: { replicas } }: Deployment,
): Promise<void> {
  if (!ownsReplicas(metadata.managedFields)) return;
  const { namespace, name, uid, resourceVersion } = metadata;
  const released = { metadata: { namespace, name, uid, resourceVersion }, spec: { replicas } };
  await client.apply(Deployment, released, { fieldManager: releasedReplicas, signal });
}

function ownsReplicas(managedFields: Deployment["metadata"]["managedFields"] = []): boolean {
  return managedFields.some(({ manager, operation, fieldsV1 }) => {
    const spec = fieldsV1?.["f:spec"];
    return manager === definition.name && operation === "Apply" &&
      typeof spec === "object" && spec !== null && Object.hasOwn(spec, "f:replicas");
  });
}
