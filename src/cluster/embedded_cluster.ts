/**
 * EmbeddedCluster: a Kubernetes cluster in one process, on the loopback interface: API server with TLS and a token, simulated
 * nodes, and a kubeconfig. `controller dev` starts one; so do tests that need kubectl or another program.
 *
 * Guarantees: listens on loopback only. Every request needs the token, which is random (256 bits) and new for each cluster, or
 * a certificate that the cluster has signed because a CertificateSigningRequest was approved. A
 * request with an Origin header or for another Host is refused first (security 15). Stored objects are lost at the end, unless
 * a folder keeps them and the credentials (`data_folder.ts`).
 */
import { frontProxyName, httpsWebhookCaller, type KubernetesApi, kubernetesApi } from "../apiserver/mod.ts";
import { type Clock, type Random, systemClock, systemRandom } from "../async/mod.ts";
import { Client, type Transport } from "../client/mod.ts";
import type { ManagerOptions } from "../manager/mod.ts";
import { liveSecrets } from "../observe/mod.ts";
import {
  canCollectGarbage,
  nextTurn,
  type ReceivedHead,
  serve,
  type ServeHandler,
  type Server,
} from "../runtime/mod.ts";
import { issueCertificates, type IssuedCertificates } from "../webhook/mod.ts";
import { ControllerAccounts } from "./controller_accounts.ts";
import { installCustomResources, installWebhooks, removeWebhooks, webhookCaller } from "./controller_setup.ts";
import { DataFolder, newToken, type ServerCredentials } from "./data_folder.ts";
import { paceHeap } from "./heap_pacer.ts";
import { SigningAuthority } from "./signing_authority.ts";
import { SimulatedCluster } from "./simulated_cluster.ts";
import { kubeconfigText, type TestCluster, type TestClusterOptions } from "./test_cluster.ts";

/** Options of an {@link EmbeddedCluster}. */
export interface EmbeddedClusterOptions extends TestClusterOptions {
  /** The port; 0 means any free port. @default the port of the last cluster in `dataDir`; without it, 0 */
  readonly port?: number;
  /** The folder that keeps objects and credentials for the next cluster. @default they are lost at the end */
  readonly dataDir?: string;
  /** Versions that Kubernetes has removed, and that the server serves for old operators: `policy/v1beta1`. @default none */
  readonly removedVersions?: readonly string[];
  /** The time of the server and of the simulated nodes. @default systemClock */
  readonly clock?: Clock;
  /** The source of UIDs and generated names. @default systemRandom */
  readonly random?: Random;
}

/** The lifetime of certificates that nothing keeps: one working day (security 6). */
const certificateMs = 24 * 3_600_000;

const address = "127.0.0.1";

/**
 * A running Kubernetes cluster in this process that listens on a loopback port, for tests with kubectl or other programs. For
 * tests of controllers alone, `World` is faster.
 *
 * @example
 * ```ts
 * import { ConfigMap } from "@pintle/controller";
 * import { EmbeddedCluster } from "@pintle/controller/testing";
 *
 * await using cluster = await EmbeddedCluster.start({ workloads: false, onError: console.error });
 * await cluster.client.create(ConfigMap, { metadata: { namespace: "default", name: "a" }, data: { color: "blue" } });
 * console.assert(cluster.url.startsWith("https://127.0.0.1:") && cluster.kubeconfig.includes("pintle-dev"));
 * ```
 */
export class EmbeddedCluster implements TestCluster {
  /** `https://127.0.0.1:PORT`. */
  readonly url: string;
  /** A kubeconfig with the address, certificate authority and token. It is a secret: do not log it. */
  readonly kubeconfig: string;
  /** A client with the rights of an administrator. */
  readonly client: Client;
  /** The transport of that client, without a socket, for Managers in this process. */
  readonly transport: Transport;
  /**
   * For a Manager that runs the `controllers`: its client, and the transports with which the server knows the controllers.
   * The server allows each of them only what it declares.
   */
  readonly managerOptions: Pick<ManagerOptions, "client" | "transportFor">;
  readonly #api: KubernetesApi;
  readonly #listener: Server;
  readonly #folder: DataFolder | undefined;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  readonly #pacing: Promise<void>;
  readonly #nodesCreated: Promise<void>;

