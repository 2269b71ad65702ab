/** clusterControllers(): the controllers of a simulated cluster, as values for a Manager. */
import type { ControllerDefinition } from "../controller/mod.ts";
import { clusterRoleController } from "./cluster_role.ts";
import { daemonSetController } from "./daemon_set.ts";
import { deploymentController } from "./deployment.ts";
import { disruptionController } from "./disruption.ts";
import { endpointSliceController } from "./endpoint_slice.ts";
import { jobController } from "./job.ts";
import { kubeletController, type KubeletPace } from "./kubelet.ts";
import { namespaceController } from "./namespace.ts";
import { replicaSetController } from "./replica_set.ts";
import { resourceQuotaController } from "./resource_quota.ts";
import { schedulerController } from "./scheduler.ts";
import { serviceAccountController } from "./service_account.ts";
import { statefulSetController } from "./stateful_set.ts";
import { claimProtectionController, volumeProtectionController } from "./volume_protection.ts";

/** How the simulated cluster lives. */
export interface ClusterControllersOptions {
  /** How fast Pods start and end. */
  readonly pace?: KubeletPace;
  /** PEM text that Pods are to trust. @default "" */
  readonly caCertificate?: string;
}

/** New ones for each Manager: some remember which of their objects wait. */
export function clusterControllers(options: ClusterControllersOptions = {}): readonly ControllerDefinition[] {
  return [
    namespaceController(),
    serviceAccountController(options.caCertificate ?? ""),
    deploymentController,
    replicaSetController,
    statefulSetController,
    daemonSetController(),
    jobController,
    schedulerController(),
    kubeletController(options.pace),
    endpointSliceController,
    clusterRoleController,
    disruptionController(),
    claimProtectionController(),
    volumeProtectionController(),
    resourceQuotaController(),
  ];
}

/** The names under which a simulated cluster logs. */
export function clusterLoggers(): readonly string[] {
  const names = clusterControllers().map(({ name }) => name);
  return [...names.flatMap((name) => [`controller.${name}`, `events.${name}`]), "garbage-collector"];
}
