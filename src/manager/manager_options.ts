/** ManagerOptions: what a Manager is created with. `manager.ts` reads them once, in its constructor. */
import type { LabelSelector } from "../api/mod.ts";
import type { Clock, Random } from "../async/mod.ts";
import type { Client, Transport } from "../client/mod.ts";
import type { MetricsRegistry, Recorder } from "../observe/mod.ts";
import type { LeaderElectorOptions } from "./election/mod.ts";
import type { CacheRule } from "./cache_rules.ts";
import type { ShardingOptions } from "./sharding/mod.ts";

/** Leader election settings of a {@link Manager}: the options of the LeaderElector that the Manager does not set itself. */
export type ManagerElection = Omit<LeaderElectorOptions, "client" | "clock" | "random" | "metrics" | "recorder"> & {
  /** A client with a separate connection, so that renewals do not wait for other requests. @default the Manager's */
  readonly client?: Client;
};

/** Options of a {@link Manager}. */
export interface ManagerOptions {
  /** Sends the requests of the controllers and of their caches. */
  readonly client: Client;
  /** First part of the reporting controller of Events. @default "pintle" */
  readonly name?: string;
  /** Name of the replica, e.g. its host name. @default "local" */
  readonly instance?: string;
  /** Namespaces to watch. @default all */
  readonly namespaces?: readonly string[];
  /**
   * Watches the namespaces with these labels, and follows their changes without a restart. When a namespace no longer
   * matches, its objects leave the caches and nothing is reconciled for them; they do not count as deleted. Needs the verbs
   * list and watch for Namespaces. Excludes `namespaces`. @default all namespaces
   */
  readonly namespaceSelector?: LabelSelector;
  /** What is cached of individual kinds, and which kinds must not be cached. @default everything but managedFields */
  readonly cacheRules?: readonly CacheRule[];
  /** Freezes cached objects, so that a write to one throws; for tests. Costs time for each object. @default false */
  readonly freezeCache?: boolean;
  /**
   * Milliseconds between two resyncs, plus up to a tenth, for controllers without their own setting; 0 for none.
   * @default 36_000_000: 10 hours, as controller-runtime's SyncPeriod
   */
  readonly resyncMs?: number;
  /** Maximum milliseconds of the random delay before each worker starts, for controllers without their own. @default 0 */
  readonly workerJitterMs?: number;
  /**
   * Rejects requests that a controller did not declare, as its RBAC rules would. For tests with a server that does not know
   * the controllers; in a World the server does that. @default false
   */
  readonly strictAccess?: boolean;
  /**
   * Returns the transport for the requests of one controller, which may add credentials of the controller, so that the server
   * decides what each of them may do. @default that of `client`
   */
  readonly transportFor?: (controller: string, transport: Transport) => Transport;
  /** Sends all writes of the controllers as dry runs: the server validates them and stores nothing. @default false */
  readonly dryRun?: boolean;
  /** Runs the controllers in only one of the replicas that use the same Lease. @default no election, this process runs them */
  readonly leaderElection?: ManagerElection;
  /**
   * Divides the keys of the controllers between the replicas of the same group: all of them work. Controllers with
   * `replicas: "one"` are run by the leader, so they need `leaderElection` as well. @default one replica has all keys
   */
  readonly sharding?: ShardingOptions;
  /** The registry for the metrics of controllers, queues, caches and leader election. @default no metrics */
  readonly metrics?: MetricsRegistry;
  /** Records what the process sees, decides and does, e.g. a `Recording`. @default nothing is recorded */
  readonly recorder?: Recorder;
  /**
   * Milliseconds that running work has to finish after the stop: 0 does not wait, Infinity waits without limit. If the
   * Lease is lost, there is no grace period. @default 30_000
   */
  readonly gracefulShutdownTimeoutMs?: number;
  /**
   * Called once, when the HTTP servers run and before anything else starts, so that health endpoints respond while it
   * waits. The process is not ready until it has resolved; if it rejects, {@link Manager.run} throws its error.
   * @default nothing is waited for
   */
  readonly prepare?: (stop: AbortSignal) => Promise<void>;
  /** Measures delays, time limits and deadlines. @default systemClock */
  readonly clock?: Clock;
  /** Varies delays. @default systemRandom */
  readonly random?: Random;
}