  private constructor(parts: {
    readonly api: KubernetesApi;
    readonly accounts: ControllerAccounts;
    readonly listener: Server;
    readonly kubeconfig: string;
    readonly transport: Transport;
    readonly options: EmbeddedClusterOptions;
    readonly folder: DataFolder | undefined;
    readonly ca: string;
    readonly signingAuthority: SigningAuthority;
  }) {
    const { api, accounts, listener, kubeconfig, transport, options, folder, ca, signingAuthority } = parts;
    const { clock = systemClock, random = systemRandom, nodes, pace, workloads = true } = options;
    this.#api = api;
    this.#listener = listener;
    this.#folder = folder;
    this.url = `https://${address}:${listener.port}`;
    this.kubeconfig = kubeconfig;
    this.transport = transport;
    this.client = new Client(transport, { clock });
    const { operatorTransport, transportFor } = accounts;
    const managerTransport = yieldingTransport(operatorTransport(api.server.fetch), clock);
    this.managerOptions = { client: new Client(managerTransport, { clock }), transportFor };
    const { client } = this;
    const { storage } = api.server;
    const shared = { client, storage, clock, random };
    const cluster = new SimulatedCluster({ ...shared, nodes, pace, caCertificate: ca, signingAuthority });
    const { signal } = this.#stop;
    // By the time of the system: a test that advances its clock by a day does not grow the heap for a day.
    this.#pacing = canCollectGarbage() ? paceHeap({ clock: systemClock, signal }) : Promise.resolve();
    this.#running = workloads ? cluster.run({ stop: signal, kill: signal }) : Promise.resolve();
    this.#nodesCreated = workloads ? Promise.race([cluster.nodesCreated, this.#running]) : Promise.resolve();
    this.#running.catch((error: unknown) => {
      if (!signal.aborted) options.onError(error);
    });
  }

  /**
   * Starts a cluster, with all its nodes. Use it with `await using`, so that it stops at the end of the block.
   *
   * @throws PortInUseError when another process listens on the port; DataFolderError when `dataDir` cannot be used
   */
  static async start(options: EmbeddedClusterOptions): Promise<EmbeddedCluster> {
    const folder = options.dataDir === undefined ? undefined : await DataFolder.open(options.dataDir);
    try {
      return await EmbeddedCluster.#start(options, folder);
    } catch (error) {
      await folder?.[Symbol.asyncDispose]();
      throw error;
    }
  }

  static async #start(options: EmbeddedClusterOptions, folder: DataFolder | undefined): Promise<EmbeddedCluster> {
    const { clock = systemClock, random = systemRandom, controllers = [], onError } = options;
    const { token, certificates, signingKey, signingAuthority: pair } = await credentials(folder, clock);
    const signingAuthority = await SigningAuthority.load(pair);
    const frontProxy = await issueCertificates({
      hosts: [frontProxyName],
      now: clock.now(),
      lifetimeMs: certificateMs,
      usage: "client",
    });
    const name = options.name ?? "pintle-dev";
    const newAccountToken = () => hidden(newToken());
    const accounts = new ControllerAccounts({
      controllers,
      name,
      namespaces: options.namespaces,
      selectsNamespaces: options.selectsNamespaces,
      newToken: newAccountToken,
    });
    const others = httpsWebhookCaller({ clock });
    const api = kubernetesApi({
      clock,
      random,
      storage: folder?.database.storage,
      durability: folder?.database,
      signingKey,
      tokens: new Map([[token, administrator]]),
      accounts: accounts.accounts,
      callWebhook: webhookCaller(controllers, clock, others),
      frontProxy,
      removedVersions: options.removedVersions,
      components: options.workloads === false ? [] : ["controller-manager", "scheduler"],
      onError,
    });
    const port = options.port ?? folder?.port ?? 0;
    const listener = await listen(api, certificates, { port, clientCa: pair.certificate, onError });
    await folder?.savePort(listener.port);
    api.advertise({ address, port: listener.port });
    const url = `https://${address}:${listener.port}`;
    const transport = yieldingTransport(withToken(api.server.fetch, token), clock);
    const { ca } = certificates;
    const kubeconfig = kubeconfigText({ name, namespace: options.namespace, url, ca, token });
    const cluster = new EmbeddedCluster({
      api,
      accounts,
      listener,
      kubeconfig,
      transport,
      options,
      folder,
      ca,
      signingAuthority,
    });
    try {
      if (folder !== undefined) await removeWebhooks(cluster.client, name);
      await installCustomResources(cluster.client, controllers);
      await Promise.all([installWebhooks(cluster.client, controllers, { name }), cluster.#nodesCreated]);
      return cluster;
    } catch (error) {
      await cluster[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** The revision of the server, which grows with every write. */
  get revision(): number {
    return this.#api.server.storage.revision;
  }

  /** Stops the cluster: ends all connections and frees the port. The stored objects are lost, unless a folder keeps them. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running.catch(() => undefined);
    await this.#pacing;
    await this.#listener.close();
    this.#api.server[Symbol.dispose]();
    await this.#folder?.[Symbol.asyncDispose]();
  }
}

/** The credentials in the folder; without a folder, new ones. */
async function credentials(folder: DataFolder | undefined, clock: Clock): Promise<ServerCredentials> {
  const hosts = [address, "localhost", "::1", "kubernetes.default.svc"];
  const now = clock.now();
  const found = folder === undefined ? await newCredentials(hosts, now) : await folder.credentials(hosts, now);
  hidden(found.token);
  return found;
}

async function newCredentials(hosts: readonly string[], now: number): Promise<ServerCredentials> {
  const [certificates, authority] = await Promise.all([
    issueCertificates({ hosts, now, lifetimeMs: certificateMs }),
    SigningAuthority.create({ now, lifetimeMs: certificateMs }),
  ]);
  return { token: newToken(), certificates, signingAuthority: authority.pair };
}

/** A token that no log shows. */
function hidden(token: string): string {
  liveSecrets.add(token);
  return token;
}

const administrator = {
  name: "pintle-dev-admin",
  uid: "",
  groups: ["system:masters", "system:authenticated"],
  extra: new Map(),
};

interface ListenOptions {
  readonly port: number;
  /** Signed the certificates of clients. */
  readonly clientCa: string;
  readonly onError: (error: unknown) => void;
}

async function listen(
  api: KubernetesApi,
  { cert, key }: IssuedCertificates,
  { port, clientCa, onError }: ListenOptions,
): Promise<Server> {
  return await serve({
    hostname: address,
    port,
    tls: { cert, key, clientCa, requireClientCertificate: false, offersHttp2: true },
    handler: guarded((request, connection) => api.server.fetch(request, connection)),
    // Every process of this machine may connect. Without the token it takes no memory here.
    readsBody: (request, connection) => refusal(request) === undefined && api.server.authenticates(request, connection),
    // There are many watches, and idle ones must stay open.
    limits: {
      maxConnections: 2_000,
      maxSwitchedConnections: 1_000,
      idleTimeoutMs: 0,
      maxHeaderBytes: 64 * 1024,
      maxUrlBytes: 32 * 1024,
    },
    onError,
  });
}

/** Adds the token to each request. */
function withToken(transport: Transport, token: string): Transport {
  return (request) => {
    const headers = new Headers(request.headers);
    headers.set("authorization", `Bearer ${token}`);
    return transport(new Request(request, { headers }));
  };
}

const hosts: ReadonlySet<string> = new Set(["127.0.0.1", "localhost", "[::1]", "kubernetes.default.svc"]);

/**
 * Refuses requests of web pages and requests for other hosts. A web page can send requests to loopback addresses, and a DNS
 * name can be changed to such an address (DNS rebinding); the headers Origin and Host show both.
 */
function guarded(handler: ServeHandler): ServeHandler {
  return (request, connection) => refusal(request) ?? handler(request, connection);
}

/** The refusal of a request; undefined for one that is served. */
function refusal(request: ReceivedHead): Response | undefined {
  const host = (request.headers.get("host") ?? "").toLowerCase();
  // Clients of websockets that are no browsers, such as fabric8, name the server itself. It serves no pages.
  const origin = request.headers.get("origin")?.toLowerCase() ?? `https://${host}`;
  if (origin !== `https://${host}`) return forbidden("Requests from web pages are forbidden");
  return hosts.has(host.replace(/:\d+$/, "")) ? undefined : forbidden("This server serves loopback addresses only");
}

function forbidden(message: string): Response {
  const status = {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message,
    reason: "Forbidden",
    code: 403,
  };
  return Response.json(status, { status: 403 });
}

/** Milliseconds between two turns of the event loop; an idle turn costs only microseconds. */
const turnIntervalMs = 4;

/**
 * A transport that lets the event loop turn from time to time. Controllers and API server in one process never wait for each
 * other; without this, a client with a socket had to wait until all of them are idle, 0.2 s when a cluster starts.
 */
export function yieldingTransport(transport: Transport, clock: Pick<Clock, "monotonic">): Transport {
  let turnedAt = clock.monotonic();
  let turn: Promise<void> | undefined;
  const begin = async () => {
    await nextTurn();
    turn = undefined;
    turnedAt = clock.monotonic();
  };
  return async (request) => {
    if (turn === undefined && clock.monotonic() - turnedAt >= turnIntervalMs) turn = begin();
    if (turn !== undefined) await turn;
    return await transport(request);
  };
}
