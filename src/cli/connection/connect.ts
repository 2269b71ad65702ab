/**
 * connect(): creates the connection of a command from its flags, and the advice for rejected credentials.
 *
 * Guarantees: nothing is sent yet. Dispose a Connection to close what it opened.
 */
import { X509Certificate } from "node:crypto";
import {
  Client,
  type ClusterAccess,
  type ClusterTransport,
  clusterTransport,
  type KubeconfigOverrides,
  loadClusterAccess,
  type PemSource,
  type Transport,
} from "../../client/mod.ts";
import { homeDirectory, processFacts, readText } from "../../runtime/mod.ts";
import type { Session } from "../command/mod.ts";
import type { ConnectionFlags } from "./connection_flags.ts";

/** The cluster that a command works on, and the user it works as. */
export interface Connection extends Disposable {
  readonly client: Client;
  /** Creates a client with its own connections, for requests that must not wait behind others. */
  createClient(): Client;
  /** Creates a transport with its own connections, for requests that are not those of a Client. */
  createTransport(): Transport;
  /** The namespace of the context, or of the Pod. */
  readonly namespace: string;
  /** True when this process is a Pod that uses its service account. */
  readonly isInCluster: boolean;
  /** The URL of the API server. */
  readonly server: string;
  /** The user as messages name it: `user "kind-a"`. */
  readonly userText: string;
  /** What may be wrong with the credentials, as one sentence of advice. Called when the server rejected them. */
  credentialsAdvice(): Promise<string>;
}

/** The flags of a connection. Without `--namespace` and `--connect-timeout`, which differ from command to command. */
type ConnectFlags = Omit<ConnectionFlags, "namespace" | "connectTimeout">;

/** Creates the connection that the flags describe. @throws KubeconfigError when they describe none */
export async function connect(flags: ConnectFlags, session: Session): Promise<Connection> {
  const { environment, processEnvironment: { clock } } = session;
  const access = await loadClusterAccess({
    overrides: overridesOf(flags),
    environment,
    home: homeDirectory(environment),
    workingDirectory: processFacts().workingDirectory,
  });
  const requestTimeoutMs = flags.requestTimeout === 0 ? Infinity : flags.requestTimeout;
  const transports: ClusterTransport[] = [];
  const ownTransport = () => {
    const transport = createTransport(access, session);
    transports.push(transport);
    return transport;
  };
  const createClient = () => new Client(ownTransport(), { requestTimeoutMs, clock });
  return {
    client: createClient(),
    createClient,
    createTransport: ownTransport,
    namespace: access.namespace,
    isInCluster: access.source.kind === "inCluster",
    server: access.server,
    userText: access.user === "" ? "an anonymous user" : `user "${access.user}"`,
    credentialsAdvice: () => credentialsAdvice(access, clock.now()),
    [Symbol.dispose]() {
      for (const transport of transports.splice(0)) transport[Symbol.dispose]();
    },
  };
}

/** HTTPS to the cluster, unless the process environment brings its own transport. */
function createTransport(access: ClusterAccess, session: Session): ClusterTransport {
  const { environment, operator, version, metrics, processEnvironment: { transport, clock, random } } = session;
  if (transport !== undefined) {
    return Object.assign((request: Request) => transport(request), { [Symbol.dispose]: () => {} });
  }
  return clusterTransport(access, { environment, metrics, clock, random, userAgent: `${operator.name}/${version}` });
}

/** Copies field by field, because `flags` can have the flags of a command, too. */
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

/**
 * What to do about rejected credentials: one sentence, without a full stop. The server only says 401, so this looks at what
 * was sent. An expired client certificate is the most common reason, and its date is in the certificate.
 *
 * @param now Wall time in milliseconds
 */
export async function credentialsAdvice(access: ClusterAccess, now: number): Promise<string> {
  const { clientCertificate, credentials } = access;
  const expiredAt = clientCertificate === undefined ? undefined : await expiryOf(clientCertificate.certificate);
  if (expiredAt !== undefined && expiredAt <= now) {
    return `Get a new client certificate: this one expired at ${new Date(expiredAt).toISOString()}`;
  }
  switch (credentials.kind) {
    case "none":
      return clientCertificate === undefined
        ? "The kubeconfig has no credentials for this user: pass --token or --client-certificate, or use another context"
        : "Check whether the client certificate was issued for this cluster";
    case "token":
    case "tokenFile":
      return "Check whether the token has expired, was revoked, or belongs to another cluster";
    case "exec":
      return `Check the output of the plugin "${credentials.plugin.command}"; logging in with it again may help`;
    case "basic":
    case "oidc":
      return "Log in again with the tool that wrote the kubeconfig";
    default:
      return credentials satisfies never;
  }
}

async function expiryOf(source: PemSource): Promise<number | undefined> {
  try {
    const pem = source.kind === "data" ? source.pem.reveal() : await readText(source.path, { isRegular: true });
    return Date.parse(new X509Certificate(pem).validTo);
  } catch {
    return undefined; // an unreadable certificate only makes the advice less exact
  }
}
