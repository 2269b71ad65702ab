/**
 * Operators that are wrong when their process ends between two writes (Sieve: intermediate states). Each one derives from a
 * part of the state that all of it has been reached.
 *
 * Caveats: none of them needs a race or an old cache; a crash, or a lost response, at the right write is enough.
 */
import {
  controller,
  defineResource,
  Deployment,
  done,
  type Infer,
  isControlledBy,
  manifest,
  PersistentVolumeClaim,
  Secret,
  Service,
  StatefulSet,
  withWorkloads,
  z,
} from "../../../src/mod.ts";
import { type CorpusCase, create, UserSteps, workload } from "./_case.ts";

const Database = defineResource({
  group: "data.example.dev",
  version: "v1",
  kind: "Database",
  scope: "Namespaced",
  spec: z.object({
    storage: z.string().default("1Gi"),
    serviceName: z.string().default("db"),
    schema: z.string().default("v1"),
  }),
  status: z.object({
    phase: z.string().optional(),
    serviceName: z.string().optional(),
    schema: z.string().optional(),
  }),
});
type Database = Infer<typeof Database>;

const databases = new UserSteps("data.example.dev/v1", "Database");

function labelsOf({ metadata: { name = "" } }: Database) {
  return { app: name };
}

function podTemplate(labels: Readonly<Record<string, string>>) {
  return { metadata: { labels }, spec: { containers: [{ name: "db", image: "postgres:17" }] } };
}

function claimOf(metadata: { readonly name: string; readonly namespace?: string }, storage: string) {
  const spec = {
    accessModes: ["ReadWriteOnce"],
    storageClassName: "fast",
    resources: { requests: { storage } },
  } as const;
  return { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata, spec } as const;
}

/** The claim template of a StatefulSet is immutable, so a larger one needs a new StatefulSet; the claims are resized before. */
const resizesClaims = controller("resizes-claims")
  .for(Database)
  .owns(StatefulSet, { deletes: true })
  .owns(PersistentVolumeClaim)
  .reconcile(async (ctx) => {
    const { namespace, name = "" } = ctx.object.metadata;
    const { storage } = ctx.object.spec;
    const labels = labelsOf(ctx.object);
    const claimKey = `${namespace}/data-${name}-0`;
    const claim = ctx.find(PersistentVolumeClaim, claimKey);
    if (claim === undefined || !isControlledBy(claim, ctx.object)) {
      await ctx.apply(manifest(PersistentVolumeClaim, claimOf({ namespace, name: `data-${name}-0` }, storage)));
    }
    const old = ctx.find(StatefulSet, `${namespace}/${name}`);
    if (old === undefined || !isControlledBy(old, ctx.object)) {
      const selector = { matchLabels: labels };
      const volumeClaimTemplates = [claimOf({ name: "data" }, storage)];
      await ctx.apply(manifest(StatefulSet, {
        metadata: { namespace, name },
        spec: { serviceName: "db", replicas: 1, selector, template: podTemplate(labels), volumeClaimTemplates },
      }));
      return done;
    }
    const has = old.spec?.volumeClaimTemplates?.[0]?.spec?.resources?.requests?.["storage"];
    if (has === storage) return done;
    // Wrong: after the deletion nothing says that the claims still have the old size.
    await ctx.delete(StatefulSet, old, { propagationPolicy: "Orphan" });
    const value = { spec: { resources: { requests: { storage } } } };
    await ctx.client.patch(PersistentVolumeClaim, claimKey, { kind: "merge", value }, { signal: ctx.signal });
    return done;
  });

/** Creates a password, and a Deployment that uses it. */
const passwordFirst = controller("password-first").for(Database).owns(Secret).owns(Deployment).reconcile(
  async (ctx) => {
    const { namespace, name = "" } = ctx.object.metadata;
    // Wrong: the Secret is taken for proof that the whole installation is done.
    if (ctx.find(Secret, `${namespace}/${name}-password`) !== undefined) return done;
    const labels = labelsOf(ctx.object);
    await ctx.apply(manifest(Secret, {
      metadata: { namespace, name: `${name}-password` },
      stringData: { password: `secret of ${name}` },
    }));
    await ctx.apply(manifest(Deployment, {
      metadata: { namespace, name },
      spec: { replicas: 1, selector: { matchLabels: labels }, template: podTemplate(labels) },
    }));
    return done;
  },
);

/** Renames the Service of a Database: creates the new one, records it, deletes the old one. */
const renamesService = controller("renames-service").for(Database).owns(Service, { deletes: true }).reconcile(
  async (ctx) => {
    const { namespace } = ctx.object.metadata;
    const { serviceName } = ctx.object.spec;
    const before = ctx.object.status?.serviceName;
    await ctx.apply(manifest(Service, {
      metadata: { namespace, name: serviceName },
      spec: { selector: labelsOf(ctx.object), ports: [{ port: 5432 }] },
    }));
    // Wrong: the record of the old name is overwritten before the old Service is deleted.
    await ctx.patchStatus({ serviceName });
    if (before === undefined || before === serviceName) return done;
    const old = ctx.find(Service, `${namespace}/${before}`);
    if (old !== undefined) await ctx.delete(Service, old);
    return done;
  },
);

/** The claim is bound by a provisioner, which the simulation does not have: a step does it. */
const createAndResize = workload(
  "create and resize",
  create({
    apiVersion: "storage.k8s.io/v1",
    kind: "StorageClass",
    metadata: { name: "fast" },
    provisioner: "disk.example.dev",
    allowVolumeExpansion: true,
  }),
  databases.create("orders", { spec: { storage: "1Gi" } }),
  new UserSteps("v1", "PersistentVolumeClaim").patch("data-orders-0", { status: { phase: "Bound" } }, "status"),
  databases.patch("orders", { spec: { storage: "5Gi" } }),
);

export const interruptedWrites: readonly CorpusCase[] = [
  {
    name: "claims-keep-their-size",
    kind: "bug",
    class: "intermediate state: delete and create again",
    about: "After a crash between two writes the StatefulSet asks for 5Gi and its claim keeps 1Gi, for good.",
    controllers: [withWorkloads(resizesClaims, createAndResize)],
    expected: ["end-state"],
  },
  {
    name: "password-without-database",
    kind: "bug",
    class: "intermediate state: the first child stands for all",
    about: "After a crash between two creates the Database has a password and no Deployment.",
    controllers: [withWorkloads(passwordFirst, workload("create", databases.create("orders", { spec: {} })))],
    expected: ["end-state"],
  },
  {
    name: "old-service-leaked",
    kind: "bug",
    class: "intermediate state: record overwritten before the work",
    about: "After a crash the old Service stays, and clients that use it never learn of the new one.",
    controllers: [withWorkloads(
      renamesService,
      workload(
        "rename",
        databases.create("orders", { spec: { serviceName: "orders" } }),
        databases.patch("orders", { spec: { serviceName: "orders-v2" } }),
      ),
    )],
    expected: ["end-state"],
  },
];
