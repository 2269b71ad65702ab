/**
 * Running other programs: spawn() collects their output, runAttached() gives them the terminal of this process.
 *
 * Guarantees: there is no shell, so the arguments reach the program unchanged. spawn() bounds the output and the time of
 * the program, and of all that it starts: they are a process group, which one SIGKILL ends. The result does not wait for
 * a process that inherited the outputs of the program. A program that cannot be started is a result, like every other
 * outcome; only an abort throws, at once. No program of spawn() outlives this process, unless a signal kills this process.
 *
 * Caveats: a program that may ask at the terminal stays in the group of this process, or the terminal would stop it; only
 * the program itself is killed then. A process that leaves its group, as a daemon does, lives on; its pipes
 * are closed, so that it ends when it writes to them.
 */
import { type ChildProcess, spawn as nodeSpawn } from "node:child_process";
import process from "node:process";
import { clearTimeout, setTimeout } from "node:timers";
import { onAbort, untilAborted } from "./abort.ts";

/** Options of {@link spawn}. */
export interface SpawnOptions {
  /** All environment variables of the program; it inherits none. @default {} */
  readonly env?: Readonly<Record<string, string>>;
  /** The text of its standard input; "inherit" gives it the terminal. @default "" (nothing) */
  readonly stdin?: string | "inherit";
  /** Its working folder. @default the working folder of this process */
  readonly workingDirectory?: string;
  /** Milliseconds until it is killed. @default Infinity */
  readonly timeoutMs?: number;
  /** The most bytes of standard output and of standard error; a program that writes more is killed. @default 1048576 (1 MiB) */
  readonly maxOutputBytes?: number;
  /** Kills the program when it aborts; the promise rejects with its reason. */
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

const defaultOutputBytes = 1024 * 1024;

/** Milliseconds after the end of a program in which its last output is read, if another process keeps its pipes open. */
const drainMs = 250;

/** Runs the program `argv[0]` with the other elements as its arguments, and collects its output. */
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
      detached: hasOwnGroup(options),
      stdio: [stdin === "inherit" ? "inherit" : "pipe", "pipe", "pipe"],
    });
  } catch (error) {
    return notStarted(error); // Deno and Bun throw where Node emits an event.
  }
  const kill = () => killAll(child, hasOwnGroup(options));
  if (started.size === 0) process.on("exit", killRunning);
  started.add(kill);
  try {
    return await finish(child, options);
  } finally {
    started.delete(kill);
    if (started.size === 0) process.off("exit", killRunning);
  }
}

/** Ends each program of {@link spawn} that runs now. One listener for all: a process warns of more than ten. */
const started = new Set<() => void>();

function killRunning(): void {
  for (const kill of started) kill();
}

function hasOwnGroup({ stdin }: SpawnOptions): boolean {
  return stdin !== "inherit" && process.platform !== "win32";
}

async function finish(child: ChildProcess, options: SpawnOptions): Promise<SpawnResult> {
  const { stdin = "", timeoutMs = Infinity, maxOutputBytes = defaultOutputBytes, signal } = options;
  const { promise: stopped, resolve: stop } = Promise.withResolvers<Ending>();
  let killedFor: "timedOut" | "tooMuchOutput" | undefined;
  const kill = (reason: NonNullable<typeof killedFor>) => {
    killedFor ??= reason;
    killAll(child, hasOwnGroup(options));
    stop({ kind: "exit", code: null, signal: "SIGKILL" });
  };
  const timer = timeoutMs === Infinity ? undefined : setTimeout(() => kill("timedOut"), timeoutMs);
  const stdout = collect(child.stdout, maxOutputBytes, () => kill("tooMuchOutput"));
  const stderr = collect(child.stderr, maxOutputBytes, () => kill("tooMuchOutput"));
  child.stdin?.on("error", () => {}); // The program may end before it has read its input.
  if (stdin !== "inherit") child.stdin?.end(stdin);
  try {
    const running = Promise.race([ended(child, () => killAll(child, hasOwnGroup(options))), stopped]);
    const ending = await (signal === undefined ? running : untilAborted(running, signal));
    if (ending.kind === "error") return notStarted(ending.error);
    const output = { stdout: stdout(), stderr: stderr() };
    if (killedFor !== undefined) return { kind: killedFor, ...output };
    if (ending.code === null) return { kind: "killed", by: ending.signal ?? "a signal", ...output };
    return { kind: "ended", code: ending.code, ...output };
  } catch (reason) {
    killAll(child, hasOwnGroup(options));
    throw reason;
  } finally {
    clearTimeout(timer);
    // Whoever keeps the other ends open no longer keeps this process alive.
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
  }
}

