/**
 * A developer who follows the README on a machine for kind: a clone of the repository as the working folder, the compiled
 * binary as `controller`, and a home folder without settings.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, copyFileSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { binaryPath } from "../e2e/_binary.ts";
import { copyRepository } from "../readme_blocks.ts";
import { until } from "../controlplane/poll.ts";
import type { CommandOptions, Ended, Machine } from "./machine.ts";

/** The developer. */
export class User {
  readonly #machine: Machine;
  readonly #clone: string;

  constructor(machine: Machine) {
    this.#machine = machine;
    this.#clone = join(machine.dir, "home", "clone");
    copyRepository(this.#clone);
    mkdirSync(join(this.#clone, "dist"), { recursive: true });
    copyFileSync(binaryPath(), join(this.#clone, "dist", "controller"));
    const program = join(machine.dir, "bin", "controller");
    if (!existsSync(program)) writeFileSync(program, `#!/bin/sh\nexec '${this.#clone}/dist/controller' "$@"\n`);
    chmodSync(program, 0o755);
  }

  /** Runs a line of a shell to its end; the caller checks the exit code. */
  async shell(line: string, options: CommandOptions = {}): Promise<Ended> {
    return await this.#machine.run(["bash", "-euo", "pipefail", "-c", line], { cwd: this.#clone, ...options });
  }

  /** Runs kubectl and returns what it printed. @throws Error with its stderr when it fails */
  async kubectl(args: readonly string[], stdin?: string): Promise<string> {
    const { code, stdout, stderr } = await this.tryKubectl(args, stdin);
    if (code !== 0) throw new Error(`Cannot run kubectl ${args.join(" ")}: exit code ${code}\n${stderr.trim()}`);
    return stdout;
  }

  /** Runs kubectl; the caller checks the exit code. */
  async tryKubectl(args: readonly string[], stdin = ""): Promise<Ended> {
    return await this.#machine.run(["kubectl", ...args], { stdin });
  }

  /** Starts a line that runs until Ctrl-C. */
  start(line: string): EndlessLine {
    // `exec`: the signal of Ctrl-C is sent to the program itself.
    const [program, ...args] = this.#machine.command(["bash", "-c", `exec ${line}`]);
    const env = { ...process.env, ...this.#machine.environment };
    return new EndlessLine(spawn(program, args, { cwd: this.#clone, env, stdio: ["ignore", "pipe", "pipe"] }));
  }
}

/** A line that runs. It has ended when it is disposed. */
export class EndlessLine implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #ended: Promise<number>;
  #code: number | undefined;
  #output = "";

  constructor(child: ChildProcess) {
    this.#child = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => this.#output += text);
    }
    this.#ended = new Promise((resolve) => child.once("close", (code) => resolve(this.#code = code ?? 1)));
  }

  /** All that it has printed. */
  get output(): string {
    return this.#output;
  }

  /** Waits until it has printed the text. */
  async printed(pattern: RegExp): Promise<void> {
    await until(`see ${pattern} in the output`, () => {
      if (pattern.test(this.#output)) return { kind: "found", value: undefined };
      if (this.#code !== undefined) throw new Error(`Cannot go on: it ended with ${this.#code}\n${this.#output}`);
      return { kind: "pending", state: this.#output };
    });
  }

  /** Ctrl-C. @returns The exit code */
  async interrupt(): Promise<number> {
    if (this.#child.pid !== undefined) process.kill(this.#child.pid, "SIGINT");
    return await this.#ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#code === undefined && this.#child.pid !== undefined) process.kill(this.#child.pid, "SIGKILL");
    await this.#ended;
  }
}
