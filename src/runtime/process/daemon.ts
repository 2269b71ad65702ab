/**
 * Daemon: a server process that belongs to this process, such as etcd of a test: started in a new session (a Ctrl-C in the
 * terminal reaches only this process, which then stops it), its output in `FOLDER/log/NAME.log`, its id in
 * `FOLDER/run/NAME.pid` before the program runs. The Watchdog of the folder ends it if this process is killed.
 *
 * Guarantees: `stop()` returns when the process has ended. An early end is reported with the last lines of the log.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { clearTimeout, setTimeout } from "node:timers";

/** What a {@link Daemon} runs. */
export interface DaemonProgram {
  /** The name of its log file and of its process id file. */
  readonly name: string;
  readonly path: string;
  readonly args: readonly string[];
}

const logTailLines = 15;

/** A running server process. */
export class Daemon {
  readonly name: string;
  /** How the process ended; resolves when it has. */
  readonly exited: Promise<string>;
  readonly #child: ChildProcess;
  readonly #logPath: string;
  #ending: string | undefined;

  /** Starts the program. @param dir The folder, with `log/` and `run/` in it. */
  constructor(program: DaemonProgram, dir: string) {
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

/** The log file of a daemon. */
export function logPath(dir: string, name: string): string {
  return join(dir, "log", `${name}.log`);
}
