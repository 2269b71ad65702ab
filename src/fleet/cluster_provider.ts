/**
 * ClusterProvider: where a Fleet learns which clusters there are. A provider reports the whole list whenever it has changed;
 * the Fleet compares it with what runs. So a report that is lost or repeated cannot mislead it.
 *
 * Assumptions: names are unique and stay the same; the revision changes when the way to the cluster has changed, and only then.
 */
import type { KubeObject } from "../api/mod.ts";
import type { Transport } from "../client/mod.ts";

/** An open connection to a cluster. Disposing it closes the connection. */
export interface ClusterConnection extends Disposable {
  /** The URL of the API server. If it changes, the cluster counts as another one, and its caches are filled anew. */
  readonly server: string;
  /**
   * Tells clusters apart that have the same URL one after the other, such as a hash of what the server proves itself by. If it
   * changes, the cluster counts as another one, as with `server`. @default the URL alone tells
   */
  readonly identity?: string;
  /** Sends the requests. */
  readonly transport: Transport;
  /** Returns the transport of one controller, which may add its credentials. @default `transport` */
  readonly transportFor?: (controller: string, transport: Transport) => Transport;
}

/** A cluster, as a {@link ClusterProvider} reports it. */
export interface FleetCluster {
  /** The name in logs, metrics and `ctx.cluster`, unique in the Fleet. */
  readonly name: string;
  /** Changes when the way to the cluster has changed: another address, or other credentials. */
  readonly revision: string;
  /** The object of the hub that describes the cluster, for Events about its problems. @default no Events */
  readonly regarding?: KubeObject;
  /**
   * Opens a connection. No request is necessary: the caches report whether the server responds.
   *
   * @throws Error when it cannot be opened, e.g. because the kubeconfig is broken. It is reported and tried again.
   */
  connect(): Promise<ClusterConnection>;
}

/**
 * Reports which clusters a Fleet has. Implement it for other inventories; `clusterList`, `kubeconfigContexts`,
 * `kubeconfigFolder`, `kubeconfigSecrets` and `clusterApiClusters` are there already.
 *
 * @example A provider that asks an inventory each minute
 * ```ts
 * import { setTimeout } from "node:timers/promises";
 * import type { ClusterProvider, FleetCluster } from "@pintle/controller";
 *
 * function inventory(read: () => Promise<readonly FleetCluster[]>): ClusterProvider {
 *   return {
 *     name: "inventory",
 *     async *watch(signal) {
 *       while (!signal.aborted) {
 *         yield await read();
 *         await setTimeout(60_000, undefined, { signal });
 *       }
 *     },
 *   };
 * }
 * console.assert(inventory(() => Promise.resolve([])).name === "inventory");
 * ```
 */
export interface ClusterProvider {
  /** For logs and errors: `Secrets in namespace "fleet"`. */
  readonly name: string;
  /**
   * Yields all clusters, first at once and then whenever they have changed, until aborted. If it throws, it is called again
   * with backoff; until then the clusters stay as they are.
   */
  watch(signal: AbortSignal): AsyncIterable<readonly FleetCluster[]>;
}

/** The clusters of a report. Of several with the same name the first one counts. */
export interface DistinctClusters {
  readonly clusters: ReadonlyMap<string, FleetCluster>;
  /** The names that occur more than once. */
  readonly repeated: ReadonlySet<string>;
}

/** Finds the clusters by their names. */
export function distinctClusters(reported: readonly FleetCluster[]): DistinctClusters {
  const clusters = new Map<string, FleetCluster>();
  const repeated = new Set<string>();
  for (const cluster of reported) {
    if (clusters.has(cluster.name)) repeated.add(cluster.name);
    else clusters.set(cluster.name, cluster);
  }
  return { clusters, repeated };
}

/**
 * A provider of clusters that are known when the program starts.
 *
 * @param clusters The clusters, by their names.
 * @example
 * ```ts
 * import { clusterList } from "@pintle/controller";
 *
 * const transport = () => Promise.resolve(Response.json({})); // clusterTransport(access)
 * const server = "https://east.example.dev:6443";
 * const provider = clusterList({ east: () => Promise.resolve({ server, transport, [Symbol.dispose]() {} }) });
 * console.assert(provider.name === "a list");
 * ```
 */
export function clusterList(clusters: Readonly<Record<string, FleetCluster["connect"]>>): ClusterProvider {
  return {
    name: "a list",
    async *watch(signal) {
      yield await Promise.resolve(
        Object.entries(clusters).map(([name, connect]) => ({ name, revision: "", connect })),
      );
      await new Promise<void>((resolve) => {
        if (signal.aborted) return resolve();
        signal.addEventListener("abort", () => resolve(), { once: true });
      });
    },
  };
}
