/**
 * SimulatedCluster: nodes, workloads and the life of objects, on an API server that has none of it. One Manager runs the
 * controllers, as an operator's own would be run.
 */
import { type Clock, type Random, systemClock, systemRandom } from "../async/mod.ts";
import type { Resource } from "../api/mod.ts";
import type { Client } from "../client/mod.ts";
import { type Life, Manager, type Runnable } from "../manager/mod.ts";
import { clusterControllers, type ClusterControllersOptions } from "./cluster_controllers.ts";
import { GarbageCollector } from "./garbage_collector.ts";
import { createNodes } from "./nodes.ts";

/** Options of a {@link SimulatedCluster}. */
export interface SimulatedClusterOptions extends ClusterControllersOptions {
  readonly client: Client;
  /** @default 3 */
  readonly nodes?: number;
  /** The kinds whose owners are followed. @default all that the server has */
  readonly collected?: readonly Resource[];
  /** @default systemClock */
  readonly clock?: Clock;
  /** @default systemRandom */
  readonly random?: Random;
}

/** Runs until told to stop. */
export class SimulatedCluster implements Runnable {
  readonly name = "simulated-cluster";
  readonly #options: SimulatedClusterOptions;
  readonly #manager: Manager;

  constructor(options: SimulatedClusterOptions) {
    const { client, clock = systemClock, random = systemRandom } = options;
    this.#options = options;
    // What it does is no news to anybody once it is to stop.
    this.#manager = new Manager({ client, name: "simulated-cluster", clock, random, gracefulShutdownTimeoutMs: 0 });
    for (const definition of clusterControllers(options)) this.#manager.add(definition);
  }

  async run({ stop }: Life): Promise<void> {
    const { client, nodes, collected, clock = systemClock, random = systemRandom } = this.#options;
    await createNodes(client, { count: nodes, now: clock.now() }, stop);
    await this.#manager.addRunnable(new GarbageCollector({ client, resources: collected, clock, random }));
    await this.#manager.run(stop);
  }
}
