/** connect(): from the kubeconfig flags to a client. Nothing is sent yet. */
/* MERGED connection.ts  Connection: the cluster a command works on, and what its messages need to know about it. */
/* MERGED credentials_advice.ts
 * What to do about credentials that a server refused. A server says no more than 401, so this looks at what was sent: an
 * expired client certificate is the most common reason, and its date can be read from here.
 */
import {
  Client,
  type ClusterAccess,
  type ClusterTransport,
  clusterTransport,
  type KubeconfigOverrides,
  loadClusterAccess,
  type PemSource,
} from "../../client/mod.ts";
import { homeDirectory, processFacts, readText } from "../../runtime/mod.ts";
import type { ConnectionFlags } from "./connection_flags.ts";
import type { Session } from "../command/mod.ts";
import { X509Certificate } from "node:crypto";

/** The flags that matter here; `--namespace` means something else to each command. */
type ConnectFlags = Omit<ConnectionFlags, "namespace">;

/** Makes a client for the cluster that the flags name. @throws KubeconfigError when they name none */
export async function connect(flags: ConnectFlags, session: Session): Promise<Connection> {
  const { environment, processEnvironment: { clock } } = session;
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
  const { environment, operator, version, processEnvironment: { transport, clock, random } } = session;
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

/** A cluster and who we are there. Dispose it to close its connections. */
export interface Connection extends Disposable {
  readonly client: Client;
  /** A client with connections of its own, for what must not wait behind other requests. */
  separate(): Client;
  /** The context's namespace, or the pod's. */
  readonly namespace: string;
  /** True when this process is a pod that uses its service account. */
  readonly isInCluster: boolean;
  /** The API server's URL. */
  readonly server: string;
  /** How messages name the user: `user "kind-a"`. */
  readonly who: string;
  /** What may be wrong with the credentials, as advice; asked when they were refused. */
  adviseOnCredentials(): Promise<string>;
}

/** One sentence of advice, without a period. @param now Wall time in milliseconds */
export async function credentialsAdvice(access: ClusterAccess, now: number): Promise<string> {
  const { clientCertificate, credentials } = access;
  const expiredAt = clientCertificate === undefined ? undefined : await expiryOf(clientCertificate.certificate);
  if (expiredAt !== undefined && expiredAt <= now) {
    return `Get a new client certificate: this one expired at ${new Date(expiredAt).toISOString()}`;
  }
  switch (credentials.kind) {
    case "none":
      return clientCertificate === undefined
        ? "The kubeconfig has none for this user: pass --token or --client-certificate, or use another context"
        : "Check whether the client certificate is one of this cluster";
    case "token":
    case "tokenFile":
      return "Check whether the token has expired, was revoked, or is one of another cluster";
    case "exec":
      return `Check what the plugin "${credentials.plugin.command}" prints, perhaps by logging in with it again`;
    case "basic":
    case "authProvider":
      return "Log in again with the tool that wrote the kubeconfig";
    default:
      return credentials satisfies never;
  }
}

async function expiryOf(source: PemSource): Promise<number | undefined> {
  try {
    const pem = source.kind === "data" ? source.pem.reveal() : await readText(source.path);
    return Date.parse(new X509Certificate(pem).validTo);
  } catch {
    return undefined; // whatever is wrong with it, this is only about advice
  }
}
