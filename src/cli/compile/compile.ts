/**
 * `compile`: an operator as one binary that needs nothing else. Only Bun can build it, whichever runtime the project uses
 * otherwise, so Bun is a development dependency of the project.
 *
 * Guarantees: packages are those of the project's node_modules; no .env, bunfig.toml, tsconfig.json or package.json of the
 * folder that the binary is started in changes what it does; an existing binary is replaced as a whole, or stays as it is.
 */
import { z } from "zod";
import {
  directoryOf,
  fileStat,
  joinPath,
  makeDirectory,
  movePath,
  processFacts,
  removePath,
  resolvePath,
  spawn,
} from "../../runtime/mod.ts";
import { hasControls } from "../../observe/mod.ts";
import { type Call, CommandError, type ExitCode, exitCode, type Session, subcommand } from "../command/mod.ts";
import { commandLineOnly, flag, oneOf, text, UsageError } from "../flags/mod.ts";
import { type BunProgram, findBun } from "./find_bun.ts";
import { describeProject, type ProjectDescription } from "./project.ts";

const targets = ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64", "windows-x64"] as const;

/** A system that Bun compiles for. */
export type CompileTarget = typeof targets[number];

const compileFlags = z.object({
  entry: flag(text().prefault("main.ts"), {
    ...commandLineOnly,
    flags: "--entry <file>",
    about: "main module of the operator",
    completes: "file",
    example: "--entry src/main.ts",
  }),
  outfile: flag(text().optional(), {
    ...commandLineOnly,
    flags: "--outfile <file>",
    about: "the binary (default: dist/ and the name of the project)",
    completes: "file",
    example: "--outfile bin/website",
  }),
  target: flag(oneOf(targets).optional(), {
    ...commandLineOnly,
    flags: "--target <name>",
    about: `system of the binary: ${targets.join(", ")} (default: this one)`,
    example: "--target linux-arm64",
  }),
  stamp: flag(text().optional(), {
    ...commandLineOnly,
    flags: "--stamp <version>",
    about: "version of the binary (default: the one in deno.json or package.json)",
    example: "--stamp 1.2.3",
  }),
});

type CompileFlags = z.output<typeof compileFlags>;

/** The command. */
export const compile = subcommand({
  description: "Compiles an operator into one binary that needs no runtime. Needs Bun, on the path or in node_modules.",
  positionals: undefined,
  examples: [
    { line: "", about: "main.ts of this folder" },
    { line: "--target linux-arm64 --outfile dist/website-arm64", about: "for another system" },
  ],
  flags: compileFlags,
  run: compileOperator,
});

/** How Bun builds; compile.sh, which builds this repository's programs, has the reasons. */
export const buildOptions: readonly string[] = [
  "--bytecode",
  "--minify",
  "--format=esm",
  "--splitting",
  "--sourcemap=linked",
  "--no-compile-autoload-dotenv",
  "--no-compile-autoload-bunfig",
  "--no-compile-autoload-tsconfig",
  "--no-compile-autoload-package-json",
];

async function compileOperator({ flags, session }: Call<CompileFlags>): Promise<ExitCode> {
  const project = await readProject(flags, session);
  const shown = flags.outfile ?? joinPath("dist", project.name ?? "operator");
  const isWindows = flags.target === "windows-x64";
  const outfile = `${resolvePath(processFacts().workingDirectory, shown)}${isWindows ? ".exe" : ""}`;
  await assertReplaceable(outfile, shown);
  await makeDirectory(directoryOf(outfile), 0o755);
  const folder = `${outfile}.building`;
  await removePath(folder);
  await makeDirectory(folder);
  try {
    const { binary } = await compileBinary(project, { target: flags.target, folder }, session);
    await movePath(binary, outfile);
  } finally {
    await removePath(folder);
  }
  const bytes = (await fileStat(outfile))?.sizeBytes ?? 0;
  session.print(`${shown}: version ${project.version}, ${bytes} bytes`);
  return exitCode.done;
}

