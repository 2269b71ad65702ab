/**
 * runAttached(): runs another program in this one's place: with its terminal, to its end, without a shell.
 *
 * Guarantees: the arguments reach it as they are; a signal that aborts ends it with SIGTERM, and this function waits until
 * it is gone.
 */
import { spawn } from "node:child_process";

/** Options of {@link runAttached}. */
export interface RunAttachedOptions {
  /** All variables the program gets; nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** How it ended. */
export type Attached =
  | { readonly kind: "ended"; readonly code: number }
  | { readonly kind: "notStarted"; readonly message: string };

/** Runs `argv[0]` with the rest of `argv`. A program that a signal ended has the code that shells give it: 128 and more. */
export async function runAttached(argv: readonly string[], options: RunAttachedOptions): Promise<Attached> {
  const [program, ...args] = argv;
  if (program === undefined) throw new TypeError("Cannot run a program: its argument list is empty");
  const child = spawn(program, args, { env: { ...options.env }, shell: false, stdio: "inherit" });
  const end = () => void child.kill("SIGTERM");
  options.signal.addEventListener("abort", end, { once: true });
  try {
    return await new Promise((resolve) => {
      child.once("error", (error) => resolve({ kind: "notStarted", message: error.message }));
      child.once("exit", (code, signal) => resolve({ kind: "ended", code: code ?? codeOf(signal) }));
    });
  } finally {
    options.signal.removeEventListener("abort", end);
  }
}

function codeOf(signal: string | null): number {
  return 128 + (signal === "SIGINT" ? 2 : signal === "SIGTERM" ? 15 : 9);
}
