/**
 * Correct operators to whose objects the cluster does something: defaults of the server and of webhooks, finalizers of Jobs
 * and claims, the end of a namespace, and an autoscaler that owns one field.
 */
import {
  ConfigMap,
  controller,
  controllerReference,
  defineResource,
  Deployment,
  done,
  isControlledBy,
  isForbidden,
  isNotFound,
  Job,
  keyOf,
  manifest,
  Namespace,
  PersistentVolumeClaim,
  Pod,
  requeueAfter,
  withWebhooks,
  withWorkloads,
  z,
} from "../../../src/mod.ts";
import { defaulting } from "../../../src/webhook.ts";
import { type CorpusCase, create, UserSteps, workload } from "./_case.ts";

const Shop = defineResource({
  group: "shops.example.dev",
  version: "v1",
  kind: "Shop",
  scope: "Namespaced",
  spec: z.object({ image: z.string().default("shop:1"), replicas: z.int32().default(2), tier: z.string().optional() }),
  status: z.object({ phase: z.string().optional() }),
});

const shops = new UserSteps("shops.example.dev/v1", "Shop");

function podTemplate(labels: Readonly<Record<string, string>>, image: string) {
  return { metadata: { labels }, spec: { containers: [{ name: "shop", image }] } };
}

/** Creates a Deployment by POST, and compares only what it has set: the server adds many fields. */
const comparesOwnFields = controller("compares-own-fields").for(Shop).owns(Deployment)
  .uses(Deployment, ["create", "patch"])
  .reconcile(async (ctx) => {
    const { namespace, name = "" } = ctx.object.metadata;
    const { image, replicas } = ctx.object.spec;
    const existing = ctx.find(Deployment, `${namespace}/${name}`);
    const spec = { replicas, selector: { matchLabels: { shop: name } }, template: podTemplate({ shop: name }, image) };
    if (existing === undefined) {
      const ownerReferences = [controllerReference(ctx.object, Shop)];
      await ctx.client.create(Deployment, { metadata: { namespace, name, ownerReferences }, spec }, {
        signal: ctx.signal,
      });
      return done;
    }
    if (!isControlledBy(existing, ctx.object)) throw new Error(`Cannot create Deployment "${name}": it exists already`);
    const isCurrent = existing.spec?.replicas === replicas &&
      existing.spec.template.spec?.containers?.[0]?.image === image;
    if (isCurrent) return done;
    const { uid, resourceVersion } = existing.metadata;
    await ctx.patch(Deployment, existing, { kind: "strategic", value: { metadata: { uid, resourceVersion }, spec } });
    return done;
  });

/** The template of a Job is immutable: a changed image needs a new Job, and the old one goes with its Pods. */
const replacesJob = controller("replaces-job").for(Shop).owns(Job, { deletes: true }).reconcile(async (ctx) => {
  const { namespace, name = "" } = ctx.object.metadata;
  const { image } = ctx.object.spec;
  const existing = ctx.find(Job, `${namespace}/${name}`);
  const isOwn = existing !== undefined && isControlledBy(existing, ctx.object);
  if (isOwn && existing.metadata.annotations?.image !== image) {
    const onlyIf = (live: typeof ctx.object) => live.spec.image === image;
    await ctx.delete(Job, existing, { onlyIf, propagationPolicy: "Foreground" });
    return done; // the end of the old Job brings the key back
  }
  await ctx.apply(manifest(Job, {
    metadata: { namespace, name, annotations: { image } },
    spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "run", image }] } } },
  }));
  return done;
});

/** One ConfigMap in each namespace of a team; what is in a namespace ends with it. */
const greetsTeams = controller("greets-teams").for(Namespace).owns(ConfigMap).reconcile(async (ctx) => {
  const { name: namespace = "", labels = {} } = ctx.object.metadata;
  if (labels.team === undefined) return done;
  try {
    await ctx.apply(manifest(ConfigMap, { metadata: { namespace, name: "greeting" }, data: { team: labels.team } }));
  } catch (error) {
    // A namespace that is being deleted accepts nothing new.
    if (!isForbidden(error) && !isNotFound(error)) throw error;
  }
  return done;
});

type Kept = typeof PersistentVolumeClaim | typeof Pod;

/** Deletes the claim and the Pod of a deleted Shop; the server keeps the claim until the Pod that mounts it is gone. */
const waitsForClaim = controller("waits-for-claim").for(Shop)
  .owns(PersistentVolumeClaim, { deletes: true }).owns(Pod, { deletes: true })
  .finalize(async (ctx) => {
    const { signal } = ctx;
    const key = `${ctx.object.metadata.namespace}/${ctx.object.metadata.name}`;
    let isGone = true;
    for (const resource of [PersistentVolumeClaim, Pod]) {
      const live = await ctx.client.find<Kept>(resource, key, { signal });
      if (live === undefined || !isControlledBy(live, ctx.object)) continue;
      isGone = false;
      if (live.metadata.deletionTimestamp !== undefined) continue;
      const options = { gracePeriodSeconds: 0, preconditions: { uid: live.metadata.uid }, signal };
      await ctx.client.delete<Kept>(resource, keyOf(live), options).catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      });
    }
    if (!isGone) return requeueAfter(5_000);
    return done;
  })
  .reconcile(async (ctx) => {
    const { namespace, name = "" } = ctx.object.metadata;
    const metadata = { namespace, name };
    await ctx.apply(manifest(PersistentVolumeClaim, {
      metadata,
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
    }));
    const volumes = [{ name: "data", persistentVolumeClaim: { claimName: name } }];
    await ctx.apply(manifest(Pod, { metadata, spec: { containers: [{ name: "shop", image: "shop:1" }], volumes } }));
    return done;
  });

