/**
 * Operators that clean up wrongly: the finalizer goes too early, too late or never, or takes those of others along.
 *
 * Caveats: what they clean up is in other namespaces or has no owner, because the garbage collector deletes all else.
 */
import {
  ConfigMap,
  controller,
  defineResource,
  done,
  type Infer,
  isAlreadyExists,
  isNotFound,
  keyOf,
  type ReconcileContext,
  Secret,
  type Toolbox,
  withWorkloads,
  z,
} from "../../../src/mod.ts";
import { type CorpusCase, UserSteps, workload } from "./_case.ts";

const Tenant = defineResource({
  group: "tenants.example.dev",
  version: "v1",
  kind: "Tenant",
  scope: "Namespaced",
  spec: z.object({ quota: z.int32().default(1), realm: z.string().default("main") }),
  status: z.object({ realm: z.string().optional() }),
});
type Tenant = Infer<typeof Tenant>;

const tenants = new UserSteps("tenants.example.dev/v1", "Tenant");
const finalizer = "tenants.example.dev/cleanup";
/** Where the ConfigMaps of all tenants are; an owner reference cannot lead there. */
const registry = "kube-public";

function ignoreNotFound(error: unknown): void {
  if (!isNotFound(error)) throw error;
}

function ignoreAlreadyExists(error: unknown): void {
  if (!isAlreadyExists(error)) throw error;
}

function registration({ metadata: { namespace, name } }: Tenant) {
  return { metadata: { namespace: registry, name: `${namespace}-${name}` }, data: { tenant: `${namespace}/${name}` } };
}

/** Registers a Tenant that still exists: an old cache may show one that is gone, and nobody would unregister it. */
async function register({ client, signal }: Pick<Toolbox, "client" | "signal">, tenant: Tenant): Promise<void> {
  const live = await client.find(Tenant, keyOf(tenant), { signal });
  if (live?.metadata.uid !== tenant.metadata.uid || live?.metadata.deletionTimestamp !== undefined) return;
  await client.create(ConfigMap, registration(tenant), { signal }).catch(ignoreAlreadyExists);
}

async function unregister({ client, signal }: Pick<Toolbox, "client" | "signal">, tenant: Tenant): Promise<void> {
  await client.delete(ConfigMap, `${registry}/${registration(tenant).metadata.name}`, { signal }).catch(ignoreNotFound);
}

/** Sets the finalizers of a Tenant. The version makes sure that those of others are not lost. */
async function setFinalizers(
  { client, signal }: Pick<Toolbox, "client" | "signal">,
  { metadata: { namespace, name, resourceVersion } }: Tenant,
  finalizers: readonly string[],
): Promise<void> {
  const value = { metadata: { resourceVersion, finalizers } };
  await client.patch(Tenant, `${namespace}/${name}`, { kind: "merge", value }, { signal });
}

const removesFinalizerFirst = controller("removes-finalizer-first").for(Tenant)
  .uses(Tenant, ["get", "patch"]).uses(ConfigMap, ["create", "delete"])
  .reconcileKey(async ({ key }, toolbox) => {
    const tenant = toolbox.find(Tenant, key);
    if (tenant === undefined) return done;
    const { finalizers = [], deletionTimestamp } = tenant.metadata;
    if (deletionTimestamp === undefined) {
      if (!finalizers.includes(finalizer)) await setFinalizers(toolbox, tenant, [...finalizers, finalizer]);
      await register(toolbox, tenant);
      return done;
    }
    if (!finalizers.includes(finalizer)) return done;
    // Wrong: after this write nothing brings the key back to delete the registration.
    await setFinalizers(toolbox, tenant, finalizers.filter((one) => one !== finalizer));
    await unregister(toolbox, tenant);
    return done;
  });

const failsWhenGone = controller("fails-when-gone").for(Tenant).uses(Tenant, ["get"]).uses(ConfigMap, [
  "create",
  "delete",
])
  .finalize(async (ctx) => {
    const { name } = registration(ctx.object).metadata;
    // Wrong: the registration may be deleted already, by the attempt before this one for example.
    await ctx.client.delete(ConfigMap, `${registry}/${name}`, { signal: ctx.signal });
    return done;
  })
  .reconcile(async (ctx) => {
    await register(ctx, ctx.object);
    return done;
  });

const dropsOtherFinalizers = controller("drops-other-finalizers").for(Tenant)
  .uses(Tenant, ["get", "patch"]).uses(ConfigMap, ["create", "delete"])
  .reconcileKey(async ({ key }, toolbox) => {
    const { client, signal } = toolbox;
    const tenant = toolbox.find(Tenant, key);
    if (tenant === undefined) return done;
    const { finalizers = [], deletionTimestamp } = tenant.metadata;
    const isListed = finalizers.includes(finalizer);
    if (deletionTimestamp !== undefined) {
      if (!isListed) return done;
      await unregister(toolbox, tenant);
      await setFinalizers(toolbox, tenant, finalizers.filter((one) => one !== finalizer));
      return done;
    }
    if (!isListed) {
      // Wrong: without the resourceVersion, a finalizer that another operator added since is removed.
      const value = { metadata: { finalizers: [...finalizers, finalizer] } };
      await client.patch(Tenant, key, { kind: "merge", value }, { signal });
    }
    await register(toolbox, tenant);
    return done;
  });

