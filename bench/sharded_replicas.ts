/**
 * ShardedReplicas: several processes of `run foo --shards` on the cluster of a case, and what they say of themselves in their
 * metrics. What the API server has counted of their work: {@link serverCounts}.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Cluster } from "./cluster.ts";
import { freePort } from "./free_port.ts";
import type { MeasuredProcess } from "./measured_process.ts";
import type { Usage } from "./usage.ts";

/** What the server has counted. */
export interface ServerCounts {
  /** Accepted writes of Deployments. */
  readonly deployments: number;
  /** Accepted writes of the status of Foos. */
  readonly statuses: number;
  /** Events that were sent to all watches of Foos and Deployments. */
  readonly events: number;
}

interface Replica {
  readonly process: MeasuredProcess;
  /** The URL of its metrics. */
  readonly metrics: string;
}

const slotCount = 256;
const reconcileMetric = "controller_runtime_reconcile_total";
const lookMs = 200;

/** Disposing ends the processes, as a signal does. */
export class ShardedReplicas implements AsyncDisposable {
  readonly #stack: AsyncDisposableStack;
  #replicas: readonly Replica[];

  private constructor(replicas: readonly Replica[], stack: AsyncDisposableStack) {
    this.#replicas = replicas;
    this.#stack = stack;
  }

  /** Starts as many replicas of the program at the same time. */
  static async start(cluster: Cluster, command: readonly string[], count: number): Promise<ShardedReplicas> {
    await using stack = new AsyncDisposableStack();
    const replicas: Replica[] = [];
    for (let index = 0; index < count; index++) {
      const address = `127.0.0.1:${await freePort()}`;
      const process = cluster.measure([...command, "--shards", String(count), "--metrics-bind-address", address]);
      replicas.push({ process: stack.use(process), metrics: `http://${address}/metrics` });
    }
    return new ShardedReplicas(replicas, stack.move());
  }

  /** The replicas that run. */
  get count(): number {
    return this.#replicas.length;
  }

  /** Waits until each slot has a replica. */
  async holdAllSlots(): Promise<void> {
    while (await this.#sumOf("shard_slots") < slotCount) await sleep(lookMs);
  }

  /** Waits until there were so many reconciles. */
  async reconcile(count: number): Promise<void> {
    while (await this.#sumOf(reconcileMetric) < count) await sleep(lookMs);
  }

  /** What each has used. */
  usages(): readonly Usage[] {
    return this.#replicas.map(({ process }) => process.usage());
  }

  /** Ends the first one without a warning, as a machine that fails. */
  killOne(): void {
    const [killed, ...others] = this.#replicas;
    killed?.process.kill();
    this.#replicas = others;
  }

  /** Lets them give up their slots. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const { process } of this.#replicas) process.stop();
    await this.#stack[Symbol.asyncDispose]();
  }

  /** The sum of a metric of all replicas; a replica that does not answer counts as 0. */
  async #sumOf(name: string): Promise<number> {
    const texts = await Promise.all(
      this.#replicas.map(({ metrics }) => fetch(metrics).then((response) => response.text(), () => "")),
    );
    return texts.reduce((sum, text) => sum + sumOf(text, name), 0);
  }
}

/** Reads the counts of the server since its start. */
export async function serverCounts(cluster: Cluster): Promise<ServerCounts> {
  const text = await cluster.serverMetrics();
  const writes = [/verb="(POST|PUT|PATCH|APPLY)"/, /code="20[01]"/];
  const requests = (...labels: readonly RegExp[]) => sumOf(text, "apiserver_request_total", [...writes, ...labels]);
  return {
    deployments: requests(/resource="deployments"/),
    statuses: requests(/resource="foos"/, /subresource="status"/),
    events: sumOf(text, "apiserver_watch_events_total", [/resource="(foos|deployments)"/]),
  };
}

/** The sum of the series of a metric whose labels match; 0 when there is none. */
function sumOf(text: string, name: string, labels: readonly RegExp[] = []): number {
  return text.split("\n").filter((line) =>
    (line.startsWith(`${name} `) || line.startsWith(`${name}{`)) && labels.every((label) => label.test(line))
  ).reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" ") + 1)), 0);
}
