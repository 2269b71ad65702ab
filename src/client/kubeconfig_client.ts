/** The transport of a Client that is made from the kubeconfig alone, and who closes it. */
import { environment, homeDirectory, processFacts } from "../runtime/mod.ts";
import type { ClientOptions } from "./client_options.ts";
import { type ClusterTransport, clusterTransport, type ClusterTransportOptions } from "./cluster_transport.ts";
import { loadClusterAccess, type LoadClusterAccessOptions } from "./kubeconfig/mod.ts";
import type { Transport } from "./transport.ts";

/** Options of `Client.fromKubeconfig`: all are optional, what is absent is read from the process. */
export interface FromKubeconfigOptions extends Partial<LoadClusterAccessOptions>, ClientOptions {
  /** The name and the version of the program, e.g. `my-script/1.0`. @default "controller" */
  readonly userAgent?: string;
  /** Settings of the connections. @default those of `clusterTransport` */
  readonly transport?: ClusterTransportOptions;
}

const owned = new WeakSet<Transport>();

/** Makes the transport, and the options of its client. @throws KubeconfigError when no cluster is configured */
export async function kubeconfigTransport(
  options: FromKubeconfigOptions,
): Promise<{ readonly transport: ClusterTransport; readonly clientOptions: ClientOptions }> {
  const { transport: settings, userAgent, ...clientOptions } = options;
  const variables = options.environment ?? environment();
  const access = await loadClusterAccess({
    ...options,
    environment: variables,
    home: options.home ?? homeDirectory(variables),
    workingDirectory: options.workingDirectory ?? processFacts().workingDirectory,
  });
  const { clock, logger } = options;
  const { requestTimeoutMs = access.requestTimeoutMs } = options;
  const transport = clusterTransport(access, {
    environment: variables,
    clock,
    logger,
    ...(userAgent === undefined ? {} : { userAgent }),
    ...settings,
  });
  owned.add(transport);
  return { transport, clientOptions: { ...clientOptions, requestTimeoutMs } };
}

/** Closes a transport that {@link kubeconfigTransport} has made. */
export function disposeOwned(transport: Transport): void {
  if (owned.has(transport) && Symbol.dispose in transport) (transport as ClusterTransport)[Symbol.dispose]();
}
