/**
 * EmbeddedCluster: a Kubernetes of one process, on the loopback interface: API server with TLS and tokens, simulated nodes,
 * and a kubeconfig. What `controller dev` starts, and what a test uses that wants kubectl or another program beside it.
 *
 * Guarantees: listens on loopback only; every request needs the token, which is random (256 bits) and new each time; a
 * request with an Origin, or for another Host, is refused before anything else (behaviours.md, security 15). What it stores
 * is gone with it.
 */
import { httpsWebhookCaller, type KubernetesApi, kubernetesApi } from "../apiserver/mod.ts";
import { type Clock, type Random, systemClock, systemRandom } from "../async/mod.ts";
import { Client, type Transport } from "../client/mod.ts";
import type { OperatorController } from "../manager/mod.ts";
import { serve, type Server } from "../runtime/mod.ts";
import { issueCertificates, type IssuedCertificates } from "../webhook/mod.ts";
import { guarded } from "./_guarded.ts";
import { kubeconfigText } from "./_kubeconfig_text.ts";
import { takingTurns } from "./_taking_turns.ts";
import { installWebhooks, webhookCaller } from "./in_process_webhooks.ts";
import type { KubeletPace } from "./kubelet.ts";
import { SimulatedCluster } from "./simulated_cluster.ts";

/** Options of an {@link EmbeddedCluster}. */
export interface EmbeddedClusterOptions {
  /** 0: any that is free. @default 0 */
  readonly port?: number;
  /** Whose webhooks are called in this process. @default nobody's */
  readonly controllers?: readonly OperatorController[];
  /** Whether Deployments get Pods, owners are followed and namespaces can end. @default true */
  readonly workloads?: boolean;
  /** Simulated nodes. @default 3 */
  readonly nodes?: number;
  /** How fast Pods start and end. */
  readonly pace?: KubeletPace;
  /** Name of context, cluster and user in the kubeconfig. @default "pintle-dev" */
  readonly name?: string;
  /** Told of what should not have happened in the server. */
  readonly onError: (error: unknown) => void;
  /** @default systemClock */
  readonly clock?: Clock;
  /** @default systemRandom */
  readonly random?: Random;
}

/** Milliseconds a certificate lives: as long as anybody works on one day (security 6). */
const certificateMs = 24 * 3_600_000;

const address = "127.0.0.1";

/** A cluster that runs. */
export class EmbeddedCluster implements AsyncDisposable {
  /** `https://127.0.0.1:PORT`. */
  readonly url: string;
  /** A kubeconfig with its address, authority and token. It is a secret: never log it. */
  readonly kubeconfig: string;
  /** A client in this process, as the administrator. */
  readonly client: Client;
  /** The same without a socket: for Managers in this process. */
  readonly transport: Transport;
  readonly #api: KubernetesApi;
  readonly #listener: Server;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;

  private constructor(parts: {
    readonly api: KubernetesApi;
    readonly listener: Server;
    readonly kubeconfig: string;
    readonly transport: Transport;
    readonly options: EmbeddedClusterOptions;
    readonly ca: string;
  }) {
    const { api, listener, kubeconfig, transport, options, ca } = parts;
    const { clock = systemClock, random = systemRandom, nodes, pace, workloads = true } = options;
    this.#api = api;
    this.#listener = listener;
    this.url = `https://${address}:${listener.port}`;
    this.kubeconfig = kubeconfig;
    this.transport = transport;
    this.client = new Client(transport, { clock });
    const cluster = new SimulatedCluster({ client: this.client, nodes, pace, caCertificate: ca, clock, random });
    const { signal } = this.#stop;
    this.#running = workloads ? cluster.run({ stop: signal, kill: signal }) : Promise.resolve();
    this.#running.catch((error: unknown) => {
      if (!signal.aborted) options.onError(error);
    });
  }

  /** Starts one. @throws PortInUseError when the port is taken */
  static async start(options: EmbeddedClusterOptions): Promise<EmbeddedCluster> {
    const { clock = systemClock, random = systemRandom, controllers = [], port = 0, onError } = options;
    const token = crypto.getRandomValues(new Uint8Array(32)).toHex();
    const others = httpsWebhookCaller({ clock });
    const api = kubernetesApi({
      clock,
      random,
      tokens: new Map([[token, administrator]]),
      callWebhook: webhookCaller(controllers, clock, others),
      onError,
    });
    const issued = await certificates(clock);
    const listener = await listen(api, issued, { port, onError });
    const name = options.name ?? "pintle-dev";
    const url = `https://${address}:${listener.port}`;
    const transport = takingTurns(authorized(api.server.fetch, token), clock);
    const kubeconfig = kubeconfigText({ name, url, ca: issued.ca, token });
    const cluster = new EmbeddedCluster({ api, listener, kubeconfig, transport, options, ca: issued.ca });
    await installWebhooks(cluster.client, controllers, name);
    return cluster;
  }

  /** The server's revision: grows with every write. */
  get revision(): number {
    return this.#api.server.storage.revision;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running.catch(() => undefined);
    await this.#listener.close();
    this.#api.server[Symbol.dispose]();
  }
}

const administrator = {
  name: "pintle-dev-admin",
  uid: "",
  groups: ["system:masters", "system:authenticated"],
  extra: new Map(),
};

async function certificates(clock: Clock): Promise<IssuedCertificates> {
  const hosts = [address, "localhost", "::1", "kubernetes.default.svc"];
  return await issueCertificates({ hosts, now: clock.now(), lifetimeMs: certificateMs });
}

async function listen(
  api: KubernetesApi,
  { cert, key }: IssuedCertificates,
  { port, onError }: { readonly port: number; readonly onError: (error: unknown) => void },
): Promise<Server> {
  return await serve({
    hostname: address,
    port,
    tls: { cert, key },
    handler: guarded((request, connection) => api.server.fetch(request, connection)),
    // Watches are many, and idle ones must not be cut; bodies are as large as kube-apiserver takes.
    limits: { connections: 2_000, idleTimeoutMs: 0, headerBytes: 64 * 1024, urlBytes: 32 * 1024 },
    onError,
  });
}

/** Sends the token along. */
function authorized(to: Transport, token: string): Transport {
  return (request) => {
    const headers = new Headers(request.headers);
    headers.set("authorization", `Bearer ${token}`);
    return to(new Request(request, { headers }));
  };
}
