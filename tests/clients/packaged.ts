/**
 * Clients from package registries: client-node, the Kubernetes client of Python, and fabric8 with Maven. Their packages are
 * kept in the user's cache, by a hash of the file that pins their versions.
 */
import { createHash } from "node:crypto";
import { cpSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { nodeProgram } from "../../tasks/_runtimes.ts";
import { cacheDir, fillCache } from "../controlplane/go_build.ts";
import { run } from "../controlplane/run.ts";

const folder = import.meta.dirname ?? ".";

/** The command that runs a client. */
export type ClientCommand = readonly [program: string, ...args: readonly string[]];

/** client-node as a user has it: on Node, from the npm package that deno.lock pins. */
export function nodeClient(): Promise<ClientCommand> {
  return Promise.resolve([nodeProgram("node22"), join(folder, "node/client.mjs")]);
}

/** The client of PyPI. */
export async function pythonClient(): Promise<ClientCommand> {
  const packages = await pythonPackages("client-python", join(folder, "python/requirements.txt"));
  return ["env", `PYTHONPATH=${packages}`, "python3", join(folder, "python/client.py")];
}

/**
 * The folder with packages of PyPI; a virtual environment could not be moved.
 *
 * @param name of the folder in the cache
 * @param requirements the file with their versions
 */
export async function pythonPackages(name: string, requirements: string): Promise<string> {
  return await cached(name, [requirements], async (building) => {
    await command("python3", ["-m", "pip", "install", "-q", "--target", building, "-r", requirements], building);
  });
}

/** fabric8, compiled by Maven. */
export async function javaClient(): Promise<ClientCommand> {
  const built = await mavenClasses("client-java", join(folder, "java"));
  // Without a locale it would print ASCII only: the first two are for Java 17, the third for later ones.
  const utf8 = ["file.encoding", "sun.stdout.encoding", "stdout.encoding"].map((name) => `-D${name}=UTF-8`);
  return ["java", ...utf8, "-cp", classPath(built), "Client"];
}

/**
 * The folder of a program that Maven has compiled, with its dependencies.
 *
 * @param name of the folder in the cache
 * @param project the folder of pom.xml and src/main
 */
export async function mavenClasses(name: string, project: string): Promise<string> {
  const sources = readdirSync(join(project, "src/main"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name)).sort();
  return await cached(name, [join(project, "pom.xml"), ...sources], async (building) => {
    for (const part of ["pom.xml", "src/main"]) cpSync(join(project, part), join(building, part), { recursive: true });
    const goals = ["package", "dependency:copy-dependencies", "-DoutputDirectory=target/lib"];
    await command("mvn", ["-q", "-B", "-ntp", ...goals], building);
  });
}

/** The class path of a folder of {@link mavenClasses}. */
export function classPath(built: string): string {
  return [join(built, "target/classes"), join(built, "target/lib/*")].join(delimiter);
}

async function cached(name: string, inputs: readonly string[], fill: (building: string) => Promise<void>) {
  const hash = createHash("sha256");
  for (const path of inputs) hash.update(readFileSync(path));
  const root = join(cacheDir(), name);
  const dir = join(root, hash.digest("hex").slice(0, 16));
  if (!existsSync(dir)) await fillCache(root, dir, fill);
  return dir;
}

async function command(program: string, args: readonly string[], cwd: string): Promise<void> {
  const ended = await run(program, args, { cwd });
  if (ended.kind === "ended" && ended.code === 0) return;
  const text = ended.kind === "ended" ? `${ended.stderr}${ended.stdout}` : "it is missing";
  throw new Error(`Cannot run ${program} ${args.join(" ")}: ${text}`);
}
