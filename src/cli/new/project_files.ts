/**
 * Writes the files of a new project, and finds the library that they use: a clone of this repository, by default the one that
 * this program was built from.
 *
 * Guarantees: all files are written; or none, when one exists already, cannot be written, or a signal ends the command. A
 * new folder gets its name when it is complete, so that a killed command leaves nothing that looks like a project. A link
 * counts as existing, wherever it leads.
 */
import {
  directoryOf,
  findText,
  joinPath,
  makeDirectory,
  movePath,
  pathExists,
  processFacts,
  removePath,
  resolvePath,
  writeFile,
} from "../../runtime/mod.ts";
import { CommandError, exitCode } from "../command/mod.ts";
import { UsageError } from "../flags/mod.ts";

/** A file to write. */
export interface ProjectFile {
  /** The path inside the folder. */
  readonly name: string;
  readonly text: string;
  /** The text that --dry-run prints. @default `text` */
  readonly shown?: string;
}

/** Every user may read sources, unlike the other files that this program writes. */
const [fileMode, folderMode] = [0o644, 0o755];

/**
 * Writes `files` into `folder`, which is created if necessary.
 *
 * @throws CommandError when a file exists already or cannot be written, or the reason of the signal; then nothing has changed.
 */
export async function writeProject(
  folder: string,
  files: readonly ProjectFile[],
  signal: AbortSignal,
): Promise<void> {
  try {
    for (const { name } of files) {
      if (await pathExists(joinPath(folder, name))) throw existsError(joinPath(folder, name));
    }
    if (await pathExists(folder)) await writeInto(folder, files, signal);
    else await writeNew(folder, files, signal);
  } catch (error) {
    throw error instanceof CommandError ? error : cannotWrite(folder, error);
  }
}

/** Writes files into a folder that exists. */
async function writeInto(folder: string, files: readonly ProjectFile[], signal: AbortSignal): Promise<void> {
  const written: string[] = [];
  try {
    for (const { name, text } of files) {
      signal.throwIfAborted();
      await writeFile(joinPath(folder, name), text, { mode: fileMode });
      written.push(joinPath(folder, name));
    }
    signal.throwIfAborted();
  } catch (error) {
    await removeAll(written);
    throw error;
  }
}

/** Writes a folder under another name beside its place, then moves it there. */
async function writeNew(folder: string, files: readonly ProjectFile[], signal: AbortSignal): Promise<void> {
  const created = await firstMissing(folder);
  const unfinished = `${folder}.${crypto.randomUUID()}.tmp`;
  try {
    await makeDirectory(unfinished, folderMode);
    await writeInto(unfinished, files, signal);
    await movePath(unfinished, folder);
  } catch (error) {
    await removeAll(created === folder ? [unfinished] : [created]);
    throw error;
  }
}

function existsError(path: string): CommandError {
  return new CommandError(`Cannot write "${path}": it exists already`, {
    code: exitCode.failed,
    advice: "Nothing was written. Choose another folder with --dir",
  });
}

/** Ignores errors: the caller reports why writing failed. */
async function removeAll(paths: readonly string[]): Promise<void> {
  for (const path of paths) await removePath(path).catch(() => {});
}

/** Returns the topmost folder that does not exist; `folder` itself does not. */
async function firstMissing(folder: string): Promise<string> {
  const above = directoryOf(folder);
  return above === folder || await pathExists(above) ? folder : await firstMissing(above);
}

function cannotWrite(folder: string, error: unknown): CommandError {
  const reason = error instanceof Error ? error.message : String(error);
  const advice = "Nothing was written. Choose another folder with --dir";
  return new CommandError(`Cannot write to "${folder}": ${reason}`, { code: exitCode.failed, advice, cause: error });
}

const packageName = "@pintle/controller";

/** Where a new project gets this library from. */
export interface Library {
  readonly version: string;
  /** Undefined for the package of a registry. */
  readonly clone: Clone | undefined;
}

/** A clone of this repository. */
interface Clone {
  /** The absolute path. */
  readonly folder: string;
  /** Its deno.lock, with the versions of all packages that it was tested with. */
  readonly lock: string | undefined;
}

/**
 * The library of a new project: the clone at `given`, else the one that this program is part of.
 *
 * @throws UsageError when there is no clone at `given`
 */
export async function findLibrary(given: string | undefined): Promise<Library> {
  const { workingDirectory } = processFacts();
  const found = given === undefined ? await ownLibrary() : await libraryAt(resolvePath(workingDirectory, given));
  if (found !== undefined && (given === undefined || found.clone !== undefined)) return found;
  throw new UsageError(
    `Cannot use the library "${given ?? ""}": it is not a clone of Pintle`,
    "Name the folder with the deno.json of Pintle",
  );
}

/** The library that this program is part of: a package, or a clone. Undefined in a compiled binary. */
export async function ownLibrary(): Promise<Library | undefined> {
  return import.meta.dirname === undefined ? undefined : await libraryAbove(import.meta.dirname);
}

async function libraryAbove(start: string): Promise<Library | undefined> {
  for (let folder = start, below = ""; folder !== below; below = folder, folder = directoryOf(folder)) {
    const found = await libraryAt(folder);
    if (found !== undefined) return found;
  }
  return undefined;
}

async function libraryAt(folder: string): Promise<Library | undefined> {
  const clone = versionIn(await findText(joinPath(folder, "deno.json")));
  if (clone !== undefined) {
    return { version: clone, clone: { folder, lock: await findText(joinPath(folder, "deno.lock")) } };
  }
  const version = versionIn(await findText(joinPath(folder, "package.json")));
  return version === undefined ? undefined : { version, clone: undefined };
}

/** The version in the description of this library; undefined for another project. */
function versionIn(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  try {
    const { name, version } = JSON.parse(text);
    return name === packageName && typeof version === "string" ? version : undefined;
  } catch {
    return undefined; // a deno.json with comments belongs to another project
  }
}
