/** What a running Controller gets from its Manager: the cluster, the caches, time, and who observes it. */
import type { Clock, Random, Recovery } from "../async/mod.ts";
import type { Client } from "../client/mod.ts";
import type { Recorder } from "../observe/mod.ts";
import type { QueueMetrics } from "../queue/mod.ts";
import type { ReconcileTurn } from "./_worker.ts";
import type { Caches } from "./caches.ts";
import type { Hub } from "./clusters.ts";
import type { ControllerDefinition } from "./controller_definition.ts";
import type { ReconcileMetrics } from "./metrics.ts";
import type { EventSink } from "./request.ts";
import type { KeyShards } from "./shards.ts";

/** What a Controller needs. The Manager provides it. */
export interface ControllerDependencies {
  readonly definition: ControllerDefinition;
  readonly client: Client;
  /** The name of the cluster in a Fleet. @default no Fleet */
  readonly cluster?: string;
  /** @default the cluster of `client` */
  readonly hub?: Hub;
  /** Waits for a turn among the clusters of a Fleet, before each reconcile. @default at once */
  readonly turn?: ReconcileTurn;
  readonly caches: Caches;
  readonly events: EventSink;
  readonly clock: Clock;
  readonly random: Random;
  /** Tells when the server responds again. @default failed keys wait for their backoff */
  readonly recovery?: Recovery;
  /** Milliseconds between two resyncs, if the definition has none. @default no resync */
  readonly resyncMs?: number;
  /** Maximum milliseconds of the random delay before each worker starts, if the definition has none. @default 0 */
  readonly workerJitterMs?: number;
  readonly queueMetrics?: QueueMetrics;
  readonly reconcileMetrics?: ReconcileMetrics;
  /** Gets what the controller sees, decides and does. @default nothing is recorded */
  readonly recorder?: Recorder;
  /** The slots of this replica. @default it reconciles all keys */
  readonly shards?: KeyShards;
}
