/**
 * The installation of an operator: what `manifests` prints, as it is found in a cluster.
 *
 * Guarantees: only objects with the labels of the installation are found; they are deleted in the reverse order of
 * `manifests`, with the webhook configurations first.
 */
import { apiVersionOf, builtin, keyOf, type KubeObject, type Resource, resourceName } from "../../api/mod.ts";
import { isConflict, isNotFound } from "../../client/mod.ts";
import { type CrdContext, withPermissionAdvice } from "../crds/mod.ts";
import { type InstalledObject, installedObjects, type InstallPlan, selectorOf } from "../manifests/mod.ts";

/** An object of the installation. */
export interface FoundObject {
  readonly resource: Resource<KubeObject>;
  readonly key: string;
  readonly uid: string | undefined;
  /** `deployments.apps "op-system/op"`. */
  readonly title: string;
}

/** Finds the objects, in the order in which they are deleted. An object of the name with other labels is reported, and stays. */
export async function findInstallation(plan: InstallPlan, context: CrdContext): Promise<readonly FoundObject[]> {
  const printed = installedObjects(plan, { includeCrds: false }).toReversed();
  const isWebhook = ({ kind }: InstalledObject) => kind.endsWith("WebhookConfiguration");
  const found: FoundObject[] = [];
  for (const object of [...printed.filter(isWebhook), ...printed.filter((one) => !isWebhook(one))]) {
    const one = await findObject(object, plan, context);
    if (one !== undefined) found.push(one);
  }
  return found;
}

/** Deletes the objects, one after the other. */
export async function removeInstallation(
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
