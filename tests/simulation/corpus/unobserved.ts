/**
 * Operators that are wrong when they do not see something: an event that was merged with the next one, a deletion while the
 * process was down (Sieve: unobserved states), or a condition that becomes true without an event that they watch (Anvil:
 * liveness).
 */
import {
  ConfigMap,
  controller,
  controllerReference,
  defineResource,
  Deployment,
  done,
  type Infer,
  isAlreadyExists,
  isNotFound,
  Job,
  manifest,
  requeueAfter,
  Secret,
  withWorkloads,
  z,
} from "../../../src/mod.ts";
import { type CorpusCase, UserSteps, workload } from "./_case.ts";

const App = defineResource({
  group: "apps.example.dev",
  version: "v1",
  kind: "App",
  scope: "Namespaced",
  spec: z.object({
    image: z.string().default("web:1"),
    replicas: z.int32().min(0).default(1),
    secretName: z.string().optional(),
    ttlSeconds: z.int32().optional(),
  }),
  status: z.object({
    phase: z.string().optional(),
    restarts: z.int32().optional(),
    startedAt: z.string().optional(),
    image: z.string().optional(),
  }),
});
type App = Infer<typeof App>;

const apps = new UserSteps("apps.example.dev/v1", "App");
const secrets = new UserSteps("v1", "Secret");

function ignoreNotFound(error: unknown): void {
  if (!isNotFound(error)) throw error;
}

function ignoreAlreadyExists(error: unknown): void {
  if (!isAlreadyExists(error)) throw error;
}

function deploymentOf({ metadata: { namespace, name = "" }, spec: { image, replicas } }: App) {
  const labels = { app: name };
  return manifest(Deployment, {
    metadata: { namespace, name },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: "web", image }] } },
    },
  });
}

/** Publishes each App in a namespace for all, and withdraws it when the App is deleted. */
const withdrawsOnEvent = controller("withdraws-on-event").for(App).uses(ConfigMap, ["create", "delete"])
  .reconcileKey(async ({ key, namespace, name }, { client, signal, causes }) => {
    const published = { namespace: "kube-public", name: `${namespace}-${name}` };
    // Wrong: no process may have been there when the App was deleted. A finalizer would have kept it.
    if (causes.some(({ change }) => change === "deleted")) {
      await client.delete(ConfigMap, `kube-public/${published.name}`, { signal }).catch(ignoreNotFound);
      return done;
    }
    await client.create(ConfigMap, { metadata: published, data: { app: key } }, { signal }).catch(ignoreAlreadyExists);
    return done;
  });

/** A user asks for a restart with an annotation, and takes it away again. */
const restartsOnAnnotation = controller("restarts-on-annotation").for(App).owns(Deployment).reconcile(async (ctx) => {
  const desired = deploymentOf(ctx.object);
  const restarts = ctx.object.status?.restarts ?? 0;
  await ctx.apply(desired);
  // Wrong: the annotation says nothing about which request it is, so two requests may look like one or none.
  if (ctx.object.metadata.annotations?.restart === undefined) {
    if (ctx.object.status?.phase === "Restarting") await ctx.patchStatus({ phase: "Running" });
    return done;
  }
  if (ctx.object.status?.phase !== "Restarting") await ctx.patchStatus({ phase: "Restarting", restarts: restarts + 1 });
  return done;
});

/** Rolls a changed image out; everything else was done when the App was created. */
const comparesWithOld = controller("compares-with-old")
  .for(App, { when: (change) => change.kind !== "updated" || change.object.spec.image !== change.old.spec.image })
  .owns(Deployment)
  .reconcile(async (ctx) => {
    const key = `${ctx.object.metadata.namespace}/${ctx.object.metadata.name}`;
    const existing = ctx.find(Deployment, key);
    // Wrong: "added" after a restart is taken for a change that was rolled out before.
    const isChange = ctx.causes.some(({ source, change }) =>
      source === "apps.apps.example.dev" && change === "updated"
    );
    if (existing !== undefined && !isChange && ctx.retries === 0) return done;
    await ctx.apply(deploymentOf(ctx.object));
    return done;
  });

/** Waits for a Secret that users create. */
const neverLooksAgain = controller("never-looks-again").for(App).owns(Deployment).uses(Secret, ["get"]).reconcile(
  async (ctx) => {
    const { namespace } = ctx.object.metadata;
    const { secretName } = ctx.object.spec;
    if (secretName !== undefined) {
      const secret = await ctx.client.find(Secret, `${namespace}/${secretName}`, { signal: ctx.signal });
      if (secret === undefined) {
        // Wrong: nothing watches the Secret, and the key is not requeued.
        await ctx.patchStatus({ phase: "WaitingForSecret" });
        return done;
      }
    }
    await ctx.apply(deploymentOf(ctx.object));
    await ctx.patchStatus({ phase: "Running" });
    return done;
  },
);

