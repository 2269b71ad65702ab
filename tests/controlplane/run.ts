/**
 * Runs a short-lived program to its end and returns its output. A missing program is a result and not an error;
 * the caller checks the exit code.
 */
import { spawn } from "node:child_process";
import process from "node:process";

/** The result of a program. */
export type RunResult =
  | { readonly kind: "missing" }
  | { readonly kind: "ended"; readonly code: number; readonly stdout: string; readonly stderr: string };

/** Options for running a program. */
export interface RunOptions {
  /** @default this process's own */
  readonly cwd?: string;
  /** Variables on top of this process's own. @default {} */
  readonly env?: Readonly<Record<string, string>>;
  /** Its stdin. @default empty */
  readonly stdin?: string;
  /** Gets all of its stdout so far whenever there is more; `end` ends the program with SIGKILL. @default nothing */
  readonly onStdout?: (stdout: string, end: () => void) => void;
}

/** Runs `path` with `args`; a signal that ended it counts as code 1. */
export function run(path: string, args: readonly string[], options: RunOptions = {}): Promise<RunResult> {
  const child = spawn(path, args, { cwd: options.cwd, env: { ...process.env, ...options.env } });
  let [stdout, stderr] = ["", ""];
  const end = () => void child.kill("SIGKILL");
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
    options.onStdout?.(stdout, end);
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => stderr += text);
  child.stdin.on("error", () => {}); // it may end without reading its input
  child.stdin.end(options.stdin ?? "");
  return new Promise((resolve) => {
    child.once("error", () => resolve({ kind: "missing" }));
    child.once("close", (code) => resolve({ kind: "ended", code: code ?? 1, stdout, stderr }));
  });
}
