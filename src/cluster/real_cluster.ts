/**
 * RealCluster: a real etcd and kube-apiserver on the loopback interface, for tests that must not depend on the embedded
 * server. It has the interface of EmbeddedCluster, so a test file runs on both.
 *
 * Guarantees: the servers listen on loopback only, and every request needs a token that is new for each cluster. They end when
 * the cluster is disposed, and also when this process is killed. With `USE_EXISTING_CLUSTER=true` nothing is started, and
 * nothing is stopped: the cluster of the kubeconfig is used.
 *
 * Caveats: kube-controller-manager and kube-scheduler are not started; with `workloads`, the controllers of the simulated
 * cluster do their work. There is no kubelet, so no container runs.
 */
import { builtin } from "../api/mod.ts";
import { Cleanups, type Clock, type Random, systemClock, systemRandom } from "../async/mod.ts";
import { Client, type ClusterTransport, clusterTransport, loadClusterAccess, type Transport } from "../client/mod.ts";
import { liveSecrets } from "../observe/mod.ts";
import {
  type Environment,
  environment as processEnvironment,
  homeDirectory,
  listenTcp,
  makeTemporaryDirectory,
  readText,
  serve,
} from "../runtime/mod.ts";
import { issueCertificates, webhookHandler } from "../webhook/mod.ts";
import {
  apiServerHosts,
  ControlPlaneServers,
  findServerPrograms,
  loopback,
  tokenAccess,
  writeControlPlaneFiles,
} from "./control_plane/mod.ts";
import { installCustomResources, installWebhooks, type WebhookTarget } from "./controller_setup.ts";
import { newToken } from "./data_folder.ts";
import { SigningAuthority } from "./signing_authority.ts";
import { SimulatedCluster } from "./simulated_cluster.ts";
import { kubeconfigText, type TestCluster, type TestClusterOptions } from "./test_cluster.ts";

/** Options of a {@link RealCluster}. */
export interface RealClusterOptions extends TestClusterOptions {
  /**
   * The folder with etcd and kube-apiserver. @default as envtest: TEST_ASSET_ETCD and TEST_ASSET_KUBE_APISERVER, then
   * KUBEBUILDER_ASSETS, then /usr/local/kubebuilder/bin, then what setup-envtest has installed
   */
  readonly assets?: string;
  /** Flags of kube-apiserver, `--name=value`; each replaces the one of that name. @default none */
  readonly apiServerArgs?: readonly string[];
  /** Milliseconds until the start of a server fails. @default 60_000 */
  readonly startTimeoutMs?: number;
  /** Uses the cluster of the kubeconfig, and starts no servers. @default whether USE_EXISTING_CLUSTER is "true" */
  readonly useExistingCluster?: boolean;
  /** The environment variables that the other options mention, and KUBECONFIG. @default those of the process */
  readonly environment?: Environment;
  /** The time of certificates and time limits. @default systemClock */
  readonly clock?: Clock;
  /** The source of chance of the simulated nodes. @default systemRandom */
  readonly random?: Random;
}

/** An API server that answers, before anything of the test is in it. */
interface Base {
  readonly url: string;
  readonly kubeconfig: string;
  readonly transport: ClusterTransport;
  /** Absent for an existing cluster. */
  readonly own?: { readonly ca: string; readonly signingAuthority: SigningAuthority };
}

/** The servers end with the test, whose day is short. */
const certificateMs = 24 * 3_600_000;
/** A free port may be taken before a server binds it; if this happens twice, the cause is another one. */
const portAttempts = 3;