/** An App with a time to live is stopped when it is over. */
const forgetsTimer = controller("forgets-timer").for(App).owns(Deployment).reconcile(async (ctx) => {
  const { ttlSeconds } = ctx.object.spec;
  const { phase } = ctx.object.status ?? {};
  if (phase === "Expired") return done;
  if (phase === undefined) {
    await ctx.apply(deploymentOf(ctx.object));
    await ctx.patchStatus({ phase: "Running", startedAt: new Date(ctx.clock.now()).toISOString() });
    // Wrong: the timer is only in the queue of this process. The next one finds "Running" and starts none.
    return ttlSeconds === undefined ? done : requeueAfter(ttlSeconds * 1_000);
  }
  if (!ctx.causes.some(({ change }) => change === "requeue")) return done;
  await ctx.apply({ ...deploymentOf(ctx.object), spec: { ...deploymentOf(ctx.object).spec, replicas: 0 } });
  await ctx.patchStatus({ phase: "Expired" });
  return done;
});

/** The Job of an App runs once; the App reports that it is over. */
const jobOfFormerOwner = controller("job-of-former-owner")
  .for(App)
  .owns(Job)
  .uses(Job, ["create"])
  .reconcile(async (ctx) => {
    const { namespace, name = "" } = ctx.object.metadata;
    if (ctx.object.status?.phase === "Done") return done;
    const job = ctx.find(Job, `${namespace}/${name}`);
    if (job === undefined) {
      const metadata = { namespace, name, ownerReferences: [controllerReference(ctx.object, App)] };
      const containers = [{ name: "run", image: "sh:1" }];
      const spec = { template: { spec: { restartPolicy: "Never", containers } } } as const;
      await ctx.client.create(Job, { metadata, spec }, { signal: ctx.signal });
      return done;
    }
    // Wrong: the owner is recognized by its name; the Job may be that of a deleted App with the same name.
    const isOwn = job.metadata.ownerReferences?.some((owner) => owner.name === name);
    if (!isOwn) throw new Error(`Cannot run App "${name}": a Job with its name exists`);
    if ((job.status?.succeeded ?? 0) > 0) await ctx.patchStatus({ phase: "Done" });
    return done;
  });

export const unobserved: readonly CorpusCase[] = [
  {
    name: "withdrawn-only-on-event",
    kind: "bug",
    class: "unobserved state: deletion while the process is down",
    about: "An App that is deleted while no process runs stays published for ever.",
    controllers: [withWorkloads(
      withdrawsOnEvent,
      workload("create and delete", apps.create("a", { spec: {} }), apps.create("b", { spec: {} }), apps.delete("a")),
    )],
    expected: ["end-state", "object-lifecycle"],
  },
  {
    name: "restart-request-lost",
    kind: "bug",
    class: "unobserved state: a transient annotation",
    about: "A restart that was requested and withdrawn between two looks never happens.",
    controllers: [withWorkloads(
      restartsOnAnnotation,
      workload(
        "restart twice",
        apps.create("a", { spec: {} }),
        apps.patch("a", { metadata: { annotations: { restart: "yes" } } }),
        apps.patch("a", { metadata: { annotations: { restart: null } } }),
        apps.patch("a", { metadata: { annotations: { restart: "yes" } } }),
      ),
    )],
    expected: ["end-state"],
  },
  {
    name: "change-during-downtime",
    kind: "bug",
    class: "unobserved state: change while the process is down",
    about: "An image that is changed while no process runs is never rolled out.",
    controllers: [withWorkloads(
      comparesWithOld,
      workload(
        "roll out",
        apps.create("a", { spec: { image: "web:1" } }),
        apps.patch("a", { spec: { image: "web:2" } }),
        apps.patch("a", { spec: { image: "web:3" } }),
      ),
    )],
    expected: ["end-state"],
  },
  {
    name: "secret-created-later",
    kind: "bug",
    class: "liveness: requeue missing",
    about: "An App whose Secret is created after it waits until somebody restarts the operator.",
    controllers: [withWorkloads(
      neverLooksAgain,
      workload(
        "the Secret comes later",
        apps.create("a", { spec: { secretName: "token" } }),
        secrets.create("token", { stringData: { token: "t" } }),
      ),
    )],
    expected: ["end-state"],
  },
  {
    name: "ttl-forgotten-at-restart",
    kind: "bug",
    class: "liveness: timer only in memory",
    about: "An App with a time to live runs for ever if the operator was restarted meanwhile.",
    controllers: [withWorkloads(
      forgetsTimer,
      workload(
        "expire",
        apps.create("a", { spec: { ttlSeconds: 120 } }),
        { kind: "advance", toMs: 600_000 },
      ),
    )],
    expected: ["end-state"],
  },
  {
    name: "job-of-former-owner",
    kind: "bug",
    class: "owner recognized by name",
    about:
      "A new App is reported as Done because the Job of the deleted one with its name was; its own Job never runs.",
    controllers: [withWorkloads(
      jobOfFormerOwner,
      workload(
        "run twice",
        apps.create("a", { spec: {} }),
        apps.delete("a"),
        apps.create("a", { spec: {} }),
      ),
    )],
    expected: ["end-state", "object-lifecycle"],
  },
];
