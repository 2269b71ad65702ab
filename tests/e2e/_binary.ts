/**
 * The compiled binary as a process: a test starts, observes and signals it, and it has always ended after the test.
 *
 * It gets a separate environment, so that the developer's settings (KUBECONFIG, a kubeconfig at home, proxies) cannot
 * affect a test. Its output is stored, so that a test whose wait times out can show it.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, existsSync, openSync } from "node:fs";
import { join, resolve } from "node:path";
import process from "node:process";
import { patienceMs, until } from "../controlplane/mod.ts";

/** Options for starting a binary, besides its arguments. */
export interface StartOptions {
  /** The value of KUBECONFIG. @default none */
  readonly kubeconfig?: string;
  /** Variables on top of PATH and HOME. @default {} */
  readonly env?: Readonly<Record<string, string>>;
  /** A file for its stdout. @default none: the output is stored */
  readonly stdoutFile?: string;
  /** The path of the binary. @default that under test */
  readonly path?: string | undefined;
  /** Its working directory. @default that of the test */
  readonly cwd?: string;
}

/** How a binary ended. */
export interface Ending {
  /** The exit code; 128 plus its number for a signal, as in shells. */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Prints the logs of binaries while tests run, to find the reason of a failure. */
const isLogShown = process.env["PINTLE_E2E_LOG"] === "1";

/** What a command says when the API server takes more than 1.5 s to answer, as on a busy machine. */
const slowServerNotice = /^.*\bWARN +cli +still trying to reach the server .*\n/gm;

const root = join(import.meta.dirname ?? ".", "..", "..");

/** The binary under test: `CONTROLLER_BINARY`, else dist/controller. @throws Error that says how to build it */
export function binaryPath(): string {
  const path = resolve(process.env["CONTROLLER_BINARY"] ?? join(root, "dist", "controller"));
  if (!existsSync(path)) throw new Error(`Cannot test the binary "${path}": it does not exist. Run: ./compile.sh`);
  return path;
}

/** One process of the binary. */
export class Binary implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #args: readonly string[];
  readonly #closed: Promise<number>;
  #code: number | undefined;
  #stdout = "";
  #stderr = "";

  constructor(args: readonly string[], options: StartOptions = {}) {
    const { kubeconfig, env = {}, stdoutFile, cwd, path = binaryPath() } = options;
    this.#args = args;
    const stdout = stdoutFile === undefined ? "pipe" : openSync(stdoutFile, "w");
    this.#child = spawn(path, args, {
      stdio: ["ignore", stdout, "pipe"],
      cwd,
      env: {
        PATH: process.env["PATH"] ?? "",
        HOME: "/nonexistent",
        ...(kubeconfig === undefined ? {} : { KUBECONFIG: kubeconfig }),
        ...env,
      },
    });
    if (typeof stdout === "number") closeSync(stdout); // the child process has a copy
    this.#child.stdout?.setEncoding("utf8").on("data", (text: string) => this.#stdout += text);
    this.#child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr += text;
      if (isLogShown) process.stderr.write(text);
    });
    this.#closed = new Promise((resolve, reject) => {
      this.#child.once("error", reject);
      this.#child.once("close", (code, signal) => {
        this.#code = code ?? 128 + (signal === null ? 0 : 1);
        resolve(this.#code);
      });
    });
  }

  get stdout(): string {
    return this.#stdout;
  }

  get stderr(): string {
    return this.#stderr;
  }

  get isRunning(): boolean {
    return this.#code === undefined;
  }

  /** Sends a signal. It does not use child.kill, whose second call does nothing on Deno. */
  signal(name: "SIGHUP" | "SIGTERM" | "SIGINT" | "SIGKILL" | "SIGSTOP" | "SIGCONT"): void {
    if (this.#child.pid !== undefined && this.isRunning) process.kill(this.#child.pid, name);
  }

  /** Waits until stderr has `pattern`. @throws Error when the process ends first, or the time is up */
  async logged(pattern: RegExp, timeoutMs = patienceMs): Promise<void> {
    await until(`see ${pattern} in the log of ${this.#name}`, () => {
      if (pattern.test(this.#stderr)) return { kind: "found", value: undefined };
      if (!this.isRunning) {
        throw new Error(`Cannot see ${pattern}: ${this.#name} ended with ${this.#code}\n${this.#stderr}`);
      }
      return { kind: "pending", state: `it had said:\n${this.#stderr}` };
    }, { timeoutMs });
  }

  /**
   * Waits until the process ends. Its stderr is without the notice about a slow server.
   *
   * @throws Error when it does not end in time
   */
  async ended(timeoutMs = patienceMs): Promise<Ending> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<never>((_, reject) => {
      const error = () => new Error(`Cannot see ${this.#name} end: after ${timeoutMs} ms it runs\n${this.#stderr}`);
      timer = setTimeout(() => reject(error()), timeoutMs);
    });
    try {
      const code = await Promise.race([this.#closed, late]);
      return { code, stdout: this.#stdout, stderr: this.#stderr.replaceAll(slowServerNotice, "") };
    } finally {
      clearTimeout(timer);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.signal("SIGKILL");
    await this.#closed;
  }

  get #name(): string {
    return `controller ${this.#args.join(" ")}`;
  }
}

/** Runs the binary to its end. */
export async function runBinary(
  args: readonly string[],
  options: StartOptions & { readonly timeoutMs?: number } = {},
): Promise<Ending> {
  await using binary = new Binary(args, options);
  return await binary.ended(options.timeoutMs);
}
