/**
 * SimulatedCluster: nodes, workload controllers and garbage collection for an API server that has none of them. One Manager
 * runs the controllers, as it runs those of an operator.
 */
import { type ObjectKey, type OwnerReference, type Resource, resourceName } from "../api/mod.ts";
import type { ObjectStorage } from "../apiserver/mod.ts";
import { type Clock, onAbort, type Random, systemClock, systemRandom } from "../async/mod.ts";
import type { Client, Transport } from "../client/mod.ts";
import { type ControllerDefinition, done } from "../controller/mod.ts";
import { type Life, Manager, type Runnable } from "../manager/mod.ts";
import { assumedRollouts } from "./assumed_rollouts.ts";
import { clusterRoleController } from "./cluster_role.ts";
import { cronJobController } from "./cron_job.ts";
import { daemonSetController } from "./daemon_set.ts";
import { deploymentController } from "./deployment.ts";
import { disruptionController } from "./disruption.ts";
import { endpointSliceController } from "./endpoint_slice.ts";
import { endpointSliceMirroringController } from "./endpoint_slice_mirroring.ts";
import { endpointsController } from "./endpoints.ts";
import { GarbageCollector } from "./garbage_collector.ts";
import { horizontalPodAutoscalerController } from "./horizontal_pod_autoscaler.ts";
import { jobController } from "./job.ts";
import { createNodes, kubeletController, type KubeletPace } from "./kubelet.ts";
import { loadBalancerController } from "./load_balancer.ts";
import { namespaceController, serviceAccountController } from "./namespace.ts";
import { replicaSetController, replicationController } from "./replica_set.ts";
import { claimCreationController, claimReleaseController } from "./resource_claim.ts";
import { resourceQuotaController } from "./resource_quota.ts";
import { schedulerController } from "./scheduler.ts";
import { serviceCidrController } from "./service_cidr.ts";
import type { SigningAuthority } from "./signing_authority.ts";
import { approvingController, cleaningController, signingController } from "./signing_requests.ts";
import { statefulSetController } from "./stateful_set.ts";
import { volumeBinder, volumePhaseController } from "./volume_binder.ts";
import { volumeExpander } from "./volume_expander.ts";
import { policyStatusController } from "./policy_status.ts";
import {
  attributesProtectionController,
  claimProtectionController,
  volumeProtectionController,
} from "./volume_protection.ts";
import { createStandardClass, volumeProvisioner } from "./volume_provisioner.ts";

/** Options of {@link clusterControllers}. */
export interface ClusterControllersOptions {
  /** How long Pods take to start and to complete. */
  readonly pace?: KubeletPace;
  /** PEM text that Pods must trust. @default "" */
  readonly caCertificate?: string;
  /** Signs what CertificateSigningRequests ask for. @default approved requests stay without certificates */
  readonly signingAuthority?: SigningAuthority;
  /** The nodes whose Pods are run. @default "simulated", the nodes that the cluster creates */
  readonly runsPodsOn?: "simulated" | "all";
  /**
   * How Deployments, StatefulSets and ReplicaSets get ready. "assumed": at once, and without Pods. @default "simulated"
   */
  readonly rollouts?: "simulated" | "assumed";
  /**
   * How claims get volumes. "simulated": claims are bound and provisioned, and Pods wait for them; a cluster with nodes has
   * the default class `standard`. "assumed": claims stay as they are, and no Pod waits. @default "simulated"
   */
  readonly volumes?: "simulated" | "assumed";
  /** Objects that stay as they are: no controller of the cluster reconciles them. @default none */
  readonly isLeftAlone?: (resource: Resource, key: ObjectKey) => boolean;
}

/** Options of a {@link SimulatedCluster}. */
export interface SimulatedClusterOptions extends ClusterControllersOptions {
  readonly client: Client;
  /**
   * The storage of the API server, if that is in this process: controllers of kinds that few clusters have then start with
   * the first object of their kind, and cost nothing before. @default they start at once
   */
  readonly storage?: Pick<ObjectStorage, "revision" | "size" | "watch">;
  /** The number of nodes. @default 3 */
  readonly nodes?: number;
  /** The kinds that are garbage collected. @default all kinds of the server */
  readonly collected?: readonly Resource[];
  /** See the garbage collector: false for owners that count as present. @default every owner is on the server */
  readonly isOwnerKnown?: (owner: OwnerReference) => boolean;
  /** @default systemClock */
  readonly clock?: Clock;
  /** @default systemRandom */
  readonly random?: Random;
}

/** Controllers of kinds that few clusters have. */
const onDemand: ReadonlySet<string> = new Set([
  "certificatesigningrequest-approving-controller",
  "certificatesigningrequest-cleaner-controller",
  "certificatesigningrequest-signing-controller",
  "cronjob-controller",
  "horizontal-pod-autoscaler-controller",
  "replicationcontroller-controller",
  serviceCidrController.name,
  "validatingadmissionpolicy-status-controller",
  "volumeattributesclass-protection-controller",
  volumeBinder.name,
  volumeExpander.name,
  volumePhaseController.name,
  volumeProvisioner.name,
]);

/** Runs until `stop` is aborted. */
export class SimulatedCluster implements Runnable {
  readonly name = "simulated-cluster";
  /** Resolves when all nodes exist; never, if `run` ends before. */
  readonly nodesCreated: Promise<void>;
  readonly #onNodesCreated: () => void;
  readonly #options: SimulatedClusterOptions;
  readonly #onDemand: readonly ControllerDefinition[];
  readonly #manager: Manager;

