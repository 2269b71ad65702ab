/**
 * MemoryEnvironment: runs the cases of `tests/cases` on an API server in memory, with the command line in this process.
 *
 * Guarantees: nothing sleeps and no socket is opened. The virtual clock advances only while a case waits for a condition.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Namespace } from "../../src/api/mod.ts";
import { type KubernetesApi, kubernetesApi } from "../../src/apiserver/mod.ts";
import { type Random, seededRandom, VirtualClock } from "../../src/async/mod.ts";
import type { Operator } from "../../src/cli/mod.ts";
import { subcommands } from "../../src/cli/operator_cli.ts";
import { Client } from "../../src/client/mod.ts";
import { RequestTracker, SimulatedCluster } from "../../src/cluster/mod.ts";
import { ecsbindingController } from "../../src/controllers/ecsbinding/mod.ts";
import { fooController } from "../../src/controllers/foo/mod.ts";
import { ingressController } from "../../src/controllers/ingress/mod.ts";
import { nodepoolController, nodepoolWebhooks } from "../../src/controllers/nodepool/mod.ts";
import { podsController } from "../../src/controllers/pods/mod.ts";
import { withWebhooks } from "../../src/mod.ts";
import type { Case, CaseEnvironment, Probe, ProgramResult, RecordingProxy, RunOptions } from "../cases/environment.ts";
import { test } from "../testing.ts";
import { MemoryProgram } from "./_program.ts";
import { MemoryProxy } from "./_memory_proxy.ts";

// Loads the lazily loaded modules now, so that no run waits for a file.
await Promise.all(subcommands.map(({ load }) => load()));

/** The program `controller` as in main.ts. */
const operator: Operator = {
  name: "controller",
  version: "1.0.0",
  controllers: [
    fooController,
    podsController,
    ecsbindingController,
    withWebhooks(nodepoolController, nodepoolWebhooks),
    ingressController,
  ],
};

/** A valid kubeconfig that is not used: the transport is passed to the program. */
const kubeconfig = JSON.stringify({
  apiVersion: "v1",
  kind: "Config",
  "current-context": "memory",
  contexts: [{ name: "memory", context: { cluster: "memory", user: "memory" } }],
  clusters: [{ name: "memory", cluster: { server: "https://in.memory" } }],
  users: [{ name: "memory", user: {} }],
});

/** The largest step of the clock, so that conditions are checked often enough. */
const maxStepMs = 1_000;

/** Disk writes to wait for while a program has not sent its first request. */
const maxStartWrites = 500;

/** The environment of one case, with its own cluster. */
export class MemoryEnvironment implements CaseEnvironment, AsyncDisposable {
  readonly client: Client;
  readonly suffix: string;
  readonly namespace: string;
  readonly folder: string;
  readonly #clock = new VirtualClock();
  readonly #random: Random;
  readonly #api: KubernetesApi;
  readonly #requests: RequestTracker;
  readonly #proxies = new Map<RecordingProxy, MemoryProxy>();
  readonly #programs: MemoryProgram[] = [];
  readonly #undo: (() => Promise<unknown>)[] = [];
  readonly #stop = new AbortController();
  readonly #failures: unknown[] = [];
  #cluster: Promise<void> = Promise.resolve();
  #writesAtStart = 0;

