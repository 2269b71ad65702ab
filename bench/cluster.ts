/**
 * The cluster of a case: a new etcd and kube-apiserver, with the Foo CRD and as many Foos as the case needs.
 *
 * No kube-controller-manager runs: it would create Pods for the Deployments of the reconcile case, and use the
 * processors that the measured program needs.
 */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { buildControlPlane, type Component, ControlPlane, until } from "../tests/controlplane/mod.ts";
import { commandOf } from "./programs.ts";
import { loadedLine, type TimedUpdate, updatedLine } from "./protocol.ts";
import { MeasuredProcess } from "./measured_process.ts";
import { type Usage, usageOf } from "./usage.ts";

const crd = join(import.meta.dirname ?? ".", "..", "crds", "samplecontroller.k8s.io_foos.yaml");
const foosPath = "/apis/samplecontroller.k8s.io/v1alpha1/foos";
/** Work of the server after a load or a list (compaction, garbage collection) must not be measured. */
const calmMs = 1_000;

/** A cluster with Foos in it. */
export class Cluster implements AsyncDisposable {
  readonly #controlPlane: ControlPlane;
  #objects = 0;

  private constructor(controlPlane: ControlPlane) {
    this.#controlPlane = controlPlane;
  }

  /** Starts an empty cluster. @param apiServerArgs further flags of kube-apiserver, `--name=value` */
  static async start(apiServerArgs: readonly string[] = []): Promise<Cluster> {
    const built = await buildControlPlane();
    if (built.kind === "unavailable") throw new Error(`Cannot start a cluster: ${built.reason}`);
    const { kubeControllerManager: _, ...binaries } = built.binaries;
    const cluster = new Cluster(await ControlPlane.start({ binaries, manifests: [crd], apiServerArgs }));
    await cluster.#serveKinds();
    await cluster.calm();
    return cluster;
  }

  /** Creates Foos until there are so many. */
  async grow(objects: number): Promise<void> {
    const args = ["load", `--from=${this.#objects}`, `--to=${objects}`];
    loadedLine.parse(JSON.parse(await this.#tool(args)));
    this.#objects = objects;
    await this.calm();
  }

  /** Updates the first Foos in turn. Returns when each update was sent and how long its response took. */
  async update(options: { objects: number; rate: number; count: number }): Promise<readonly TimedUpdate[]> {
    const args = Object.entries(options).map(([name, value]) => `--${name}=${value}`);
    return updatedLine.parse(JSON.parse(await this.#tool(["update", ...args]))).updates;
  }

  /** Starts a program that finds this cluster in its KUBECONFIG. */
  measure(command: readonly string[]): MeasuredProcess {
    return new MeasuredProcess({ command, env: this.#environment });
  }

  /** The CPU time and memory that one of its servers has used. */
  usage(component: Component): Usage {
    const path = join(this.#controlPlane.dir, "run", `${component}.pid`);
    return usageOf(Number(readFileSync(path, "utf8")));
  }

  /** Path of the administrator's kubeconfig. */
  get kubeconfig(): string {
    return this.#controlPlane.kubeconfig;
  }

  /** Stops kube-apiserver and starts it again, on the same port. */
  async restartServer(): Promise<void> {
    await this.#controlPlane.stopApiServer();
    await this.#controlPlane.startApiServer();
  }

  /** Waits until the server is probably idle. */
  async calm(): Promise<void> {
    await sleep(calmMs);
  }

  /** Bytes of JSON that a Foo has on average. */
  async bytesPerObject(): Promise<number> {
    const list = await this.#controlPlane.kubectlOutput(["get", "--raw", `${foosPath}?limit=500`]);
    return Math.round(list.length / Math.min(this.#objects, 500));
  }

  /** Number of Deployments. */
  async deployments(): Promise<number> {
    const text = await this.#controlPlane.kubectlOutput(["get", "--raw", "/apis/apps/v1/deployments?limit=1"]);
    const { items, metadata } = JSON.parse(text);
    return items.length + (metadata.remainingItemCount ?? 0);
  }

  /** The metrics of the API server, in the text format of Prometheus. */
  async serverMetrics(): Promise<string> {
    return await this.#controlPlane.kubectlOutput(["get", "--raw", "/metrics"]);
  }

  /** The server's version. */
  async version(): Promise<string> {
    const { gitVersion } = JSON.parse(await this.#controlPlane.kubectlOutput(["get", "--raw", "/version"]));
    return String(gitVersion);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#controlPlane[Symbol.asyncDispose]();
  }

  get #environment(): Readonly<Record<string, string>> {
    return { KUBECONFIG: this.kubeconfig };
  }

  /**
   * Waits until the kinds are served, which takes a moment after a CRD was applied. The server also fills its cache of a
   * kind at the first request for it, which delays other requests by a second.
   */
  async #serveKinds(): Promise<void> {
    await until("list Foos and Deployments", async () => {
      const { code, stderr } = await this.#controlPlane.kubectl(["get", "foos,deployments", "--all-namespaces"]);
      return code === 0 ? { kind: "found", value: undefined } : { kind: "pending", state: stderr.trim() };
    });
  }

  async #tool(args: readonly string[]): Promise<string> {
    const [path = "", ...rest] = commandOf("go", args);
    const options = { env: this.#environment, maxBuffer: 64 << 20 };
    return (await promisify(execFile)(path, rest, options)).stdout;
  }
}