  constructor(options: SimulatedClusterOptions) {
    const client = options.client.withTransport(withoutWarnings);
    this.#options = { ...options, client };
    ({ promise: this.nodesCreated, resolve: this.#onNodesCreated } = Promise.withResolvers<void>());
    const definitions = Object.groupBy(
      clusterControllers(options),
      ({ name }) => options.storage !== undefined && onDemand.has(name) ? "onDemand" : "atOnce",
    );
    this.#onDemand = definitions.onDemand ?? [];
    this.#manager = this.#managerOf(definitions.atOnce ?? []);
  }

  async run({ stop }: Life): Promise<void> {
    const { client, nodes, volumes, collected, isOwnerKnown, clock = systemClock, random = systemRandom } =
      this.#options;
    await createNodes(client, { count: nodes, now: clock.now() }, stop);
    if (volumes !== "assumed" && nodes !== 0) await createStandardClass(client, stop);
    this.#onNodesCreated();
    const collector = new GarbageCollector({ client, resources: collected, isOwnerKnown, clock, random });
    await this.#manager.addRunnable(collector);
    for (const definition of this.#onDemand) {
      await this.#manager.addRunnable({
        name: definition.name,
        run: ({ stop }) => this.#runOnDemand(definition, collector, stop),
      });
    }
    await this.#manager.run(stop);
  }

  async #runOnDemand(definition: ControllerDefinition, collector: GarbageCollector, stop: AbortSignal): Promise<void> {
    await this.#firstObject(definition.primary, stop);
    if (stop.aborted) return;
    collector.add([definition.primary]);
    await this.#managerOf([definition]).run(stop);
  }

  /** Resolves when there is an object of the kind, or at the stop. */
  async #firstObject(resource: Resource, stop: AbortSignal): Promise<void> {
    const { storage } = this.#options;
    const collection = resourceName(resource);
    if (storage === undefined || storage.size(collection) > 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    using cursor = storage.watch(collection, { namespace: "", after: storage.revision, onChange: resolve });
    using _stop = onAbort(stop, resolve);
    cursor.read(); // only a cursor that has been read reports changes
    await promise;
  }

  #managerOf(definitions: readonly ControllerDefinition[]): Manager {
    const { client, clock = systemClock, random = systemRandom } = this.#options;
    // No grace period: nothing depends on the work that is interrupted.
    const manager = new Manager({ client, name: "simulated-cluster", clock, random, gracefulShutdownTimeoutMs: 0 });
    for (const definition of definitions) manager.add(definition);
    return manager;
  }
}

/** Endpoints are deprecated, and their controllers use them all the same: the warnings are for the clients of users. */
function withoutWarnings(transport: Transport): Transport {
  return async (request) => {
    const response = await transport(request);
    if (!response.headers.has("warning")) return response;
    const headers = new Headers(response.headers);
    headers.delete("warning");
    return new Response(response.body, { status: response.status, statusText: response.statusText, headers });
  };
}

/** The controllers of a simulated cluster. Each Manager needs its own: some of them have state. */
export function clusterControllers(options: ClusterControllersOptions = {}): readonly ControllerDefinition[] {
  const rollouts = [deploymentController, replicaSetController, replicationController, statefulSetController];
  const definitions = [
    namespaceController(),
    serviceAccountController(options.caCertificate ?? ""),
    ...(options.rollouts === "assumed" ? assumedRollouts : rollouts),
    daemonSetController(),
    jobController,
    cronJobController(),
    horizontalPodAutoscalerController(),
    schedulerController({ volumes: options.volumes }),
    kubeletController(options.pace, { nodes: options.runsPodsOn }),
    endpointSliceController,
    endpointsController(),
    endpointSliceMirroringController,
    loadBalancerController,
    clusterRoleController,
    disruptionController(),
    claimProtectionController(),
    volumeProtectionController(),
    attributesProtectionController(),
    policyStatusController(),
    signingController(options.signingAuthority),
    approvingController(),
    cleaningController(),
    ...(options.volumes === "assumed" ? [] : [volumeBinder, volumePhaseController, volumeProvisioner, volumeExpander]),
    resourceQuotaController(),
    claimCreationController(),
    claimReleaseController(),
    serviceCidrController,
  ];
  // As in Kubernetes, they react to their own writes: the kubelet first reports that a Pod is ready, then that it completed.
  return definitions.map((definition) => ({
    ...leavingAlone(definition, options.isLeftAlone),
    options: { ...definition.options, ownWrites: "deliver", isPausable: false },
  }));
}

function leavingAlone(
  definition: ControllerDefinition,
  isLeftAlone: ClusterControllersOptions["isLeftAlone"],
): ControllerDefinition {
  if (isLeftAlone === undefined) return definition;
  const { primary, reconciler } = definition;
  return {
    ...definition,
    reconciler: (request, toolbox) =>
      isLeftAlone(primary, request.key) ? Promise.resolve(done) : reconciler(request, toolbox),
  };
}

/** The names of the loggers that a simulated cluster uses. */
export function clusterLoggers(): readonly string[] {
  const names = clusterControllers().map(({ name }) => name);
  return [...names.flatMap((name) => [`controller.${name}`, `events.${name}`]), "garbage-collector"];
}
