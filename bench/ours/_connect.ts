/** The client for the cluster in KUBECONFIG, created as the command line does it. */
import { Client, clusterTransport, loadClusterAccess } from "../../src/client/mod.ts";
import { environment as environmentOf, homeDirectory } from "../../src/runtime/mod.ts";

/** Connects; nothing is sent yet. */
export async function connect(): Promise<Client> {
  const environment = environmentOf();
  const access = await loadClusterAccess({ environment, home: homeDirectory(environment) });
  return new Client(clusterTransport(access, { environment, userAgent: "bench" }));
}
