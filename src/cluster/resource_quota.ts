/**
 * The ResourceQuota controller: writes the usage of each quota into its status. Admission admits nothing before the first
 * count, and adds what it admits to the status. This controller counts again when objects are deleted or change.
 */
import { builtin, type KubeObject, printExactJson, type Resource } from "../api/mod.ts";
import { addAmounts, type Amounts, coversScopes, meterOf } from "../apiserver/mod.ts";
import { type Client, Discovery, isConflict, isNotFound } from "../client/mod.ts";
import { controller, type ControllerDefinition, done, requeueAfter } from "../controller/mod.ts";

/** Milliseconds between two counts, for kinds that are not watched; kube-controller-manager's --resource-quota-sync-period. */
const syncPeriodMs = 300_000;

/** Milliseconds before the next count when another client wrote the status meanwhile. */
const conflictRetryMs = 20;

interface Quota extends KubeObject {
  readonly spec?: { readonly hard?: Readonly<Record<string, string>> };
  readonly status?: {
    readonly hard?: Readonly<Record<string, string>>;
    readonly used?: Readonly<Record<string, string>>;
  };
}

const ResourceQuota: Resource<Quota, "ResourceQuota"> = Object.freeze({
  group: "",
  version: "v1",
  kind: "ResourceQuota",
  plural: "resourcequotas",
  scope: "Namespaced",
});

/** Counts the usage of ResourceQuotas. */
export function resourceQuotaController(): ControllerDefinition {
  const known = new Map<string, Set<string>>();
  const quotasOf = (object: KubeObject) => [...known.get(object.metadata.namespace ?? "") ?? []];
  return controller("resourcequota-controller")
    .for(ResourceQuota)
    .watches(builtin.Pod, { to: quotasOf })
    .watches(builtin.Service, { to: quotasOf })
    .watches(builtin.PersistentVolumeClaim, { to: quotasOf })
    .watches(builtin.ConfigMap, { to: quotasOf })
    .watches(builtin.Secret, { to: quotasOf })
    .watches(builtin.Deployment, { to: quotasOf })
    .watches(builtin.Job, { to: quotasOf })
    .reconcile(async (ctx) => {
      const { namespace = "", name = "" } = ctx.object.metadata;
      known.set(namespace, (known.get(namespace) ?? new Set()).add(`${namespace}/${name}`));
      const { client, clock, signal } = ctx;
      // Admission writes the same status. So this reads it before counting, and writes only if its version is unchanged.
      const live = await client.find(ResourceQuota, `${namespace}/${name}`, { signal });
      if (live === undefined) return done;
      const used = await usedOf(client, live, { now: clock.now(), signal });
      const isWritten = await write(client, live, Object.fromEntries(used), signal);
      return requeueAfter(isWritten ? syncPeriodMs : conflictRetryMs);
    });
}

/** @returns false when another client wrote the status first */
async function write(
  client: Client,
  live: Quota,
  used: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<boolean> {
  const { namespace, name, resourceVersion } = live.metadata;
  const status = { hard: live.spec?.hard ?? {}, used };
  if (isSame(status.hard, live.status?.hard) && isSame(used, live.status?.used)) return true;
  // Resources that the quota no longer limits are removed.
  const removed = [...Object.keys(live.status?.hard ?? {})].filter((key) => !Object.hasOwn(status.hard, key));
  const nulls = Object.fromEntries(removed.map((key) => [key, null]));
  const value = {
    metadata: { resourceVersion },
    status: { hard: { ...status.hard, ...nulls }, used: { ...used, ...nulls } },
  };
  const options = { subresource: "status", signal };
  try {
    await client.patch(ResourceQuota, `${namespace}/${name}`, { kind: "merge", value }, options);
    return true;
  } catch (error) {
    if (isConflict(error) || isNotFound(error)) return false;
    throw error;
  }
}

function isSame(left: Readonly<Record<string, string>>, right: Readonly<Record<string, string>> | undefined): boolean {
  const keys = Object.keys(left);
  return keys.length === Object.keys(right ?? {}).length && keys.every((key) => left[key] === right?.[key]);
}

async function usedOf(
  client: Client,
  quota: Quota,
  { now, signal }: { readonly now: number; readonly signal: AbortSignal },
): Promise<Amounts> {
  const names = Object.keys(quota.spec?.hard ?? {});
  let used: Amounts = new Map(names.map((name) => [name, "0"]));
  for (const resource of await countedKinds(client, names, signal)) {
    const meter = meterOf(resource);
    const collection = resource.group === "" ? resource.plural : `${resource.plural}.${resource.group}`;
    const { items } = await client.list(resource, { namespace: quota.metadata.namespace, signal });
    for (const item of items) {
      const object = JSON.parse(printExactJson(item));
      if (!coversScopes(JSON.parse(printExactJson(quota)), collection, object)) continue;
      const usage = [...meter.usage(object, now)].filter(([name]) => used.has(name));
      used = addAmounts(used, new Map(usage));
    }
  }
  return used;
}

/** The kinds whose objects count towards one of the resources. */
async function countedKinds(
  client: Client,
  names: readonly string[],
  signal: AbortSignal,
): Promise<readonly Resource[]> {
  const measured: readonly Resource[] = [builtin.Pod, builtin.Service, builtin.PersistentVolumeClaim];
  const builtins = measured.filter((resource) => names.some(meterOf(resource).measures));
  const others = names.filter((name) => !measured.some((resource) => meterOf(resource).measures(name)));
  if (others.length === 0) return builtins;
  const found = new Map<string, Resource>();
  for (const { resource, verbs } of await new Discovery(client).resources(signal)) {
    const id = `${resource.plural}.${resource.group}`;
    const isCountable = resource.scope === "Namespaced" && verbs.includes("list") && !found.has(id);
    if (isCountable && others.some(meterOf(resource).measures)) found.set(id, resource);
  }
  return [...builtins, ...found.values()];
}