  private constructor(folder: string, seed: number) {
    this.folder = folder;
    this.#random = seededRandom(seed);
    this.suffix = Math.floor(this.#random.next() * 2 ** 32).toString(16).padStart(8, "0");
    this.namespace = `test-${this.suffix}`;
    const onError = (error: unknown) => void this.#failures.push(error);
    this.#api = kubernetesApi({ clock: this.#clock, random: this.#random, onError });
    this.#requests = new RequestTracker(this.#api.server.fetch);
    this.client = new Client(this.#requests.fetch, { clock: this.#clock });
  }

  /** Opens an environment. @param needs the parts of a cluster that the case needs beside the API server */
  static async open(needs: Case["needs"], seed = 1): Promise<MemoryEnvironment> {
    const environment = new MemoryEnvironment(await mkdtemp(join(tmpdir(), "pintle-case-")), seed);
    await writeFile(environment.#kubeconfig, kubeconfig);
    await environment.client.create(Namespace, { metadata: { name: environment.namespace }, spec: {} });
    if (needs !== undefined) environment.#runCluster();
    return environment;
  }

  async call(args: readonly string[]): Promise<ProgramResult> {
    await using program = this.#start(args);
    return await program.ended();
  }

  run(args: readonly string[], options?: RunOptions): MemoryProgram {
    return this.#start(["run", ...args], options);
  }

  startProxy(): Promise<RecordingProxy> {
    const proxy = new MemoryProxy({ to: this.#requests.fetch, now: () => this.#clock.monotonic(), wait: this.#wait });
    this.#proxies.set(proxy, proxy);
    return Promise.resolve(proxy);
  }

  async until<T>(action: string, probe: () => Probe<T> | Promise<Probe<T>>, timeoutMs = 30_000): Promise<T> {
    const deadline = this.#clock.monotonic() + timeoutMs;
    while (true) {
      await this.#requests.idle();
      const [failure] = this.#failures;
      if (failure !== undefined) {
        throw new Error(`Cannot ${action}: the server or the cluster has failed`, { cause: failure });
      }
      const result = await probe();
      if (result.kind === "found") return result.value;
      const leftMs = deadline - this.#clock.monotonic();
      if (leftMs <= 0) throw new Error(`Cannot ${action} within ${timeoutMs} ms: ${result.state}`);
      if (await this.#hasWaitedForFiles()) continue;
      await this.#clock.advance(Math.min(this.#clock.nextTimerInMs ?? maxStepMs, maxStepMs, leftMs));
    }
  }

  after(undo: () => Promise<unknown>): void {
    this.#undo.push(undo);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const undo of this.#undo.toReversed()) await undo();
    for (const program of this.#programs) program.signal("SIGKILL");
    this.#stop.abort();
    await this.#wait("stop the cluster", () => ({ kind: "found", value: undefined }));
    this.#api.server[Symbol.dispose]();
    await this.#cluster;
    for (const path of [this.folder, this.#kubeconfig, `${this.#kubeconfig}.wait`]) {
      await rm(path, { recursive: true, force: true });
    }
  }

  get #kubeconfig(): string {
    return `${this.folder}.kubeconfig`;
  }

  /**
   * Waits for the files of the programs, which the virtual clock does not control: it writes a file too, which takes about as
   * long. @returns true when the clock must not advance yet
   */
  async #hasWaitedForFiles(): Promise<boolean> {
    const isStarting = this.#programs.some((program) => program.isStarting);
    if (isStarting && this.#writesAtStart++ < maxStartWrites) {
      await writeFile(`${this.#kubeconfig}.wait`, "", { flush: true });
      return true;
    }
    this.#writesAtStart = 0;
    if (!this.#programs.some((program) => program.usesFiles)) return false;
    for (let turn = 0; turn < 20; turn++) await writeFile(`${this.#kubeconfig}.wait`, "", { flush: true });
    return false;
  }

  readonly #wait = <T>(action: string, probe: () => Probe<T>, timeoutMs?: number): Promise<T> =>
    this.until(action, probe, timeoutMs);

  #start(args: readonly string[], { proxy, stdout }: RunOptions = {}): MemoryProgram {
    const transport = proxy === undefined ? this.#requests.fetch : this.#proxies.get(proxy)?.transport;
    if (transport === undefined) throw new Error("Cannot use the proxy: it belongs to another environment");
    const seed = this.#programs.length + 1;
    const [clock, wait] = [this.#clock, this.#wait];
    const program = new MemoryProgram({
      ...{ operator, args, kubeconfig: this.#kubeconfig, transport, clock, seed, wait },
      stdout,
    });
    this.#programs.push(program);
    return program;
  }

  /** Runs the controllers of kube-controller-manager. There are no nodes: the cases create them. */
  #runCluster(): void {
    const { signal } = this.#stop;
    const parts = { client: this.client, clock: this.#clock, random: this.#random };
    const cluster = new SimulatedCluster({ ...parts, storage: this.#api.server.storage, nodes: 0 });
    this.#cluster = cluster.run({ stop: signal, kill: signal }).catch((error: unknown) => {
      if (!signal.aborted) this.#failures.push(error);
    });
  }
}

/** Registers the cases of a controller as tests. @param kinds whose CRDs are installed first */
export function memoryTests(cases: readonly Case[], ...kinds: readonly string[]): void {
  for (const { name, needs, run } of cases) {
    test(name, async () => {
      await using environment = await MemoryEnvironment.open(needs);
      if (kinds.length > 0) {
        const { code, stderr } = await environment.call(["install-crds", ...kinds]);
        if (code !== 0) throw new Error(`Cannot install CRDs: ${stderr}`);
      }
      await run(environment);
    });
  }
}
