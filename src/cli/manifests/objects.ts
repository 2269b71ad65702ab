/** The objects of an installation, in the order in which they can be applied. */
import { accessObjects } from "./access.ts";
import type { InstallPlan } from "./install_plan.ts";
import { crdObjects, webhookObjects } from "./webhook_objects.ts";
import { monitoringObjects } from "./monitoring_objects.ts";
import { namespaceObject, workloadObjects } from "./workload.ts";
import type { KubeObject } from "../../api/mod.ts";
import type { Crd } from "../../schema/mod.ts";

/** An object of an installation. */
export type InstalledObject = KubeObject | Crd;

/** Returns the objects. */
export function installedObjects(
  plan: InstallPlan,
  { includeCrds }: { readonly includeCrds: boolean },
): readonly InstalledObject[] {
  return [
    ...namespaceObject(plan),
    ...(includeCrds ? crdObjects(plan) : []),
    ...accessObjects(plan),
    ...workloadObjects(plan),
    ...monitoringObjects(plan),
    ...webhookObjects(plan),
  ];
}

/** Returns the name of the file of an object: `deployment-controller.yaml`. One folder has one installation. */
export function fileNameOf({ kind, metadata }: InstalledObject, ownNamespace: string): string {
  const { name } = metadata;
  const namespace = "namespace" in metadata ? metadata.namespace : undefined;
  const isElsewhere = namespace !== undefined && namespace !== ownNamespace;
  const shortName = name?.endsWith(`.${ownNamespace}`) ? name.slice(0, -ownNamespace.length - 1) : name;
  const words = [kind.toLowerCase(), ...(isElsewhere ? [namespace] : []), shortName];
  return `${words.join("-")}.yaml`;
}