/** Fails before the minute of a build if its result cannot stand at the path. @throws UsageError, the error of the system */
async function assertReplaceable(outfile: string, shown: string): Promise<void> {
  const example = "Example: --outfile bin/website";
  if (hasControls(outfile)) throw new UsageError("Cannot write --outfile: its name has control characters", example);
  const kind = (await fileStat(outfile))?.kind ?? "file";
  if (kind !== "file") throw new UsageError(`Cannot write "${shown}": it is not a file`, example);
}

/** An operator that can be compiled. */
export interface Project extends ProjectDescription {
  /** The path of the main module. */
  readonly entry: string;
  /** The version to put into the binary. */
  readonly version: string;
  readonly bun: BunProgram;
}

/** Finds what a binary is compiled from. @throws UsageError, CommandError */
export async function readProject(
  flags: { readonly entry: string; readonly stamp?: string },
  { environment }: Session,
): Promise<Project> {
  const entry = resolvePath(processFacts().workingDirectory, flags.entry);
  if ((await fileStat(entry))?.kind !== "file") {
    throw new UsageError(`Cannot compile "${flags.entry}": there is no such file`, "Name the main module with --entry");
  }
  const project = await describeProject(directoryOf(entry));
  const version = versionOf(flags, project);
  return { ...project, entry, version, bun: await findBun(directoryOf(entry), environment) };
}

/** The version of a program: the one that was asked for, else that of the project. @throws UsageError */
export function versionOf({ stamp }: { readonly stamp?: string }, project: ProjectDescription): string {
  const version = stamp ?? project.version ?? "dev";
  if (/^[A-Za-z0-9.+_-]+$/.test(version)) return version;
  const rule = "only letters, digits and .+_- may be in it";
  throw new UsageError(`Cannot use the version "${version}": ${rule}`, "Example: --stamp 1.2.3");
}

/** What Bun builds, and where. */
export interface CompileOptions {
  /** @default this system */
  readonly target?: CompileTarget;
  /** For the binary and the files that Bun writes beside it; it must exist. */
  readonly folder: string;
  /** Ends Bun when it aborts. @default never */
  readonly signal?: AbortSignal;
}

/** The paths of what Bun built. */
export interface CompiledFiles {
  readonly binary: string;
  /** JSON whose `inputs` has the path of each file in the binary, relative to the folder of the main module. */
  readonly metafile: string;
}

/** Compiles an operator. Bun writes the maps of all parts beside the binary, hence a folder. @throws CommandError */
export async function compileBinary(
  { entry, version, bun }: Project,
  { target, folder, signal }: CompileOptions,
  session: Session,
): Promise<CompiledFiles> {
  const [built, metafile] = [joinPath(folder, "operator"), joinPath(folder, "meta.json")];
  await build(
    [
      ...[bun.path, "build", "--compile", ...(target === undefined ? [] : [`--target=bun-${target}`])],
      ...[...buildOptions, "--define", `PINTLE_OPERATOR_VERSION=${JSON.stringify(version)}`],
      ...[`--metafile=${metafile}`, `--outfile=${built}`, entry],
    ],
    { workingDirectory: directoryOf(entry), signal },
    session,
  );
  return { binary: target === "windows-x64" ? `${built}.exe` : built, metafile };
}

async function build(
  command: readonly string[],
  options: { readonly workingDirectory: string; readonly signal?: AbortSignal },
  session: Session,
): Promise<void> {
  const { environment } = session;
  const env = Object.fromEntries(Object.entries(environment).flatMap(([name, value]) => value ? [[name, value]] : []));
  const result = await spawn(command, { env, ...options });
  if (result.kind === "ended" && result.code === 0) return;
  const output = "stderr" in result ? result.stderr : result.message;
  for (const line of output.trim().split("\n")) session.info(line);
  const state = result.kind === "ended" ? `Bun ended with ${result.code}` : `Bun has the outcome "${result.kind}"`;
  throw new CommandError(`Cannot compile: ${state}`, { code: exitCode.failed, advice: "See the lines above" });
}
