/** The client of the cluster that KUBECONFIG names, made as the command line makes it. */
import { Client, clusterTransport, loadClusterAccess } from "../../src/client/mod.ts";
import { environment as environmentOf, homeDirectory } from "../../src/runtime/mod.ts";

/** Connects; nothing is sent yet. */
export async function connect(): Promise<Client> {
  const environment = environmentOf();
  const access = await loadClusterAccess({ environment, home: homeDirectory(environment) });
  return new Client(clusterTransport(access, { environment, userAgent: "bench" }));
}
