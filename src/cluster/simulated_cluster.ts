/**
 * SimulatedCluster: nodes, workload controllers and garbage collection for an API server that has none of them. One Manager
 * runs the controllers, as it runs those of an operator.
 */
import type { ObjectKey, OwnerReference, Resource } from "../api/mod.ts";
import { type Clock, type Random, systemClock, systemRandom } from "../async/mod.ts";
import type { Client } from "../client/mod.ts";
import { type ControllerDefinition, done } from "../controller/mod.ts";
import { type Life, Manager, type Runnable } from "../manager/mod.ts";
import { assumedRollouts } from "./assumed_rollouts.ts";
import { clusterRoleController } from "./cluster_role.ts";
import { daemonSetController } from "./daemon_set.ts";
import { deploymentController } from "./deployment.ts";
import { disruptionController } from "./disruption.ts";
import { endpointSliceController } from "./endpoint_slice.ts";
import { GarbageCollector } from "./garbage_collector.ts";
import { jobController } from "./job.ts";
import { createNodes, kubeletController, type KubeletPace } from "./kubelet.ts";
import { namespaceController, serviceAccountController } from "./namespace.ts";
import { replicaSetController } from "./replica_set.ts";
import { resourceQuotaController } from "./resource_quota.ts";
import { schedulerController } from "./scheduler.ts";
import { statefulSetController } from "./stateful_set.ts";
import { claimProtectionController, volumeProtectionController } from "./volume_protection.ts";

/** Options of {@link clusterControllers}. */
export interface ClusterControllersOptions {
  /** How long Pods take to start and to complete. */
  readonly pace?: KubeletPace;
  /** PEM text that Pods must trust. @default "" */
  readonly caCertificate?: string;
  /** The nodes whose Pods are run. @default "simulated", the nodes that the cluster creates */
  readonly runsPodsOn?: "simulated" | "all";
  /**
   * How Deployments, StatefulSets and ReplicaSets get ready. "assumed": at once, and without Pods. @default "simulated"
   */
  readonly rollouts?: "simulated" | "assumed";
  /** Objects that stay as they are: no controller of the cluster reconciles them. @default none */
  readonly isLeftAlone?: (resource: Resource, key: ObjectKey) => boolean;
}

/** Options of a {@link SimulatedCluster}. */
export interface SimulatedClusterOptions extends ClusterControllersOptions {
  readonly client: Client;
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

/** Runs until `stop` is aborted. */
export class SimulatedCluster implements Runnable {
  readonly name = "simulated-cluster";
  /** Resolves when all nodes exist; never, if `run` ends before. */
  readonly nodesCreated: Promise<void>;
  readonly #onNodesCreated: () => void;
  readonly #options: SimulatedClusterOptions;
  readonly #manager: Manager;

  constructor(options: SimulatedClusterOptions) {
    const { client, clock = systemClock, random = systemRandom } = options;
    this.#options = options;
    ({ promise: this.nodesCreated, resolve: this.#onNodesCreated } = Promise.withResolvers<void>());
    // No grace period: nothing depends on the work that is interrupted.
    this.#manager = new Manager({ client, name: "simulated-cluster", clock, random, gracefulShutdownTimeoutMs: 0 });
    for (const definition of clusterControllers(options)) this.#manager.add(definition);
  }

  async run({ stop }: Life): Promise<void> {
    const { client, nodes, collected, isOwnerKnown, clock = systemClock, random = systemRandom } = this.#options;
    await createNodes(client, { count: nodes, now: clock.now() }, stop);
    this.#onNodesCreated();
    await this.#manager.addRunnable(
      new GarbageCollector({ client, resources: collected, isOwnerKnown, clock, random }),
    );
    await this.#manager.run(stop);
  }
}

/** The controllers of a simulated cluster. Each Manager needs its own: some of them have state. */
export function clusterControllers(options: ClusterControllersOptions = {}): readonly ControllerDefinition[] {
  const rollouts = [deploymentController, replicaSetController, statefulSetController];
  const definitions = [
    namespaceController(),
    serviceAccountController(options.caCertificate ?? ""),
    ...(options.rollouts === "assumed" ? assumedRollouts : rollouts),
    daemonSetController(),
    jobController,
    schedulerController(),
    kubeletController(options.pace, { nodes: options.runsPodsOn }),
    endpointSliceController,
    clusterRoleController,
    disruptionController(),
    claimProtectionController(),
    volumeProtectionController(),
    resourceQuotaController(),
  ];
  // As in Kubernetes, they react to their own writes: the kubelet first reports that a Pod is ready, then that it completed.
  return definitions.map((definition) => ({
    ...leavingAlone(definition, options.isLeftAlone),
    options: { ...definition.options, ownWrites: "deliver" },
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
