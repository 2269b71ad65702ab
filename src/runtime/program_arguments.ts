/** The words after the program's name, the same under `deno run`, `bun run` and as a compiled binary. */
import process from "node:process";

/** The command line without the runtime and the script. */
export function programArguments(): readonly string[] {
  return process.argv.slice(2);
}