function killAll(child: ChildProcess, hasGroup: boolean): void {
  endAll(child, hasGroup, "SIGKILL");
}

function endAll(child: ChildProcess, hasGroup: boolean, signal: "SIGTERM" | "SIGKILL"): void {
  try {
    if (hasGroup && child.pid !== undefined) return void process.kill(-child.pid, signal);
  } catch {
    // The whole group has ended, or it was never made.
  }
  child.kill(signal);
}

type Ending =
  | { readonly kind: "error"; readonly error: unknown }
  | { readonly kind: "exit"; readonly code: number | null; readonly signal: string | null };

/**
 * The end of a program and of its output.
 *
 * @param onLeftOver Called if another process still has the pipes: it belongs to the program, as no daemon would keep them.
 */
function ended(child: ChildProcess, onLeftOver: () => void): Promise<Ending> {
  return new Promise((resolve) => {
    let draining: ReturnType<typeof setTimeout> | undefined;
    child.once("error", (error) => resolve({ kind: "error", error }));
    child.once("exit", (code, signal) => {
      draining = setTimeout(() => {
        onLeftOver();
        resolve({ kind: "exit", code, signal });
      }, drainMs);
    });
    child.once("close", (code, signal) => {
      clearTimeout(draining);
      resolve({ kind: "exit", code, signal });
    });
  });
}

/** Collects the text of a stream. @returns a function that returns the text so far */
function collect(stream: ChildProcess["stdout"], maxBytes: number, onOverflow: () => void): () => string {
  const decoder = new TextDecoder();
  let text = "";
  let sizeBytes = 0;
  stream?.on("data", (chunk: Uint8Array) => {
    text += decoder.decode(chunk.subarray(0, Math.max(0, maxBytes - sizeBytes)), { stream: true });
    sizeBytes += chunk.length;
    if (sizeBytes > maxBytes) onOverflow();
  });
  stream?.on("error", () => {});
  return () => text + decoder.decode();
}

function notStarted(error: unknown): SpawnResult {
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return code === "ENOENT" ? { kind: "notFound", message } : { kind: "notStarted", message };
}

/** Options of {@link runAttached}. */
export interface RunAttachedOptions {
  /** All environment variables of the program; it inherits none. */
  readonly env: Readonly<Record<string, string>>;
  /** Ends the program with SIGTERM when it aborts. */
  readonly signal: AbortSignal;
  /** Ends the program with SIGKILL when it aborts. */
  readonly kill: AbortSignal;
  /**
   * True to start a process group, so that the signals reach the processes of the program, too. Not for a program that reads
   * the terminal: the system stops a group in the background that does.
   */
  readonly hasOwnGroup: boolean;
}

/** How a program of {@link runAttached} ended. */
export type ChildResult =
  | { readonly kind: "ended"; readonly code: number }
  | { readonly kind: "notStarted"; readonly message: string };

/**
 * Runs the program `argv[0]` with the other elements as its arguments, on the terminal of this process, and waits for
 * its end. If a signal ended the program, the code is 128 and the number of the signal, as in a shell.
 */
export async function runAttached(argv: readonly string[], options: RunAttachedOptions): Promise<ChildResult> {
  const [program, ...args] = argv;
  if (program === undefined) throw new TypeError("Cannot run a program: its argument list is empty");
  const { env, signal, kill, hasOwnGroup: detached } = options;
  const child = nodeSpawn(program, args, { env: { ...env }, shell: false, stdio: "inherit", detached });
  using _listening = onAbort(signal, () => endAll(child, detached, "SIGTERM"));
  using _killing = onAbort(kill, () => endAll(child, detached, "SIGKILL"));
  return await new Promise((resolve) => {
    child.once("error", (error) => resolve({ kind: "notStarted", message: error.message }));
    child.once("exit", (code, signal) => resolve({ kind: "ended", code: code ?? codeOf(signal) }));
  });
}

function codeOf(signal: string | null): number {
  return 128 + (signal === "SIGINT" ? 2 : signal === "SIGTERM" ? 15 : 9);
}
