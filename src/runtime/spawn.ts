/**
 * Runs another program to its end, without a shell.
 *
 * Guarantees: the arguments reach the program as they are; its output is bounded, its time too; when it is cut off it
 * gets SIGKILL and this function still waits until it is gone. That the program cannot be started is an outcome, as is
 * everything else that may happen to it; only an abort throws.
 */
import { type ChildProcess, spawn as nodeSpawn } from "node:child_process";
import process from "node:process";
import { clearTimeout, setTimeout } from "node:timers";

/** Options of {@link spawn}. */
export interface SpawnOptions {
  /** All variables the program gets; nothing is inherited. @default {} */
  readonly env?: Readonly<Record<string, string>>;
  /** What it reads; "inherit" lets it talk to the terminal. @default "" (nothing) */
  readonly stdin?: string | "inherit";
  /** Where it starts. @default this process's folder */
  readonly workingDirectory?: string;
  /** Milliseconds until it is killed. @default Infinity */
  readonly timeoutMs?: number;
  /** Largest size in bytes of either output, after which it is killed. @default 1048576 (1 MiB) */
  readonly maxOutputBytes?: number;
  /** Kills the program; the promise rejects with its reason. */
  readonly signal?: AbortSignal;
}

/** How a program ended. */
export type SpawnResult =
  | { readonly kind: "ended"; readonly code: number; readonly stdout: string; readonly stderr: string }
  | { readonly kind: "killed"; readonly by: string; readonly stdout: string; readonly stderr: string }
  | { readonly kind: "timedOut"; readonly stdout: string; readonly stderr: string }
  | { readonly kind: "tooMuchOutput"; readonly stdout: string; readonly stderr: string }
  | { readonly kind: "notFound"; readonly message: string }
  | { readonly kind: "notStarted"; readonly message: string };

const outputBytes = 1024 * 1024;

/** Runs `argv[0]` with the rest of `argv`. */
export async function spawn(argv: readonly string[], options: SpawnOptions = {}): Promise<SpawnResult> {
  const [program, ...args] = argv;
  if (program === undefined) throw new TypeError("Cannot run a program: its argument list is empty");
  const { env = {}, stdin = "", workingDirectory, signal } = options;
  signal?.throwIfAborted();
  let child: ChildProcess;
  try {
    child = nodeSpawn(program, args, {
      env: { ...env },
      cwd: workingDirectory,
      shell: false,
      stdio: [stdin === "inherit" ? "inherit" : "pipe", "pipe", "pipe"],
    });
  } catch (error) {
    return notStarted(error); // Deno and Bun throw where Node emits an event
  }
  return await finish(child, options);
}

async function finish(child: ChildProcess, options: SpawnOptions): Promise<SpawnResult> {
  const { stdin = "", timeoutMs = Infinity, maxOutputBytes = outputBytes, signal } = options;
  let cut: "timedOut" | "tooMuchOutput" | "aborted" | undefined;
  const kill = (why: NonNullable<typeof cut>) => {
    cut ??= why;
    child.kill("SIGKILL");
  };
  const aborted = () => kill("aborted");
  const timer = timeoutMs === Infinity ? undefined : setTimeout(() => kill("timedOut"), timeoutMs);
  signal?.addEventListener("abort", aborted, { once: true });
  const stdout = collect(child.stdout, maxOutputBytes, () => kill("tooMuchOutput"));
  const stderr = collect(child.stderr, maxOutputBytes, () => kill("tooMuchOutput"));
  child.stdin?.on("error", () => {}); // it may end without reading its input
  if (stdin !== "inherit") child.stdin?.end(stdin);
  try {
    const ending = await ended(child);
    if (cut === "aborted") throw signal?.reason;
    if (ending.kind === "error") return notStarted(ending.error);
    const output = { stdout: stdout(), stderr: stderr() };
    if (cut !== undefined) return { kind: cut, ...output };
    if (ending.code === null) return { kind: "killed", by: ending.signal ?? "a signal", ...output };
    return { kind: "ended", code: ending.code, ...output };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", aborted);
  }
}

type Ending =
  | { readonly kind: "error"; readonly error: unknown }
  | { readonly kind: "exit"; readonly code: number | null; readonly signal: string | null };

function ended(child: ChildProcess): Promise<Ending> {
  return new Promise((resolve) => {
    child.once("error", (error) => resolve({ kind: "error", error }));
    child.once("close", (code, signal) => resolve({ kind: "exit", code, signal }));
  });
}

function collect(stream: ChildProcess["stdout"], maxBytes: number, overflow: () => void): () => string {
  const decoder = new TextDecoder();
  let text = "";
  let sizeBytes = 0;
  stream?.on("data", (chunk: Uint8Array) => {
    sizeBytes += chunk.length;
    if (sizeBytes > maxBytes) return overflow();
    text += decoder.decode(chunk, { stream: true });
  });
  stream?.on("error", () => {});
  return () => text + decoder.decode();
}

function notStarted(error: unknown): SpawnResult {
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return code === "ENOENT" ? { kind: "notFound", message } : { kind: "notStarted", message };
}

/** True when a program that inherits standard input would find a person there. */
export function hasTerminalInput(): boolean {
  return process.stdin.isTTY === true;
}
