/** providerOf(): the provider that `--clusters` means. Its connections count into the metrics of the process. */
import type { Client, Transport } from "../../client/mod.ts";
import {
  clusterApiClusters,
  type ClusterProvider,
  type ConnectOptions,
  type FleetCluster,
  kubeconfigContexts,
  kubeconfigFolder,
  kubeconfigSecrets,
} from "../../fleet/mod.ts";
import type { Session } from "../command/mod.ts";
import type { ClusterSource } from "./clusters_flag.ts";

/** Where a provider reads. */
interface ProviderOptions {
  /** The hub. */
  readonly client: Client;
  readonly session: Session;
  /** The value of `--kubeconfig`. */
  readonly kubeconfig: string | undefined;
  /** Wraps the transports of the clusters. @default unchanged */
  readonly wrap?: (transport: Transport) => Transport;
}

/** Returns the provider; nothing is read yet. */
export function providerOf(source: ClusterSource, options: ProviderOptions): ClusterProvider {
  const provider = createProvider(source, options);
  const { wrap } = options;
  if (wrap === undefined) return provider;
  return {
    name: provider.name,
    async *watch(signal) {
      for await (const clusters of provider.watch(signal)) yield clusters.map((cluster) => wrapped(cluster, wrap));
    },
  };
}

function wrapped(cluster: FleetCluster, wrap: (transport: Transport) => Transport): FleetCluster {
  return {
    ...cluster,
    async connect() {
      const connection = await cluster.connect();
      return { ...connection, transport: wrap(connection.transport) };
    },
  };
}

function createProvider(source: ClusterSource, { client, session, kubeconfig }: ProviderOptions): ClusterProvider {
  const { environment, metrics, operator, version, processEnvironment: { clock, random } } = session;
  const connect: ConnectOptions = { environment, metrics, clock, random, userAgent: `${operator.name}/${version}` };
  switch (source.kind) {
    case "contexts":
      return kubeconfigContexts({ ...connect, kubeconfig, contexts: source.contexts });
    case "folder":
      return kubeconfigFolder(source.path, connect);
    case "secrets": {
      const { namespace, labelSelector } = source;
      return kubeconfigSecrets(client, { ...connect, namespace, labelSelector });
    }
    case "capi":
      return clusterApiClusters(client, { ...connect, namespace: source.namespace });
    default:
      return source satisfies never;
  }
}