/** A webhook sets the tier, so the stored Shop has a field that no user has written. */
const usesDefaultedTier = controller("uses-defaulted-tier").for(Shop).owns(ConfigMap).reconcile(async (ctx) => {
  const { namespace, name = "" } = ctx.object.metadata;
  const data = { tier: ctx.object.spec.tier ?? "unknown" };
  await ctx.apply(manifest(ConfigMap, { metadata: { namespace, name: `${name}-tier` }, data }));
  return done;
});

const tierWebhook = defaulting(
  Shop,
  (shop) => ({ ...shop, spec: { ...shop.spec, tier: shop.spec.tier ?? "standard" } }),
);

/** Sets the replicas when it creates the Deployment; from then on they belong to an autoscaler. */
const leavesReplicas = controller("leaves-replicas").for(Shop).owns(Deployment).uses(Deployment, ["create"]).reconcile(
  async (ctx) => {
    const { namespace, name = "" } = ctx.object.metadata;
    const { image, replicas } = ctx.object.spec;
    const selector = { matchLabels: { shop: name } };
    const template = podTemplate({ shop: name }, image);
    if (ctx.find(Deployment, `${namespace}/${name}`) === undefined) {
      const metadata = { namespace, name, ownerReferences: [controllerReference(ctx.object, Shop)] };
      await ctx.client.create(Deployment, { metadata, spec: { replicas, selector, template } }, { signal: ctx.signal });
    }
    await ctx.apply(manifest(Deployment, { metadata: { namespace, name }, spec: { selector, template } }));
    return done;
  },
);

const createScaleAndDelete = workload(
  "create, change and delete",
  shops.create("a", { spec: {} }),
  shops.patch("a", { spec: { image: "shop:2" } }),
  shops.delete("a"),
  shops.create("a", { spec: {} }),
);

const team = { apiVersion: "v1", kind: "Namespace", metadata: { name: "team-a", labels: { team: "a" } } };

export const correctCluster: readonly CorpusCase[] = [
  {
    name: "server-defaults",
    kind: "correct",
    class: "defaults of the server",
    about: "The server adds fields to the Deployment, which the operator neither sets nor compares.",
    controllers: [withWorkloads(comparesOwnFields, createScaleAndDelete)],
  },
  {
    name: "job-replaced",
    kind: "correct",
    class: "Jobs and their finalizers",
    about: "The old Job goes with a finalizer of the server, and the new one comes after that.",
    controllers: [withWorkloads(replacesJob, createScaleAndDelete)],
  },
  {
    name: "namespace-ends",
    kind: "correct",
    class: "deleted namespaces",
    about: "A deleted namespace takes along what is in it, and refuses what the operator would create.",
    controllers: [withWorkloads(
      greetsTeams,
      workload(
        "create, delete and create again",
        create(team),
        { kind: "delete", object: { apiVersion: "v1", kind: "Namespace", name: "team-a" } },
        create(team),
      ),
    )],
  },
  {
    name: "claim-in-use",
    kind: "correct",
    class: "claims with protection",
    about: "The deleted claim stays until the Pod is gone that mounts it.",
    controllers: [
      withWorkloads(waitsForClaim, workload("create and delete", shops.create("a", { spec: {} }), shops.delete("a"))),
    ],
  },
  {
    name: "webhook-default",
    kind: "correct",
    class: "defaults of a webhook",
    about: "The webhook of the operator sets a field that its reconciler reads.",
    controllers: [withWorkloads(
      withWebhooks(usesDefaultedTier, [tierWebhook]),
      workload(
        "create and change",
        shops.create("a", { spec: {} }),
        shops.patch("a", { spec: { tier: "gold" } }),
        shops.patch("a", { spec: { tier: null } }),
      ),
    )],
  },
  {
    name: "replicas-of-autoscaler",
    kind: "correct",
    class: "a field that belongs to others",
    about: "The operator sets the replicas once; what an autoscaler or a user sets after that stays.",
    controllers: [withWorkloads(
      leavesReplicas,
      workload(
        "scale by others",
        shops.create("a", { spec: {} }),
        new UserSteps("apps/v1", "Deployment").patch("a", { spec: { replicas: 5 } }, "scale"),
        shops.patch("a", { spec: { image: "shop:2" } }),
      ),
    )],
  },
];
