/** firstClusters(): the clusters that a provider reports first, each with a Connection, for commands that end. */
import { scope, untilAborted } from "../../async/mod.ts";
import { Client } from "../../client/mod.ts";
import { type ClusterProvider, type DistinctClusters, distinctClusters, type FleetCluster } from "../../fleet/mod.ts";
import { printable } from "../../observe/mod.ts";
import type { Session } from "../command/mod.ts";
import type { Connection } from "../connection/mod.ts";

/** Waits for the first report. @throws Error of the provider; the reason of `signal` when there is none in time */
export async function firstClusters(provider: ClusterProvider, signal: AbortSignal): Promise<DistinctClusters> {
  using watching = scope(signal);
  const reports = provider.watch(watching.signal)[Symbol.asyncIterator]();
  try {
    const report = await untilAborted(reports.next(), signal);
    return distinctClusters(report.done === true ? [] : report.value);
  } finally {
    watching.abort();
    await reports.return?.();
  }
}

/** Opens the connection of a command to a cluster of a fleet. @throws Error when it cannot be opened */
export async function connectMember(cluster: FleetCluster, session: Session): Promise<Connection> {
  const { clock } = session.processEnvironment;
  const { server, transport, [Symbol.dispose]: close } = await cluster.connect();
  const client = new Client(transport, { clock });
  return {
    client,
    createClient: () => client,
    createTransport: () => transport,
    namespace: "default",
    isInCluster: false,
    server,
    userText: `the user of cluster "${printable(cluster.name)}"`,
    credentialsAdvice: () => Promise.resolve(`Check the kubeconfig of cluster "${printable(cluster.name)}"`),
    [Symbol.dispose]: close,
  };
}
