/**
 * The three server processes of a control plane, in their order: etcd, then kube-apiserver, then
 * kube-controller-manager; ended together. Only the process that started a control plane has one of these.
 *
 * Guarantees: after `start()` the API server is ready and the `default` namespace has its service account (with a
 * controller manager); after disposal no process and no folder is left. A server that dies early fails `start()` with
 * the end of its log.
 */
import { rmSync } from "node:fs";
import { connect } from "node:net";
import { getFromApi } from "./api_request.ts";
import { Daemon } from "./daemon.ts";
import type { Description } from "./description.ts";
import { apiServerArgs, controllerManagerArgs, etcdArgs, loopback, type Ports } from "./flags.ts";
import { type Probe, until } from "./poll.ts";
import { Watchdog } from "./watchdog.ts";

/** Options for starting the servers. */
export interface ServersOptions {
  readonly description: Description;
  /** PEM of the authority that signed the API server's certificate. */
  readonly ca: string;
  readonly ports: Ports;
  /** Flags of kube-apiserver that replace or follow the harness's own, as `--name=value`. */
  readonly apiServerArgs: readonly string[];
  /** Milliseconds until a start fails. */
  readonly startTimeoutMs: number;
}

/** The data is deleted with the control plane, so its servers need no time to shut down. */
const disposeGraceMs = 3_000;
/** For a restart: the time that kube-apiserver needs to close watches and finish requests. */
const restartGraceMs = 15_000;

/** The processes of one control plane. */
export class Servers implements AsyncDisposable {
  readonly #options: ServersOptions;
  readonly #watchdog: Watchdog;
  #etcd: Daemon | undefined;
  #apiServer: Daemon | undefined;
  #controllerManager: Daemon | undefined;

  constructor(options: ServersOptions) {
    this.#options = options;
    this.#watchdog = new Watchdog(options.description.dir);
  }

  /** Starts all three. `beforeControllers` runs when the API server is ready. */
  async start(beforeControllers: () => Promise<void>): Promise<void> {
    const { description: { binaries, dir }, ports } = this.#options;
    this.#etcd = new Daemon({ name: "etcd", path: binaries.etcd, args: etcdArgs(dir, ports) }, dir);
    await this.#until("start etcd", () => accepts(ports.etcd));
    await this.startApiServer();
    await beforeControllers();
    await this.#until("see the namespace default", () => this.#answers("/api/v1/namespaces/default"));
    if (binaries.kubeControllerManager !== undefined) {
      await this.#startControllerManager(binaries.kubeControllerManager);
    }
  }

  /** Starts kube-apiserver on the control plane's port and waits until it is ready. */
  async startApiServer(): Promise<void> {
    if (this.#apiServer !== undefined) return;
    const { description: { binaries, dir }, ports, apiServerArgs: overrides } = this.#options;
    const hasControllers = binaries.kubeControllerManager !== undefined;
    const args = apiServerArgs(dir, { ports, overrides, hasControllers });
    this.#apiServer = new Daemon({ name: "kube-apiserver", path: binaries.kubeApiServer, args }, dir);
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
    await Promise.all([this.#controllerManager?.stop(disposeGraceMs), this.#apiServer?.stop(disposeGraceMs)]);
    await this.#etcd?.stop(disposeGraceMs);
    rmSync(this.#options.description.dir, { recursive: true, force: true, maxRetries: 3 });
    await this.#watchdog[Symbol.asyncDispose]();
  }

  async #startControllerManager(path: string): Promise<void> {
    const { dir } = this.#options.description;
    const program = { name: "kube-controller-manager", path, args: controllerManagerArgs(dir) } as const;
    this.#controllerManager = new Daemon(program, dir);
    const account = "/api/v1/namespaces/default/serviceaccounts/default";
    await this.#until("see the service account default/default", () => this.#answers(account));
  }

  /** Polls until the server is ready; fails when a process ends. */
  async #until(action: string, probe: () => Promise<Probe<true>>): Promise<void> {
    const timeoutMs = this.#options.startTimeoutMs;
    await until(action, () => {
      for (const daemon of [this.#etcd, this.#apiServer, this.#controllerManager]) daemon?.assertRunning();
      return probe();
    }, { timeoutMs, everyMs: 25 });
  }

  async #answers(path: string): Promise<Probe<true>> {
    const { description: { server, token }, ca } = this.#options;
    const answer = await getFromApi(`${server}${path}`, { ca, token });
    switch (answer.kind) {
      case "unreachable":
        return { kind: "pending", state: `the API server was unreachable: ${answer.reason}` };
      case "answered":
        if (answer.status === 200) return { kind: "found", value: true };
        return { kind: "pending", state: `${path} answered ${answer.status}: ${answer.body.trim()}` };
      default:
        return answer satisfies never;
    }
  }
}

function accepts(port: number): Promise<Probe<true>> {
  return new Promise((resolve) => {
    const socket = connect(port, loopback);
    socket.once("connect", () => {
      socket.destroy();
      resolve({ kind: "found", value: true });
    });
    socket.once("error", (error) => resolve({ kind: "pending", state: error.message }));
  });
}
