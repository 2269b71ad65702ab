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
  pathExists,
  processFacts,
  resolvePath,
  runtimeName,
  spawn,
} from "../../runtime/mod.ts";
import { CommandError, exitCode } from "../command/mod.ts";

/** The version that this library is tested with. */
export const bunVersion = "1.4.5";

/** A Bun that starts. */
export interface BunProgram {
  /** Absolute, so that it starts in every environment. */
  readonly path: string;
  readonly version: string;
}

/** Finds a Bun that starts. @throws CommandError when there is none */
export async function findBun(folder: string, environment: Environment): Promise<BunProgram> {
  const candidates = runtimeName === "bun"
    ? [processFacts().executable]
    : [...await installedPrograms(folder), ...await programsOnPath(environment)];
  for (const path of candidates) {
    const result = await spawn([path, "--version"], { env: { PATH: environment.PATH ?? "" }, timeoutMs: 20_000 });
    if (result.kind === "ended" && result.code === 0) return { path, version: result.stdout.trim() };
  }
  const add = runtimeName === "deno" ? "deno add --dev npm:" : "npm install --save-dev ";
  throw new CommandError("Cannot compile: Bun is not installed, and only Bun makes a binary of an operator", {
    code: exitCode.failed,
    advice: `Run: ${add}bun@${bunVersion}`,
  });
}

async function programsOnPath({ PATH = "" }: Environment): Promise<readonly string[]> {
  const { os, workingDirectory } = processFacts();
  const folders = PATH.split(os === "windows" ? ";" : ":").filter((folder) => folder !== "");
  const paths = folders.map((folder) =>
    joinPath(resolvePath(workingDirectory, folder), os === "windows" ? "bun.exe" : "bun")
  );
  const found: string[] = [];
  for (const path of paths) if (await pathExists(path)) found.push(path);
  return found;
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
