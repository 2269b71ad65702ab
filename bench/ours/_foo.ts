/**
 * The controller that gives each Foo its Deployment, its status and its Event: the same three writes as the Go peer, at
 * the same points. The Event is a plain write, because event recorders merge and drop.
 */
import {
  changed,
  controller,
  type ControllerDefinition,
  CoreEvent,
  Deployment,
  type Desired,
  done,
  manifest,
} from "../../src/mod.ts";
import { Foo } from "../../src/controllers/foo/mod.ts";

export { Foo };

/** Options of {@link fooController}. */
export interface FooControllerOptions {
  readonly workers: number;
  /** Called for each Foo whose three writes were made. */
  readonly onFinished: () => void;
  /** Called at the begin of each reconcile. @default not called */
  readonly onReconcile?: () => void;
}

/** The controller of the reconcile and start cases. */
export function fooController(options: FooControllerOptions): ControllerDefinition {
  return controller("foo", { maxConcurrentReconciles: options.workers })
    .for(Foo, { when: changed.generation })
    .owns(Deployment)
    .reconcile(async (ctx) => {
      const foo = ctx.object;
      options.onReconcile?.();
      await ctx.apply(desiredDeployment(foo));
      if (foo.status?.availableReplicas === foo.spec.replicas) return done;
      await ctx.patchStatus({ availableReplicas: foo.spec.replicas });
      await ctx.client.create(CoreEvent, syncedEvent(foo), { signal: ctx.signal });
      options.onFinished();
      return done;
    });
}

function desiredDeployment(foo: Foo): Desired<typeof Deployment> {
  const labels = { app: "nginx", controller: foo.metadata.name ?? "" };
  return manifest(Deployment, {
    metadata: { name: foo.spec.deploymentName, namespace: foo.metadata.namespace },
    spec: {
      replicas: foo.spec.replicas,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: "nginx", image: "nginx:latest" }] },
      },
    },
  });
}

function syncedEvent(foo: Foo) {
  const { name, namespace, uid, resourceVersion } = foo.metadata;
  const now = new Date().toISOString().replace(/\.\d+Z$/, "Z");
  return {
    metadata: { namespace, name: `${name}.${resourceVersion}` },
    involvedObject: { apiVersion: foo.apiVersion, kind: foo.kind, namespace, name, uid, resourceVersion },
    reason: "Synced",
    message: "Foo synced successfully",
    type: "Normal",
    source: { component: "bench" },
    firstTimestamp: now,
    lastTimestamp: now,
    count: 1,
  };
}