/**
 * A real etcd and kube-apiserver as processes of this machine, for tests that must not depend on the embedded server. The
 * programs are found by the convention of envtest; `setup-envtest` of controller-runtime installs them.
 *
 * The controllers of a test get the same as from an `EmbeddedCluster`: their CustomResourceDefinitions are installed, their
 * webhooks are served to the API server, and with `workloads` simulated nodes run Pods. With `USE_EXISTING_CLUSTER=true` the
 * cluster of the kubeconfig is used instead; nothing is then started, and the definitions stay in it.
 *
 * @example
 * ```ts
 * import { Namespace } from "@pintle/controller";
 * import { RealCluster } from "@pintle/controller/testing";
 *
 * async function namespacesOfRealServer(): Promise<number> {
 *   await using cluster = await RealCluster.start({ workloads: false, onError: console.error });
 *   return (await cluster.client.list(Namespace)).items.length;
 * }
 * const missing = await RealCluster.start({ assets: "/nonexistent", onError: console.error }).catch(String);
 * console.assert(String(missing).includes("Install it with setup-envtest"));
 * console.assert(typeof namespacesOfRealServer === "function");
 * ```
 */
export class RealCluster implements TestCluster {
  /** The address of the API server: `https://127.0.0.1:PORT`, or that of the existing cluster. */
  readonly url: string;
  /** A kubeconfig for kubectl and other programs. It is a secret: do not log it. */
  readonly kubeconfig: string;
  /** A client with the rights of an administrator. */
  readonly client: Client;
  /** The transport of that client. */
  readonly transport: Transport;
  /** For a Manager that runs the `controllers`: requests that a controller did not declare are rejected. */
  readonly managerOptions: { readonly client: Client; readonly strictAccess: true };
  readonly #resources: Cleanups;

  private constructor({ url, kubeconfig, transport }: Base, client: Client, resources: Cleanups) {
    this.url = url;
    this.kubeconfig = kubeconfig;
    this.transport = transport;
    this.client = client;
    this.managerOptions = { client, strictAccess: true };
    this.#resources = resources;
  }

  /**
   * Starts the servers and waits until they are ready. Use it with `await using`, so that they stop at the end of the block.
   *
   * @throws Error when a program is missing, ends early or is not ready in time; the message says what to do
   */
  static async start(options: RealClusterOptions): Promise<RealCluster> {
    const { environment = processEnvironment(), clock = systemClock } = options;
    const { useExistingCluster = environment.USE_EXISTING_CLUSTER?.toLowerCase() === "true" } = options;
    await using resources = new Cleanups();
    const base = useExistingCluster
      ? await existingServer(environment, options, resources)
      : await startServers(environment, options, resources);
    const client = new Client(base.transport, { clock });
    await setUpControllers(client, options, resources);
    if (base.own !== undefined && options.workloads !== false) await runWorkloads(client, base.own, options, resources);
    return new RealCluster(base, client, resources.move());
  }

