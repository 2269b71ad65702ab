/**
 * MemoryProgram: a run of the command line in this process that looks like a process of its own to the cases: it has its own
 * log and output. After SIGKILL its timers do not fire, its requests are not sent, and its output is dropped.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { Clock } from "../../src/async/mod.ts";
import { seededRandom } from "../../src/async/mod.ts";
import { type Operator, operatorCli, type ProcessEnvironment, type ProcessOutput } from "../../src/cli/mod.ts";
import type { Transport } from "../../src/client/mod.ts";
import type { Probe, Program, ProgramResult, RunOptions } from "../cases/environment.ts";

/** Waits for a condition while the clock of the environment advances. */
export type Wait = <T>(action: string, probe: () => Probe<T>, timeoutMs?: number) => Promise<T>;

/** Options of a {@link MemoryProgram}. */
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

/** The program that runs at the moment: log records have one destination per process, and go to this program. */
const current = new AsyncLocalStorage<MemoryProgram>();

type SignalListener = Parameters<NonNullable<ProcessEnvironment["onSignal"]>>[1];

/** One run of the command line. */
export class MemoryProgram implements Program {
  readonly #options: ProgramOptions;
  readonly #signalListeners = new Set<SignalListener>();
  #code: number | undefined;
  #stdout = "";
  #stderr = "";
  #failure: Error | undefined;
  #hasSentRequest = false;

  constructor(options: ProgramOptions) {
    this.#options = options;
    void current.run(this, () => this.#run());
  }

  /** True until the first request: until then the program reads files and loads modules. */
  get isStarting(): boolean {
    return !this.#hasSentRequest && !this.#hasEnded;
  }

  /** True while the program may read and write files. */
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
      if (this.#code === undefined) return { kind: "pending", state: `the log is:\n${this.#stderr}` };
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

  async ended(): Promise<ProgramResult> {
    const code = await this.#options.wait<number>(`see ${this.#name} end`, () => {
      if (this.#code !== undefined) return { kind: "found", value: this.#code };
      return { kind: "pending", state: `the log is:\n${this.#stderr}` };
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
      stderr: this.#writer((text) => current.getStore()?.log(text)),
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

  /** Adds text to the log. */
  log(text: string): void {
    if (!this.#hasEnded) this.#stderr += text;
  }

  #writer(write: (text: string) => void): ProcessOutput {
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

  /** The clock of the environment, until the program ends. The log records of a timer's callback belong to the program. */
  #clock(): Clock {
    const { clock } = this.#options;
    const asProgram = (fire: () => void) => () => {
      if (!this.#hasEnded) current.run(this, fire);
    };
    return {
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      timer: (ms, fire) => clock.timer(ms, asProgram(fire)),
      sleep: async (ms, signal) => {
        await clock.sleep(ms, signal);
        if (this.#hasEnded) await never;
      },
    };
  }

  readonly #transport: Transport = async (request) => {
    if (this.#hasEnded) return await never;
    this.#hasSentRequest = true;
    const response = await this.#options.transport(request);
    if (this.#hasEnded) return await never;
    return new URL(request.url).searchParams.get("watch") === "true" ? this.#untilEnd(response) : response;
  };

  /** A watch delivers nothing after the end of the program. */
  #untilEnd({ body, status, headers }: Response): Response {
    const transform = (chunk: Uint8Array, to: TransformStreamDefaultController<Uint8Array>) => {
      if (!this.#hasEnded) to.enqueue(chunk);
    };
    return new Response(body?.pipeThrough(new TransformStream({ transform })) ?? null, { status, headers });
  }
}

/** The promise that a killed program waits for. */
const never: Promise<never> = new Promise(() => {});
