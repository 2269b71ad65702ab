/**
 * Worker processes: further processes of this same program, for work that needs more than one core. Requests and
 * responses are lines on standard input and standard output.
 *
 * Guarantees: responses arrive in the order of the requests; a worker whose parent is gone ends, also in the middle of a
 * request, because its standard input ends; other output of a worker is dropped. It works in a compiled binary as well as under `deno run`, `bun` and
 * `node`.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import process from "node:process";
import { createInterface } from "node:readline";
import { runtimeName } from "./process.ts";

/** Another process that answers requests. Dispose it to end the process. */
export interface WorkerProcess extends Disposable {
  /**
   * Sends a request. Neither the request nor the response may contain a line break.
   *
   * @returns the response; rejects when the process has ended
   */
  request(line: string): Promise<string>;
}

/** The first character of each response. */
const mark = "\u0002";

/** The number of cores that this process may use. */
export function coreCount(): number {
  return availableParallelism();
}

/** True in a binary that compile.sh made with Bun. */
export function isCompiledByBun(): boolean {
  return runtimeName === "bun" && /[/\\](\$bunfs|~BUN)[/\\]/.test(process.argv[1] ?? "");
}

/** The command that starts this program again, without its arguments. */
export function ownCommand(): readonly string[] {
  const script = process.argv[1] ?? "";
  if (runtimeName === "bun") {
    return isCompiledByBun() ? [process.execPath] : [process.execPath, script];
  }
  // The options of Node are those that load the script: a loader, warnings.
  if (runtimeName === "node") return [process.execPath, ...process.execArgv, script];
  // Under `deno run` the executable is called deno; a compiled binary has the name of its file.
  return /[/\\]deno(\.exe)?$/.test(process.execPath) ? [process.execPath, "run", "-A", script] : [process.execPath];
}

/**
 * Starts a process that calls {@link answerWorkerRequests}.
 *
 * @param env All environment variables of the process.
 */
export function startWorkerProcess(
  command: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): WorkerProcess {
  const [program = "", ...args] = command;
  let isOpen = true;
  let pending: PromiseWithResolvers<string>[] = [];
  const end = (state: string, cause?: Error) => {
    isOpen = false;
    const unanswered = pending;
    pending = [];
    for (const { reject } of unanswered) reject(requestError(program, state, cause));
  };
  const child = start(program, args, env);
  child.once("error", (error) => end(error.message, error));
  child.once("exit", () => end("it has ended"));
  child.stdin?.on("error", (error) => end(error.message));
  // After EMFILE, a child has no streams.
  if (child.stdout) {
    createInterface({ input: child.stdout }).on("line", (line) => {
      if (line.startsWith(mark)) pending.shift()?.resolve(line.slice(mark.length));
    });
  }
  return {
    request(line) {
      if (!isOpen) return Promise.reject(requestError(program, "it has ended"));
      const response = Promise.withResolvers<string>();
      pending.push(response);
      child.stdin?.write(`${line}\n`);
      return response.promise;
    },
    [Symbol.dispose]() {
      child.kill("SIGKILL");
      end("it was disposed");
    },
  };
}

function start(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): ChildProcess {
  return spawn(program, args, { env: { ...env }, shell: false, stdio: ["pipe", "pipe", "ignore"] });
}

function requestError(program: string, state: string, cause?: Error): Error {
  return new Error(`Cannot send request to process "${program}": ${state}`, { cause });
}

/** Runs in the worker: answers the requests of the parent one after the other, until the parent sends no more. */
export async function answerWorkerRequests(answer: (line: string) => Promise<string>): Promise<void> {
  const lines = createInterface({ input: process.stdin });
  // Nobody reads the answer that is being made: the parent has ended.
  lines.once("close", () => process.exit());
  for await (const line of lines) {
    process.stdout.write(`${mark}${await answer(line)}\n`);
  }
}
