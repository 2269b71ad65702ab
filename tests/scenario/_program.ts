/**
 * A run of the command line in this process, as cases see a process: it has a log and an output of its own, and SIGKILL
 * leaves it no time for anything: its clock stands, its requests go nowhere, and nobody hears it any more.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { Clock } from "../../src/async/mod.ts";
import { seededRandom } from "../../src/async/mod.ts";
import { type Operator, operatorCli, type ProcessEnvironment } from "../../src/cli/mod.ts";
import type { Transport } from "../../src/client/mod.ts";
import type { Ending, Probe, Program, RunOptions } from "../cases/site.ts";

/** Waits as the site does: time passes meanwhile. */
export type Wait = <T>(action: string, probe: () => Probe<T>, timeoutMs?: number) => Promise<T>;

/** What a program is run with. */
export interface ProgramOptions {
  readonly operator: Operator;
  readonly args: readonly string[];
  readonly kubeconfig: string;
  readonly transport: Transport;
  readonly clock: Clock;
  readonly seed: number;
  readonly wait: Wait;
  readonly stdout?: RunOptions["stdout"];
}

/** Log records go to one place in a process: whoever runs when one is written gets it, nobody else does. */
const current = new AsyncLocalStorage<MemoryProgram>();

type SignalListener = Parameters<ProcessEnvironment["onSignal"]>[1];

/** One run. */
export class MemoryProgram implements Program {
  readonly #options: ProgramOptions;
  readonly #signalListeners = new Set<SignalListener>();
  #code: number | undefined;
  #stdout = "";
  #stderr = "";
  #failure: Error | undefined;
  #hasAsked = false;

  constructor(options: ProgramOptions) {
    this.#options = options;
    void current.run(this, () => this.#run());
  }

  /** True until it has asked the server anything: it reads files, and what it needs is loaded. */
  get isStarting(): boolean {
    return !this.#hasAsked && !this.#hasEnded;
  }

  /** True while it may read and write files of its own. */
  get usesFiles(): boolean {
    return this.#options.args.includes("--known") && !this.#hasEnded;
  }

  get stdout(): string {
    return this.#stdout;
  }

  get stderr(): string {
    return this.#stderr;
  }

  async logged(pattern: RegExp, timeoutMs?: number): Promise<void> {
    await this.#options.wait(`see ${pattern} in the log of ${this.#name}`, () => {
      if (pattern.test(this.#stderr)) return { kind: "found", value: undefined };
      if (this.#code === undefined) return { kind: "pending", state: `it had said:\n${this.#stderr}` };
      throw new Error(`Cannot see ${pattern}: ${this.#name} ended with ${this.#code}\n${this.#stderr}`);
    }, timeoutMs);
  }

  signal(name: "SIGTERM" | "SIGKILL"): void {
    if (name === "SIGKILL") return this.#end(137);
    if (this.#signalListeners.size === 0) return this.#end(143);
    current.run(this, () => {
      for (const listener of this.#signalListeners) listener(name);
    });
  }

  async ended(): Promise<Ending> {
    const code = await this.#options.wait<number>(`see ${this.#name} end`, () => {
      if (this.#code !== undefined) return { kind: "found", value: this.#code };
      return { kind: "pending", state: `it had said:\n${this.#stderr}` };
    });
    return { code, stdout: this.#stdout, stderr: this.#stderr };
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.signal("SIGKILL");
    return Promise.resolve();
  }

  get #name(): string {
    return `controller ${this.#options.args.join(" ")}`;
  }

  get #hasEnded(): boolean {
    return this.#code !== undefined;
  }

  async #run(): Promise<void> {
    const { operator, args, kubeconfig, seed } = this.#options;
    const code = await operatorCli(operator, {
      args,
      environment: { HOME: "/nonexistent", KUBECONFIG: kubeconfig },
      stdin: { isTerminal: false, readLine: () => Promise.resolve(undefined) },
      stdout: this.#writer((text) => this.#print(text)),
      stderr: this.#writer((text) => current.getStore()?.say(text)),
      clock: this.#clock(),
      random: seededRandom(seed),
      transport: this.#transport,
      onSignal: (_signals, listener) => {
        this.#signalListeners.add(listener);
        return { [Symbol.dispose]: () => void this.#signalListeners.delete(listener) };
      },
      onUnhandledRejection: () => ({ [Symbol.dispose]: () => {} }),
    });
    this.#end(code);
  }

  #end(code: number): void {
    this.#code ??= code;
  }

  #print(text: string): void {
    if (this.#hasEnded) return;
    if (this.#options.stdout === "full") this.#failure = new Error("ENOSPC: no space left on device, write");
    else this.#stdout += text;
  }

  /** Adds to the log. */
  say(text: string): void {
    if (!this.#hasEnded) this.#stderr += text;
  }

  #writer(write: (text: string) => void): ProcessEnvironment["stdout"] {
    const failure = () => this.#failure;
    return {
      write: (text) => {
        write(text);
        return failure() === undefined;
      },
      flush: () => Promise.resolve(),
      get isOpen() {
        return failure() === undefined;
      },
      get failure() {
        return failure();
      },
      isTerminal: false,
      columns: undefined,
    };
  }

  /** The site's clock, which stands for a program that has ended; what a timer starts belongs to the program. */
  #clock(): Clock {
    const { clock } = this.#options;
    const mine = (fire: () => void) => () => {
      if (!this.#hasEnded) current.run(this, fire);
    };
    return {
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      timer: (ms, fire) => clock.timer(ms, mine(fire)),
      sleep: async (ms, signal) => {
        await clock.sleep(ms, signal);
        if (this.#hasEnded) await never;
      },
    };
  }

  readonly #transport: Transport = async (request) => {
    if (this.#hasEnded) return await never;
    this.#hasAsked = true;
    const response = await this.#options.transport(request);
    if (this.#hasEnded) return await never;
    return new URL(request.url).searchParams.get("watch") === "true" ? this.#cuttable(response) : response;
  };

  /** What is watched ends with the program. */
  #cuttable({ body, status, headers }: Response): Response {
    const passOn = (chunk: Uint8Array, to: TransformStreamDefaultController<Uint8Array>) => {
      if (!this.#hasEnded) to.enqueue(chunk);
    };
    return new Response(body?.pipeThrough(new TransformStream({ transform: passOn })) ?? null, { status, headers });
  }
}

/** What somebody waits for who was killed. */
const never: Promise<never> = new Promise(() => {});