  /** Stops what `start` has started. The stored objects are lost, unless the cluster existed before. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#resources[Symbol.asyncDispose]();
  }
}

async function startServers(
  environment: Environment,
  options: RealClusterOptions,
  resources: Cleanups,
): Promise<Base> {
  for (let attempt = 1;; attempt++) {
    try {
      return await startServersOnce(environment, options, resources);
    } catch (error) {
      if (attempt === portAttempts || !String(error).includes("address already in use")) throw error;
    }
  }
}

async function startServersOnce(
  environment: Environment,
  options: RealClusterOptions,
  resources: Cleanups,
): Promise<Base> {
  const { clock = systemClock, startTimeoutMs = 60_000, apiServerArgs = [], name = "pintle-dev", namespace } = options;
  const programs = await findServerPrograms({ assets: options.assets, environment });
  const now = clock.now();
  const [{ ca, ...serving }, signingAuthority] = await Promise.all([
    issueCertificates({ hosts: apiServerHosts, now, lifetimeMs: certificateMs }),
    SigningAuthority.create({ now, lifetimeMs: certificateMs }),
  ]);
  const token = newToken();
  liveSecrets.add(token);
  const ports = { etcd: await freePort(), apiServer: await freePort() };
  const dir = await makeTemporaryDirectory("pintle-real-cluster-");
  const hasControllers = options.workloads !== false;
  await using starting = new Cleanups();
  const servers = starting.use(
    new ControlPlaneServers({ dir, programs, ports, ca, token, hasControllers, apiServerArgs, startTimeoutMs, clock }),
  );
  await writeControlPlaneFiles(dir, { serving, clientCa: signingAuthority.pair.certificate, token });
  await servers.start();
  const url = `https://${loopback}:${ports.apiServer}`;
  const transport = starting.use(clusterTransport(tokenAccess({ server: url, ca, token }), { clock }));
  resources.use(starting.move());
  return {
    url,
    kubeconfig: kubeconfigText({ name, namespace, url, ca, token }),
    transport,
    own: { ca, signingAuthority },
  };
}

async function freePort(): Promise<number> {
  await using listener = await listenTcp({ hostname: loopback, port: 0 }, () => {});
  return listener.port;
}

async function existingServer(
  environment: Environment,
  { controllers = [], clock }: RealClusterOptions,
  resources: Cleanups,
): Promise<Base> {
  const webhook = controllers.flatMap((controller) => controller.webhooks ?? [])[0];
  if (webhook !== undefined) {
    throw new Error(
      `Cannot test webhook ${webhook.path} on an existing cluster: its API server cannot call this process. Run these tests without USE_EXISTING_CLUSTER`,
    );
  }
  const home = homeDirectory(environment);
  const access = await loadClusterAccess({ environment, home });
  const files = access.source.kind === "kubeconfig" ? access.source.files : [];
  const [file] = files;
  if (file === undefined || files.length > 1) {
    const state = file === undefined ? "there is no kubeconfig" : `KUBECONFIG names ${files.length} files`;
    throw new Error(`Cannot use an existing cluster: ${state}. Set KUBECONFIG to one file`);
  }
  const transport = resources.use(clusterTransport(access, { environment, clock }));
  return { url: access.server, kubeconfig: await readText(file), transport };
}

/** Serves the webhooks of the controllers, and installs their kinds and configurations. */
async function setUpControllers(
  client: Client,
  options: RealClusterOptions,
  resources: Cleanups,
): Promise<void> {
  const { controllers = [], name = "pintle-dev" } = options;
  const target = await serveWebhooks(options, resources);
  for (const definition of await installCustomResources(client, controllers, { target })) {
    await client.waitFor(builtin.CustomResourceDefinition, definition, "Established");
  }
  if (target !== undefined) await installWebhooks(client, controllers, { name, target });
}

async function serveWebhooks(
  { controllers = [], clock = systemClock, onError }: RealClusterOptions,
  resources: Cleanups,
): Promise<WebhookTarget | undefined> {
  const webhooks = controllers.flatMap((controller) => controller.webhooks ?? []);
  if (webhooks.length === 0) return undefined;
  const { ca, ...tls } = await issueCertificates({ hosts: [loopback], now: clock.now(), lifetimeMs: certificateMs });
  const server = await serve({
    hostname: loopback,
    port: 0,
    tls,
    handler: webhookHandler(webhooks, { clock }),
    onError,
  });
  resources.defer(() => server.close());
  return { address: { kind: "url", url: `https://${loopback}:${server.port}` }, caBundle: ca };
}

/** Runs the simulated nodes and the controllers of workloads until the cluster is disposed. */
async function runWorkloads(
  client: Client,
  { ca, signingAuthority }: NonNullable<Base["own"]>,
  options: RealClusterOptions,
  resources: Cleanups,
): Promise<void> {
  const { clock = systemClock, random = systemRandom, nodes, pace, onError } = options;
  const cluster = new SimulatedCluster({ client, nodes, pace, caCertificate: ca, signingAuthority, clock, random });
  const stop = new AbortController();
  const running = cluster.run({ stop: stop.signal, kill: stop.signal }).catch((error: unknown) => {
    if (!stop.signal.aborted) onError(error);
  });
  resources.defer(async () => {
    stop.abort();
    await running;
  });
  await Promise.race([cluster.nodesCreated, running]);
}
