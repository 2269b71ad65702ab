/**
 * One server process of the control plane: started in a new session (a Ctrl-C in the terminal reaches only the
 * harness, which then stops it), its output in a log file, its id in `DIR/run/NAME.pid` before the program runs.
 *
 * Guarantees: `stop()` returns when the process has ended. An early end is reported with the last lines of the log.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import type { Component } from "./description.ts";

/** What to run. */
export interface Program {
  readonly name: Component;
  readonly path: string;
  readonly args: readonly string[];
}

const logTailLines = 15;

/** A running server process. */
export class Daemon {
  readonly name: Component;
  /** How the process ended; resolves when it has. */
  readonly exited: Promise<string>;
  readonly #child: ChildProcess;
  readonly #logPath: string;
  #ending: string | undefined;

  /** @param dir The control plane's folder, with `log/` and `run/` in it. */
  constructor(program: Program, dir: string) {
    this.name = program.name;
    this.#logPath = logPath(dir, program.name);
    const pidPath = join(dir, "run", `${program.name}.pid`);
    const log = openSync(this.#logPath, "a");
    this.#child = spawn("/bin/sh", ["-c", 'echo $$ >"$0" && exec "$@"', pidPath, program.path, ...program.args], {
      stdio: ["ignore", log, log],
      detached: true,
      cwd: dir,
    });
    closeSync(log);
    this.exited = new Promise((resolve) => {
      const end = (ending: string) => {
        this.#ending = ending;
        rmSync(pidPath, { force: true });
        resolve(ending);
      };
      this.#child.once("error", (error) => end(error.message));
      this.#child.once(
        "exit",
        (code, signal) => end(signal === null ? `exited with code ${code}` : `ended by ${signal}`),
      );
    });
  }

  /** @throws Error with the end of the log when the process is no longer running. */
  assertRunning(): void {
    if (this.#ending === undefined) return;
    throw new Error(`Cannot keep ${this.name} running: ${this.#ending}; the end of its log:\n${this.#logTail()}`);
  }

  /** Ends the process: SIGTERM, and SIGKILL when it has not gone after `graceMs`. */
  async stop(graceMs: number): Promise<void> {
    this.#signal("SIGTERM");
    const kill = setTimeout(() => this.#signal("SIGKILL"), graceMs);
    await this.exited;
    clearTimeout(kill);
  }

  /** Not by child.kill: on Deno its second call does nothing, and the exit event then claims the signal, not the code. */
  #signal(signal: "SIGTERM" | "SIGKILL"): void {
    if (this.#ending === undefined && this.#child.pid !== undefined) process.kill(this.#child.pid, signal);
  }

  #logTail(): string {
    return readFileSync(this.#logPath, "utf8").trimEnd().split("\n").slice(-logTailLines).join("\n");
  }
}

/** The log file of a component. */
export function logPath(dir: string, name: Component): string {
  return join(dir, "log", `${name}.log`);
}
