/**
 * MemorySite: cases on an API server in memory, with the command line in this process. See `tests/cases/site.ts`.
 *
 * Guarantees: nobody sleeps and no socket is opened; time passes only while a case waits for something, and then as fast as
 * what it starts is done.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Namespace } from "../../src/api/mod.ts";
import { type KubernetesApi, kubernetesApi } from "../../src/apiserver/mod.ts";
import { type Random, seededRandom, VirtualClock } from "../../src/async/mod.ts";
import { Client } from "../../src/client/mod.ts";
import { SimulatedCluster } from "../../src/cluster/mod.ts";
import { Traffic } from "../../src/simulation/mod.ts";
import type { Case, Ending, Probe, RunOptions, Site, Wire } from "../cases/site.ts";
import { test } from "../testing.ts";
import { operator } from "./_operator.ts";
import { MemoryProgram } from "./_program.ts";
import { MemoryWire } from "./_wire.ts";

/** Of no use to anybody: the server is not asked over it. */
const kubeconfig = JSON.stringify({
  apiVersion: "v1",
  kind: "Config",
  "current-context": "memory",
  contexts: [{ name: "memory", context: { cluster: "memory", user: "memory" } }],
  clusters: [{ name: "memory", cluster: { server: "https://in.memory" } }],
  users: [{ name: "memory", user: {} }],
});

/** Time moves on in steps of this at most, so that cases look often enough. */
const longestStepMs = 1_000;

/** Writes to a disk that a program may take until it has asked the server something. */
const startingWrites = 500;

/** One case's view of a cluster of its own. */
export class MemorySite implements Site, AsyncDisposable {
  readonly client: Client;
  readonly suffix: string;
  readonly namespace: string;
  readonly folder: string;
  readonly #clock = new VirtualClock();
  readonly #random: Random;
  readonly #api: KubernetesApi;
  readonly #traffic: Traffic;
  readonly #wires = new Map<Wire, MemoryWire>();
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
    this.#traffic = new Traffic(this.#api.server.fetch);
    this.client = new Client(this.#traffic.fetch, { clock: this.#clock });
  }

  /** @param needs what of a cluster there is besides the API server */
  static async open(needs: Case["needs"], seed = 1): Promise<MemorySite> {
    const site = new MemorySite(await mkdtemp(join(tmpdir(), "pintle-case-")), seed);
    await writeFile(site.#kubeconfig, kubeconfig);
    await site.client.create(Namespace, { metadata: { name: site.namespace }, spec: {} });
    if (needs !== undefined) site.#runCluster();
    return site;
  }

  async call(args: readonly string[]): Promise<Ending> {
    await using program = this.#start(args);
    return await program.ended();
  }

  run(args: readonly string[], options?: RunOptions): MemoryProgram {
    return this.#start(["run", ...args], options);
  }

  wire(): Promise<Wire> {
    const wire = new MemoryWire({ to: this.#traffic.fetch, now: () => this.#clock.monotonic(), wait: this.#wait });
    this.#wires.set(wire, wire);
    return Promise.resolve(wire);
  }

  async until<T>(action: string, probe: () => Probe<T> | Promise<Probe<T>>, timeoutMs = 30_000): Promise<T> {
    const deadline = this.#clock.monotonic() + timeoutMs;
    while (true) {
      await this.#traffic.rest();
      const [failure] = this.#failures;
      if (failure !== undefined) throw new Error(`Cannot ${action}: a part of the site has failed`, { cause: failure });
      const seen = await probe();
      if (seen.kind === "found") return seen.value;
      const leftMs = deadline - this.#clock.monotonic();
      if (leftMs <= 0) throw new Error(`Cannot ${action} within ${timeoutMs} ms: ${seen.state}`);
      if (await this.#hasWaitedForFiles()) continue;
      await this.#clock.advance(Math.min(this.#clock.nextTimerInMs ?? longestStepMs, longestStepMs, leftMs));
    }
  }

  after(undo: () => Promise<unknown>): void {
    this.#undo.push(undo);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const undo of this.#undo.toReversed()) await undo();
    for (const program of this.#programs) program.signal("SIGKILL");
    this.#stop.abort();
    await this.#wait("see the cluster end", () => ({ kind: "found", value: undefined }));
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
   * Files are the one thing outside of the clock: while programs may be at them, a file is written too, which takes about as
   * long as theirs. @returns true where time should not move on yet
   */
  async #hasWaitedForFiles(): Promise<boolean> {
    const isStarting = this.#programs.some((program) => program.isStarting);
    if (isStarting && this.#writesAtStart++ < startingWrites) {
      await writeFile(`${this.#kubeconfig}.wait`, "", { flush: true });
      return true;
    }
    this.#writesAtStart = 0;
    if (!this.#programs.some((program) => program.usesFiles)) return false;
    for (let turn = 0; turn < 2; turn++) await writeFile(`${this.#kubeconfig}.wait`, "", { flush: true });
    return false;
  }

  readonly #wait = <T>(action: string, probe: () => Probe<T>, timeoutMs?: number): Promise<T> =>
    this.until(action, probe, timeoutMs);

  #start(args: readonly string[], { wire, stdout }: RunOptions = {}): MemoryProgram {
    const transport = wire === undefined ? this.#traffic.fetch : this.#wires.get(wire)?.transport;
    if (transport === undefined) throw new Error("Cannot run on a wire: it is another site's");
    const seed = this.#programs.length + 1;
    const [clock, wait] = [this.#clock, this.#wait];
    const program = new MemoryProgram({
      ...{ operator, args, kubeconfig: this.#kubeconfig, transport, clock, seed, wait },
      stdout,
    });
    this.#programs.push(program);
    return program;
  }

  /** What a kube-controller-manager does. There are no nodes: cases play those themselves. */
  #runCluster(): void {
    const { signal } = this.#stop;
    const parts = { client: this.client, clock: this.#clock, random: this.#random };
    const cluster = new SimulatedCluster({ ...parts, nodes: 0 });
    this.#cluster = cluster.run({ stop: signal, kill: signal }).catch((error: unknown) => {
      if (!signal.aborted) this.#failures.push(error);
    });
  }
}

/** Registers the cases of a controller as tests. @param kinds those whose CRDs are needed */
export function memoryTests(cases: readonly Case[], ...kinds: readonly string[]): void {
  for (const { name, needs, run } of cases) {
    test(name, async () => {
      await using site = await MemorySite.open(needs);
      if (kinds.length > 0) {
        const { code, stderr } = await site.call(["install-crds", ...kinds]);
        if (code !== 0) throw new Error(`Cannot install CRDs: ${stderr}`);
      }
      await run(site);
    });
  }
}
