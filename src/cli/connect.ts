/** connect(): from the kubeconfig flags to a client. Nothing is sent yet. */
import {
  Client,
  type ClusterAccess,
  type ClusterTransport,
  clusterTransport,
  type KubeconfigOverrides,
  loadClusterAccess,
} from "../client/mod.ts";
import { homeDirectory, processFacts } from "../runtime/mod.ts";
import type { Connection } from "./connection.ts";
import type { ConnectionFlags } from "./connection_flags.ts";
import { credentialsAdvice } from "./credentials_advice.ts";
import type { Session } from "./session.ts";

/** The flags that matter here; `--namespace` means something else to each command. */
export type ConnectFlags = Omit<ConnectionFlags, "namespace">;

/** Makes a client for the cluster that the flags name. @throws KubeconfigError when they name none */
export async function connect(flags: ConnectFlags, session: Session): Promise<Connection> {
  const { environment, surroundings: { clock } } = session;
  const access = await loadClusterAccess({
    overrides: overridesOf(flags),
    environment,
    home: homeDirectory(environment),
    workingDirectory: processFacts().workingDirectory,
  });
  const requestTimeoutMs = flags.requestTimeout === 0 ? Infinity : flags.requestTimeout;
  const connections = new DisposableStack();
  const separate = () => new Client(connections.use(transportOf(access, session)), { requestTimeoutMs, clock });
  return {
    client: separate(),
    separate,
    namespace: access.namespace,
    isInCluster: access.source.kind === "inCluster",
    server: access.server,
    who: access.user === "" ? "nobody" : `user "${access.user}"`,
    adviseOnCredentials: () => credentialsAdvice(access, clock.now()),
    [Symbol.dispose]: () => connections.dispose(),
  };
}

/** HTTPS to the cluster, unless the surroundings have another way. */
function transportOf(access: ClusterAccess, session: Session): ClusterTransport {
  const { environment, operator, version, surroundings: { transport, clock, random } } = session;
  if (transport !== undefined) {
    return Object.assign((request: Request) => transport(request), { [Symbol.dispose]: () => {} });
  }
  return clusterTransport(access, { environment, clock, random, userAgent: `${operator.name}/${version}` });
}

/** Field by field, since `flags` may be those of a command that has more. */
function overridesOf(flags: ConnectFlags): KubeconfigOverrides {
  return {
    kubeconfig: flags.kubeconfig,
    context: flags.context,
    cluster: flags.cluster,
    user: flags.user,
    server: flags.server,
    token: flags.token,
    as: flags.as,
    asGroups: flags.asGroup.length === 0 ? undefined : flags.asGroup,
    certificateAuthority: flags.certificateAuthority,
    clientCertificate: flags.clientCertificate,
    clientKey: flags.clientKey,
    insecureSkipTlsVerify: flags.insecureSkipTlsVerify,
    tlsServerName: flags.tlsServerName,
  };
}
