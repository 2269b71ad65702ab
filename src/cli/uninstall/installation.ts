/**
 * The installation of an operator, as it is found in a cluster: what `manifests` prints, and the Leases of its Pods.
 *
 * Guarantees: of what `manifests` prints, only objects with the labels of the installation are found. The webhook
 * configurations are deleted first, then the Deployment. What its Pods use is deleted when they are gone, in the reverse order
 * of `manifests`: a Pod that stops needs its permissions to release its Lease, and one that runs would create it again.
 *
 * Assumptions: the Leases are those that the installation may write by name: in its namespace, called as it is or in its group
 * of shards. They have no labels of their own.
 */
import { apiVersionOf, builtin, keyOf, type KubeObject, type Resource, resourceName } from "../../api/mod.ts";
import { isConflict, isNotFound } from "../../client/mod.ts";
import { groupLabels } from "../../manager/mod.ts";
import { commandFailure, type CrdContext, withPermissionAdvice } from "../crds/mod.ts";
import { formatDuration } from "../flags/mod.ts";
import { type InstalledObject, installedObjects, type InstallPlan, selectorOf } from "../manifests/mod.ts";
import { count } from "../output/mod.ts";

const pollMs = 500;

/** An object of the installation. */
export interface FoundObject {
  readonly resource: Resource<KubeObject>;
  readonly key: string;
  readonly uid: string | undefined;
  /** `deployments.apps "op-system/op"`. */
  readonly title: string;
}

/** What there is of an installation, in the order in which it is deleted. */
export interface Installation {
  /** The webhook configurations and the Deployment. */
  readonly serving: readonly FoundObject[];
  /** What the Pods use until they are gone: their Leases first. */
  readonly used: readonly FoundObject[];
}

/** Finds the objects. An object of the name with other labels is reported, and stays. */
export async function findInstallation(plan: InstallPlan, context: CrdContext): Promise<Installation> {
  const printed = installedObjects(plan, { includeCrds: false }).toReversed();
  const isWebhook = ({ kind }: InstalledObject) => kind.endsWith("WebhookConfiguration");
  const isWorkload = ({ kind }: InstalledObject) => kind === "Deployment";
  const find = async (objects: readonly InstalledObject[]) => {
    const found: FoundObject[] = [];
    for (const object of objects) {
      const one = await findObject(object, plan, context);
      if (one !== undefined) found.push(one);
    }
    return found;
  };
  return {
    serving: await find([...printed.filter(isWebhook), ...printed.filter(isWorkload)]),
    used: [
      ...await findLeases(plan, context),
      ...await find(printed.filter((one) => !isWebhook(one) && !isWorkload(one))),
    ],
  };
}

/** Deletes the objects, one after the other. @param timeoutMs for the Pods @throws CommandError when Pods are left */
export async function removeInstallation(
  { serving, used }: Installation,
  { plan, timeoutMs }: { readonly plan: InstallPlan; readonly timeoutMs: number },
  context: CrdContext,
): Promise<void> {
  await removeObjects(serving, context);
  await awaitNoPods(plan, timeoutMs, context);
  await removeObjects(used, context);
}

async function removeObjects(
  found: readonly FoundObject[],
  { connection: { client }, session, signal }: CrdContext,
): Promise<void> {
  for (const { resource, key, uid, title } of found) {
    const options = { preconditions: { uid }, propagationPolicy: "Background", signal } as const;
    try {
      await withPermissionAdvice(
        { resource, verbs: ["get", "delete"] },
        () => client.delete(resource, key, options),
      );
      session.print(`${title} deleted`);
    } catch (error) {
      if (isConflict(error)) session.info(`${title} is another object by now, and stays`);
      else if (!isNotFound(error)) throw error;
    }
  }
}

/** The Lease of the leader, and those of the replicas that divide the keys. */
async function findLeases(
  { name, namespace }: InstallPlan,
  { connection: { client }, signal }: CrdContext,
): Promise<readonly FoundObject[]> {
  const resource = builtin.Lease;
  const labelSelector = { matchLabels: groupLabels(name) };
  const [own, { items }] = await withPermissionAdvice(
    { resource, verbs: ["get", "list", "delete"] },
    () =>
      Promise.all([
        client.find(resource, `${namespace}/${name}`, { signal }),
        client.list(resource, { namespace, labelSelector, signal }),
      ]),
  );
  return [...own === undefined ? [] : [own], ...items].map(({ metadata }) => {
    const key = keyOf({ metadata });
    return { resource, key, uid: metadata.uid, title: `${resourceName(resource)} "${key}"` };
  });
}

/** Waits until the Pods of the installation are gone. */
async function awaitNoPods(plan: InstallPlan, timeoutMs: number, context: CrdContext): Promise<void> {
  const { connection: { client }, session, signal } = context;
  const { clock } = session.processEnvironment;
  const deadline = clock.monotonic() + timeoutMs;
  const options = { namespace: plan.namespace, labelSelector: { matchLabels: selectorOf(plan) }, signal };
  const list = () =>
    withPermissionAdvice({ resource: builtin.Pod, verbs: ["list"] }, () => client.list(builtin.Pod, options));
  using progress = session.progress();
  for (let { items } = await list(); items.length > 0; { items } = await list()) {
    const left = count(items.length, "Pod");
    if (clock.monotonic() >= deadline) {
      throw commandFailure(
        `Cannot delete the installation: after ${formatDuration(timeoutMs)} ${left} ${
          items.length === 1 ? "is" : "are"
        } left, for example ` +
          `"${keyOf(items[0] ?? { metadata: {} })}"; its permissions and the definitions were not deleted`,
        "If the Node of a Pod is gone, delete the Pod with kubectl delete --force; then run it again",
      );
    }
    progress.report(`waiting for ${left} of the installation to end`);
    await clock.sleep(pollMs, signal);
  }
}

async function findObject(
  printed: InstalledObject,
  plan: InstallPlan,
  { connection: { client }, session, signal }: CrdContext,
): Promise<FoundObject | undefined> {
  const { apiVersion, kind, metadata: { name = "" } } = printed;
  const namespace = "namespace" in printed.metadata ? printed.metadata.namespace : undefined;
  const resource = resourceOf(apiVersion ?? "", kind ?? "");
  const key = keyOf({ metadata: { name, namespace } });
  // A kind of the Prometheus operator that is not installed answers with 404, too.
  const live = await withPermissionAdvice(
    { resource, verbs: ["get", "delete"] },
    () => client.find(resource, key, { signal }),
  );
  if (live === undefined || live.metadata.deletionTimestamp !== undefined) return undefined;
  const title = `${resourceName(resource)} "${key}"`;
  const { labels = {}, uid } = live.metadata;
  if (Object.entries(selectorOf(plan)).every(([label, value]) => labels[label] === value)) {
    return { resource, key, uid, title };
  }
  session.info(`${title} has not the labels of this installation, and stays`);
  return undefined;
}

/** The kind of an object that `manifests` prints: a built-in one, or one of the Prometheus operator. */
function resourceOf(apiVersion: string, kind: string): Resource<KubeObject> {
  const builtins = Object.values(builtin).filter((one) => typeof one === "object" && "plural" in one);
  const found = builtins.find((one) => apiVersionOf(one) === apiVersion && one.kind === kind);
  if (found !== undefined) return { ...found, _type: undefined };
  const [group = "", version = ""] = apiVersion.split("/");
  return { group, version, kind, plural: `${kind.toLowerCase()}s`, scope: "Namespaced" };
}
