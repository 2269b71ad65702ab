/**
 * Programs: the processes of one run. Each is a process group, which is killed at the end, and its output is kept for
 * messages.
 */
import { type ChildProcess, spawn } from "node:child_process";
import process from "node:process";

/** How a program is started. */
export interface StartOptions {
  /** Variables on top of this process's own. */
  readonly env: Readonly<Record<string, string>>;
  /** The line on stdout that says that it is ready. @default it counts as ready at once */
  readonly readyLine?: string;
}

const keptLength = 4_000;

/** Starts programs, and kills them when it is disposed. */
export class Programs implements Disposable {
  readonly #children: ChildProcess[] = [];
  #output = "";

  /** The end of what all programs have printed. */
  get lastLines(): string {
    return this.#output.trim();
  }

  /** Starts a program. @throws Error when it ends before it is ready */
  async start([path = "", ...args]: readonly string[], { env, readyLine }: StartOptions): Promise<ChildProcess> {
    const child = spawn(path, args, {
      ...{ env: { ...process.env, ...env }, detached: true },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#children.push(child);
    const ready = Promise.withResolvers<void>();
    const keep = (text: string) => {
      this.#output = (this.#output + text).slice(-keptLength);
      if (readyLine !== undefined && text.includes(readyLine)) ready.resolve();
    };
    child.stdout?.setEncoding("utf8").on("data", keep);
    child.stderr?.setEncoding("utf8").on("data", keep);
    child.once("error", ready.reject);
    child.once("exit", () => ready.reject(new Error(`Cannot start ${path}: it has ended\n${this.lastLines}`)));
    if (readyLine === undefined) ready.resolve();
    await ready.promise;
    return child;
  }

  [Symbol.dispose](): void {
    for (const { pid, exitCode } of this.#children) {
      if (pid === undefined || exitCode !== null) continue;
      try {
        process.kill(-pid, "SIGKILL");
      } catch {
        // It has ended in the meantime.
      }
    }
  }
}
