/**
 * Finds Bun: the one that runs this program; else that of the project, where npm, Deno and Bun install the package `bun`;
 * else the one on the path.
 *
 * The package brings one program for each kind of CPU and C library. Its install script picks one, but package managers
 * do not run it without being asked to: the first program that starts is the right one.
 */
import {
  directoryEntries,
  directoryOf,
  type Environment,
  joinPath,
  processFacts,
  runtimeName,
  spawn,
} from "../../runtime/mod.ts";
import { CommandError, exitCode } from "../command/mod.ts";

/** The version that this library is tested with. */
export const bunVersion = "1.4.5";

/** The path of Bun, or its name. @throws CommandError when there is none */
export async function findBun(folder: string, environment: Environment): Promise<string> {
  if (runtimeName === "bun") return processFacts().executable;
  for (const candidate of [...await installedPrograms(folder), "bun"]) {
    const result = await spawn([candidate, "--version"], { env: { PATH: environment.PATH ?? "" }, timeoutMs: 20_000 });
    if (result.kind === "ended" && result.code === 0) return candidate;
  }
  const add = runtimeName === "deno" ? "deno add --dev npm:" : "npm install --save-dev ";
  throw new CommandError("Cannot compile: Bun is not installed, and only Bun makes a binary of an operator", {
    code: exitCode.failed,
    advice: `Run: ${add}bun@${bunVersion}`,
  });
}

/** The programs in the node_modules of `folder`, and of those above it. */
async function installedPrograms(folder: string): Promise<readonly string[]> {
  const modules = joinPath(folder, "node_modules");
  const deno = (await directoryEntries(joinPath(modules, ".deno"))).filter((name) => name.startsWith("@oven+bun-"));
  const scopes = [modules, ...deno.map((name) => joinPath(modules, ".deno", name, "node_modules"))]
    .map((found) => joinPath(found, "@oven"));
  const found: string[] = [];
  for (const scope of scopes) {
    for (const name of await directoryEntries(scope)) {
      found.push(joinPath(scope, name, "bin", "bun"), joinPath(scope, name, "bin", "bun.exe"));
    }
  }
  const above = directoryOf(folder);
  return above === folder ? found : [...found, ...await installedPrograms(above)];
}
