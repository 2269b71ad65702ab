/**
 * startProgram(): another program in a process group of its own, which can be killed, stopped and continued as a whole, as the
 * kernel and the kubelet do with a container.
 *
 * Guarantees: signals reach every process that the program has started, unless it left the group. Output is passed on as it
 * comes; a program that writes faster than it is read waits.
 */
import { type ChildProcess, spawn } from "node:child_process";
import process from "node:process";
import { groupUsage, type ProgramUsage } from "./group_usage.ts";

/** Options of {@link startProgram}. */
export interface StartProgramOptions {
  /** All environment variables of the program; it inherits none. */
  readonly env: Readonly<Record<string, string>>;
  /** @default the working folder of this process */
  readonly workingDirectory?: string;
  /** Gets the text of both outputs. */
  readonly onOutput: (text: string) => void;
}

/** How a program of {@link startProgram} ended. */
export type ProgramEnd =
  | { readonly kind: "exited"; readonly code: number }
  | { readonly kind: "killed"; readonly by: string }
  | { readonly kind: "notStarted"; readonly message: string };

/** The signals of a {@link ProgramGroup}. */
export type GroupSignal = "SIGKILL" | "SIGTERM" | "SIGSTOP" | "SIGCONT";

/** A program and what it has started. */
export interface ProgramGroup {
  /** Resolves when the program itself has ended. */
  readonly ended: Promise<ProgramEnd>;
  /** Sends a signal to all processes of the group. A group that has ended gets none. */
  signal(name: GroupSignal): void;
  /** What the processes of the group have used; undefined when they have ended, and on systems without /proc. */
  usage(): Promise<ProgramUsage | undefined>;
}

/** Starts the program `argv[0]` with the other elements as its arguments. */
export function startProgram(argv: readonly string[], options: StartProgramOptions): ProgramGroup {
  const [program, ...args] = argv;
  if (program === undefined) throw new TypeError("Cannot start a program: its argument list is empty");
  const { env, workingDirectory, onOutput } = options;
  let child: ChildProcess;
  try {
    child = spawn(program, args, {
      env: { ...env },
      cwd: workingDirectory,
      shell: false,
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
  } catch (error) {
    // Deno and Bun throw where Node emits an event.
    const ended = Promise.resolve(notStarted(error));
    return { ended, signal: () => {}, usage: () => Promise.resolve(undefined) };
  }
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8");
    stream?.on("data", (text: string) => onOutput(text));
    stream?.on("error", () => {});
  }
  return {
    ended: endOf(child),
    signal: (name) => signalGroup(child, name),
    usage: async () => child.pid === undefined ? undefined : await groupUsage(child.pid),
  };
}

function endOf(child: ChildProcess): Promise<ProgramEnd> {
  return new Promise((resolve) => {
    child.once("error", (error) => resolve(notStarted(error)));
    child.once("exit", (code, signal) => {
      resolve(code === null ? { kind: "killed", by: signal ?? "a signal" } : { kind: "exited", code });
      // What it has started ends with it, as in a container.
      signalGroup(child, "SIGKILL");
    });
  });
}

function signalGroup({ pid }: ChildProcess, name: GroupSignal): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, name);
  } catch {
    // The whole group has ended.
  }
}

function notStarted(error: unknown): ProgramEnd {
  return { kind: "notStarted", message: error instanceof Error ? error.message : String(error) };
}