/** The finalizer is added by the same write that records the realm, after the work of the first pass. */
const addsFinalizerLast = controller("adds-finalizer-last").for(Tenant)
  .uses(Tenant, ["get", "patch"]).uses(ConfigMap, ["create", "delete"])
  .reconcileKey(async ({ key }, toolbox) => {
    const tenant = toolbox.find(Tenant, key);
    if (tenant === undefined) return done;
    const { finalizers = [], deletionTimestamp } = tenant.metadata;
    if (deletionTimestamp !== undefined) {
      if (!finalizers.includes(finalizer)) return done;
      await unregister(toolbox, tenant);
      await setFinalizers(toolbox, tenant, finalizers.filter((one) => one !== finalizer));
      return done;
    }
    // Wrong: if the Tenant is deleted before the finalizer is there, the registration stays.
    await register(toolbox, tenant);
    if (!finalizers.includes(finalizer)) await setFinalizers(toolbox, tenant, [...finalizers, finalizer]);
    return done;
  });

/** The credentials of a Tenant are in the namespace of its realm. */
const cleansUpCurrentRealm = controller("cleans-up-current-realm").for(Tenant).uses(Secret, ["create", "delete"])
  .finalize(async (ctx) => {
    const { namespace, name } = ctx.object.metadata;
    // Wrong: the realm in the spec may have been changed since the last pass.
    const key = `${realms[ctx.object.spec.realm] ?? registry}/${namespace}-${name}`;
    await ctx.client.delete(Secret, key, { signal: ctx.signal }).catch(ignoreNotFound);
    return done;
  })
  .reconcile(async (ctx) => await moveCredentials(ctx));

const realms: Readonly<Record<string, string>> = { main: "kube-public", other: "kube-system" };

async function moveCredentials(ctx: ReconcileContext<typeof Tenant, typeof Tenant>) {
  const { client, signal, object: { metadata: { namespace, name }, spec: { realm }, status } } = ctx;
  const nameInRealm = `${namespace}-${name}`;
  const metadata = { namespace: realms[realm] ?? registry, name: nameInRealm };
  await client.create(Secret, { metadata, stringData: { token: "t" } }, { signal }).catch(ignoreAlreadyExists);
  if (status?.realm !== undefined && status.realm !== realm) {
    await client.delete(Secret, `${realms[status.realm] ?? registry}/${nameInRealm}`, { signal }).catch(ignoreNotFound);
  }
  await ctx.patchStatus({ realm });
  return done;
}

const createAndDelete = workload("create and delete", tenants.create("a", { spec: {} }), tenants.delete("a"));

export const finalizers: readonly CorpusCase[] = [
  {
    name: "finalizer-removed-first",
    kind: "bug",
    class: "finalizer removed too early",
    about: "After a crash the Tenant is gone, and its registration stays for ever.",
    controllers: [withWorkloads(removesFinalizerFirst, createAndDelete)],
    expected: ["end-state", "object-lifecycle"],
  },
  {
    name: "cleanup-not-repeatable",
    kind: "bug",
    class: "finalizer never removed",
    about:
      "When the first attempt to clean up was interrupted, each further one fails, and the Tenant can never be deleted.",
    controllers: [withWorkloads(failsWhenGone, createAndDelete)],
    expected: ["end-state", "quiescence"],
  },
  {
    name: "finalizer-of-others-dropped",
    kind: "bug",
    class: "finalizers overwritten",
    about: "The finalizer that another operator has just added is removed, so its cleanup never runs.",
    controllers: [withWorkloads(
      dropsOtherFinalizers,
      workload(
        "create and delete",
        tenants.create("a", { spec: {} }),
        tenants.delete("a"),
        tenants.create("b", { spec: {} }),
      ),
    )],
    expected: ["lost-update", "end-state", "object-lifecycle"],
  },
  {
    name: "finalizer-added-last",
    kind: "bug",
    class: "finalizer added after the work",
    about: "A Tenant that is deleted soon after its creation leaves its registration behind.",
    controllers: [withWorkloads(
      addsFinalizerLast,
      workload(
        "create and delete at once",
        { ...tenants.create("a", { spec: {} }), untilWrites: 1 },
        tenants.delete("a"),
      ),
    )],
    expected: ["end-state", "object-lifecycle"],
  },
  {
    name: "credentials-of-old-realm",
    kind: "bug",
    class: "cleanup by the newest spec",
    about: "A Tenant that is moved and deleted leaves valid credentials in its old realm.",
    controllers: [withWorkloads(
      cleansUpCurrentRealm,
      workload(
        "move and delete",
        tenants.create("a", { spec: { realm: "main" } }),
        { ...tenants.patch("a", { spec: { realm: "other" } }), untilWrites: 1 },
        tenants.delete("a"),
      ),
    )],
    expected: ["end-state", "object-lifecycle"],
  },
];
