/** A process of the compiled binary during a soak: its output goes to a file, its metrics have a port of their own. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../free_port.ts";
import { type ProcessSample, sampleOf } from "./sample.ts";

const binary = join(import.meta.dirname ?? ".", "..", "..", "dist", "controller");

/** What to run. */
export interface ProgramOptions {
  /** Of the log file, and in errors. */
  readonly name: string;
  readonly args: readonly string[];
  readonly kubeconfig: string;
  /** The folder of the log files. */
  readonly dir: string;
}

export class Program implements AsyncDisposable {
  readonly name: string;
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;
  readonly #log: string;
  readonly #metricsUrl: string;

  private constructor(options: ProgramOptions, port: number) {
    const { name, args, kubeconfig, dir } = options;
    this.name = name;
    this.#log = join(dir, `${name}.log`);
    this.#metricsUrl = `http://127.0.0.1:${port}/metrics`;
    const log = openSync(this.#log, "w");
    const all = ["run", ...args, "--metrics-bind-address", `127.0.0.1:${port}`];
    this.#child = spawn(binary, all, {
      stdio: ["ignore", log, log],
      env: { PATH: process.env["PATH"] ?? "", HOME: dir, KUBECONFIG: kubeconfig },
    });
    closeSync(log);
    this.#ended = once(this.#child, "exit");
  }

  static async start(options: ProgramOptions): Promise<Program> {
    return new Program(options, await freePort());
  }

  /** Its log so far. */
  get log(): string {
    return readFileSync(this.#log, "utf8");
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** @throws Error when it has ended by itself */
  async sample(): Promise<ProcessSample | undefined> {
    if (!this.isRunning) throw new Error(`Cannot measure ${this.name}: it has ended\n${this.log.slice(-2_000)}`);
    return await sampleOf(this.#child.pid ?? 0, this.#metricsUrl);
  }

  /** Waits for a line of its log. @returns what the pattern found. @throws Error when it ends instead */
  async logged(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const found = pattern.exec(this.log);
      if (found !== null) return found;
      if (!this.isRunning) throw new Error(`Cannot see ${pattern}: ${this.name} has ended\n${this.log.slice(-2_000)}`);
      await sleep(100);
    }
  }

  /** Ends it as a failing machine does. */
  async kill(): Promise<void> {
    if (this.isRunning) this.#child.kill("SIGKILL");
    await this.#ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }
}
