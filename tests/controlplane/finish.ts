/** Programs that must succeed. */
import { run, type RunOptions } from "./run.ts";

/**
 * Runs a program and returns what it printed.
 *
 * @throws Error with the end of its stderr when it fails, or is missing.
 */
export async function finish(program: string, args: readonly string[], options: RunOptions = {}): Promise<string> {
  const result = await run(program, args, options);
  const command = [program, ...args].join(" ").slice(0, 200);
  if (result.kind === "missing") throw new Error(`Cannot run ${command}: there is no ${program}`);
  if (result.code === 0) return result.stdout;
  throw new Error(`Cannot run ${command}: exit code ${result.code}\n${result.stderr.trim().slice(-4_000)}`);
}
