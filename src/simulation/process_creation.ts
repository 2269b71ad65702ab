/**
 * ProcessCreation: creates the processes of a run. Each has controllers that the oracles observe, a clock of its own, and an
 * identity for the Lease of the leader or of its shard.
 */
import { seededRandom, type VirtualClock } from "../async/mod.ts";
import type { OperatorController } from "../manager/mod.ts";
import { hubName } from "./fleet_names.ts";
import { isKept } from "./_informer_oracles.ts";
import type { LeaderOracle } from "./_leader_oracle.ts";
import { OperatorProcess, ProcessClock } from "./_operator_process.ts";
import { type LoopGuard, withOnReconcile } from "./_pending_keys.ts";
import type { RetryOracle } from "./_retry_oracle.ts";
import type { RunCluster } from "./_run_cluster.ts";
import type { ShardOracle } from "./shard_oracle.ts";

/** Options of a {@link ProcessCreation}. */
export interface ProcessCreationOptions {
  readonly controllers: readonly OperatorController[];
  readonly replicas: number;
  readonly sharded: boolean;
  readonly seed: number;
  readonly clock: VirtualClock;
  /** All clusters of the run. The first one has the Leases. */
  readonly clusters: readonly [RunCluster, ...RunCluster[]];
  readonly loops: LoopGuard;
  readonly retryCounts: RetryOracle;
  readonly leader: LeaderOracle;
  readonly shards: ShardOracle;
}

export class ProcessCreation {
  readonly #options: ProcessCreationOptions;
  #created = 0;

  constructor(options: ProcessCreationOptions) {
    this.#options = options;
  }

  /** Creates a process that has not started. */
  create(): OperatorProcess {
    const { clock, replicas, sharded, seed, clusters: [{ server }], leader, shards } = this.#options;
    const id = ++this.#created;
    const processClock = new ProcessClock(clock);
    const controllers = this.#observed(id, processClock, () => process);
    const needsLeader = !sharded || controllers.some(({ options }) => options.replicas === "one");
    const process: OperatorProcess = new OperatorProcess({
      ...{ id, controllers, clock: processClock, random: seededRandom(seed * 1_000 + id) },
      accounts: server.accounts,
      election: replicas > 1 && needsLeader ? leader.electionOf(id) : undefined,
      sharding: sharded ? shards.shardingOf(id) : undefined,
    });
    return process;
  }

  /** The controllers as a new process has them. */
  #observed(id: number, processClock: ProcessClock, process: () => OperatorProcess): readonly OperatorController[] {
    const { controllers, clock, sharded, loops, retryCounts, shards } = this.#options;
    const created = controllers.map((one) => {
      const controller = one.create === undefined ? one : { ...one, ...one.create() };
      return withOnReconcile(controller, (key) => loops.count(one.name, key));
    });
    const reading = this.#reading(id, created, process);
    const retried = retryCounts.observed(reading, { processId: id, clock: processClock });
    return sharded ? shards.observed(retried, process, () => clock.monotonic()) : retried;
  }

  /** Each cluster compares what is read in it with what was written in it. */
  #reading(
    id: number,
    controllers: readonly OperatorController[],
    process: () => OperatorProcess,
  ): readonly OperatorController[] {
    const observed = this.#options.clusters.map(({ name, ownWrites }) => {
      const all = ownWrites.observed(
        controllers,
        id,
        (controller, resource, stored) => isKept(process(), controller, { resource, stored }),
      );
      return [name ?? hubName, all] as const;
    });
    const [[, first]] = observed as [(typeof observed)[number]];
    if (observed.length === 1) return first;
    const byCluster = new Map(observed);
    return controllers.map((controller, index) => ({
      ...controller,
      reconciler: (request, toolbox) => {
        const here = byCluster.get(request.cluster ?? hubName)?.[index] ?? controller;
        return here.reconciler(request, toolbox);
      },
    }));
  }
}
