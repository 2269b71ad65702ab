/**
 * Twins: further processes of this very program, for work that one core is too slow for. They are asked in lines and answer
 * in lines, over standard input and output.
 *
 * Guarantees: answers come in the order of the questions; a twin whose parent is gone ends, since nothing asks it any more;
 * what a twin prints otherwise is no answer and is dropped. Works in a compiled binary as well as under `deno run` and `bun`.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import process from "node:process";
import { createInterface } from "node:readline";
import { runtimeName } from "./runtime_name.ts";

/** Another process that answers. Leaving it ends it. */
export interface Twin extends Disposable {
  /** @returns the answer; rejects once the process has ended. Neither may hold a line break */
  ask(line: string): Promise<string>;
}

/** What an answer begins with. */
const mark = "\u0002";

/** Cores that this process may use. */
export function coreCount(): number {
  return availableParallelism();
}

/** The words that start this program once more, without its arguments. */
export function ownCommand(): readonly string[] {
  const script = process.argv[1] ?? "";
  if (runtimeName === "bun") {
    return /[/\\](\$bunfs|~BUN)[/\\]/.test(script) ? [process.execPath] : [process.execPath, script];
  }
  // Deno's own programs are called so whatever the file is called that they are in.
  return /[/\\]deno(\.exe)?$/.test(process.execPath) ? [process.execPath, "run", "-A", script] : [process.execPath];
}

/** Starts a process that calls {@link answerTwin}. @param env all variables that it gets */
export function startTwin(command: readonly string[], env: Readonly<Record<string, string | undefined>>): Twin {
  const [program = "", ...args] = command;
  let open = true;
  let waiting: PromiseWithResolvers<string>[] = [];
  const end = (why: string) => {
    open = false;
    const left = waiting;
    waiting = [];
    for (const { reject } of left) reject(new Error(`Cannot ask process "${program}": ${why}`));
  };
  const child = started(program, args, env);
  child.once("error", (error) => end(error.message));
  child.once("exit", () => end("it has ended"));
  child.stdin?.on("error", (error) => end(error.message));
  if (child.stdout !== null) {
    createInterface({ input: child.stdout }).on("line", (line) => {
      if (line.startsWith(mark)) waiting.shift()?.resolve(line.slice(mark.length));
    });
  }
  return {
    ask(line) {
      if (!open) return Promise.reject(new Error(`Cannot ask process "${program}": it has ended`));
      const answer = Promise.withResolvers<string>();
      waiting.push(answer);
      child.stdin?.write(`${line}\n`);
      return answer.promise;
    },
    [Symbol.dispose]() {
      child.kill("SIGKILL");
      end("it was told to end");
    },
  };
}

function started(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): ChildProcess {
  return spawn(program, args, { env: { ...env }, shell: false, stdio: ["pipe", "pipe", "ignore"] });
}

/** Answers whoever started this process, one question after the other, until nobody asks any more. */
export async function answerTwin(answer: (line: string) => Promise<string>): Promise<void> {
  for await (const line of createInterface({ input: process.stdin })) {
    process.stdout.write(`${mark}${await answer(line)}\n`);
  }
}
