/**
 * ControlPlaneServers: the processes of a real control plane for tests: etcd, kube-apiserver, and kube-controller-manager if
 * its program is there. They belong to a folder with certificates (`files.ts`).
 *
 * Guarantees: they start in the order of their dependencies and stop in the reverse one. While one starts, an early end of
 * any of them is an error with the end of its log. If this process is killed, they end, and the folder is removed.
 */
import { type Clock, systemClock } from "../../async/mod.ts";
import { type ClusterTransport, clusterTransport } from "../../client/mod.ts";
import { connectTcp, Daemon, removePath, Watchdog } from "../../runtime/mod.ts";
import { tokenAccess } from "./access.ts";
import { apiServerArgs, controllerManagerArgs, etcdArgs, loopback, type Ports } from "./flags.ts";

/** The programs, as paths. */
export interface ServerPrograms {
  readonly etcd: string;
  readonly kubeApiServer: string;
  /** @default no controllers run */
  readonly kubeControllerManager?: string;
}

/** Options of {@link ControlPlaneServers}. */
export interface ControlPlaneServersOptions {
  /** The folder with `pki/`, `log/`, `run/` and `tokens.csv`, absolute. It is removed at the end. */
  readonly dir: string;
  readonly programs: ServerPrograms;
  readonly ports: Ports;
  /** PEM of the authority that signed the API server's certificate. */
  readonly ca: string;
  /** The bearer token of a user who may read everything. */
  readonly token: string;
  /** Whether the controllers of another process create service accounts. @default true with kube-controller-manager */
  readonly hasControllers?: boolean;
  /** Flags of kube-apiserver that replace or follow those of `flags.ts`, as `--name=value`. */
  readonly apiServerArgs: readonly string[];
  /** Milliseconds until a start fails. */
  readonly startTimeoutMs: number;
  /** @default systemClock */
  readonly clock?: Clock;
}

/** The data is deleted with the folder, so the servers need no time to shut down. */
const disposeGraceMs = 3_000;
/** For a restart: the time that kube-apiserver needs to close watches and finish requests. */
const restartGraceMs = 15_000;
/** A server gives no signal when it is ready. */
const pollMs = 25;

/** Whether a server is ready, or its present state. */
type Readiness = { readonly kind: "ready" } | { readonly kind: "pending"; readonly state: string };

const never = new AbortController().signal;

export class ControlPlaneServers implements AsyncDisposable {
  readonly #options: ControlPlaneServersOptions;
  readonly #watchdog: Watchdog;
  readonly #transport: ClusterTransport;
  #etcd: Daemon | undefined;
  #apiServer: Daemon | undefined;
  #controllerManager: Daemon | undefined;

  constructor(options: ControlPlaneServersOptions) {
    const { dir, ca, token, ports } = options;
    this.#options = options;
    this.#watchdog = new Watchdog(dir);
    const access = tokenAccess({ server: `https://${loopback}:${ports.apiServer}`, ca, token });
    // Each request is one look: a server that is not ready yet is asked again, and not waited for.
    this.#transport = clusterTransport(access, { maxAttempts: 1, clock: options.clock });
  }

  /** Starts all servers. @param beforeControllers Runs when the API server is ready. */
  async start(beforeControllers: () => Promise<void> = () => Promise.resolve()): Promise<void> {
    const { dir, programs, ports } = this.#options;
    this.#etcd = new Daemon({ name: "etcd", path: programs.etcd, args: etcdArgs(dir, ports) }, dir);
    await this.#until("start etcd", () => accepts(ports.etcd));
    await this.startApiServer();
    await beforeControllers();
    await this.#until("see the namespace default", () => this.#answers("/api/v1/namespaces/default"));
    if (programs.kubeControllerManager !== undefined) {
      await this.#startControllerManager(programs.kubeControllerManager);
    }
  }

  /** Starts kube-apiserver on its port and waits until it is ready. */
  async startApiServer(): Promise<void> {
    if (this.#apiServer !== undefined) return;
    const { dir, programs, ports, apiServerArgs: overrides } = this.#options;
    const { hasControllers = programs.kubeControllerManager !== undefined } = this.#options;
    const args = apiServerArgs(dir, { ports, overrides, hasControllers });
    this.#apiServer = new Daemon({ name: "kube-apiserver", path: programs.kubeApiServer, args }, dir);
    await this.#until("start kube-apiserver", () => this.#answers("/readyz"));
  }

  /** Stops kube-apiserver; its data stays in etcd. */
  async stopApiServer(): Promise<void> {
    const apiServer = this.#apiServer;
    this.#apiServer = undefined;
    await apiServer?.stop(restartGraceMs);
  }

  /** Ends all processes, etcd last (an API server cannot shut down without it), and removes the folder. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#transport[Symbol.dispose]();
    await Promise.all([this.#controllerManager?.stop(disposeGraceMs), this.#apiServer?.stop(disposeGraceMs)]);
    await this.#etcd?.stop(disposeGraceMs);
    await removePath(this.#options.dir);
    await this.#watchdog[Symbol.asyncDispose]();
  }

  async #startControllerManager(path: string): Promise<void> {
    const { dir } = this.#options;
    this.#controllerManager = new Daemon(
      { name: "kube-controller-manager", path, args: controllerManagerArgs(dir) },
      dir,
    );
    const account = "/api/v1/namespaces/default/serviceaccounts/default";
    await this.#until("see the service account default/default", () => this.#answers(account));
  }

  /** Polls until the server is ready; fails when a process ends. */
  async #until(action: string, look: () => Promise<Readiness>): Promise<void> {
    const { startTimeoutMs, clock = systemClock } = this.#options;
    const deadline = clock.monotonic() + startTimeoutMs;
    while (true) {
      for (const daemon of [this.#etcd, this.#apiServer, this.#controllerManager]) daemon?.assertRunning();
      const seen = await look();
      if (seen.kind === "ready") return;
      if (clock.monotonic() >= deadline) throw new Error(`Cannot ${action}: after ${startTimeoutMs} ms ${seen.state}`);
      await clock.sleep(pollMs, never);
    }
  }

  async #answers(path: string): Promise<Readiness> {
    const url = `https://${loopback}:${this.#options.ports.apiServer}${path}`;
    try {
      const response = await this.#transport(new Request(url));
      const text = await response.text();
      if (response.status === 200) return { kind: "ready" };
      return { kind: "pending", state: `${path} answered ${response.status}: ${text.trim()}` };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      return { kind: "pending", state: `the API server was unreachable: ${reason}` };
    }
  }
}

async function accepts(port: number): Promise<Readiness> {
  try {
    const connection = await connectTcp({ hostname: loopback, port }, never);
    connection[Symbol.dispose]();
    return { kind: "ready" };
  } catch (error) {
    return { kind: "pending", state: error instanceof Error ? error.message : String(error) };
  }
}
