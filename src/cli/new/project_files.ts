/**
 * Writes the files of a new project, and finds the library that they use: a clone of this repository, by default the one that
 * this program was built from.
 *
 * Guarantees: all files are written; or none, when one exists already or cannot be written.
 */
import {
  directoryOf,
  fileStat,
  findText,
  joinPath,
  makeDirectory,
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
 * @throws CommandError when a file exists already or cannot be written; then nothing has changed.
 */
export async function writeProject(folder: string, files: readonly ProjectFile[]): Promise<void> {
  for (const { name } of files) {
    if (await fileStat(joinPath(folder, name)) === undefined) continue;
    throw new CommandError(`Cannot write "${joinPath(folder, name)}": it exists already`, {
      code: exitCode.failed,
      advice: "Nothing was written. Choose another folder with --dir",
    });
  }
  const created = await firstMissing(folder);
  const written: string[] = [];
  try {
    await makeDirectory(folder, folderMode);
    for (const { name, text } of files) {
      await writeFile(joinPath(folder, name), text, { mode: fileMode });
      written.push(joinPath(folder, name));
    }
  } catch (error) {
    await removeAll(created === undefined ? written : [created]);
    throw cannotWrite(folder, error);
  }
}

/** Ignores errors: the caller reports why writing failed. */
async function removeAll(paths: readonly string[]): Promise<void> {
  for (const path of paths) await removePath(path).catch(() => {});
}

/** Returns the topmost folder that does not exist. */
async function firstMissing(folder: string): Promise<string | undefined> {
  if (await fileStat(folder) !== undefined) return undefined;
  const above = directoryOf(folder);
  return await firstMissing(above) ?? folder;
}

function cannotWrite(folder: string, error: unknown): CommandError {
  const reason = error instanceof Error ? error.message : String(error);
  const advice = "Nothing was written. Choose another folder with --dir";
  return new CommandError(`Cannot write to "${folder}": ${reason}`, { code: exitCode.failed, advice, cause: error });
}

const packageName = "@pintle/controller";

/** A clone of this repository. */
export interface Library {
  /** The absolute path. */
  readonly folder: string;
  /** The version in its deno.json. */
  readonly version: string;
  /** Its deno.lock, with the versions of all packages that it was tested with. */
  readonly lock: string | undefined;
}

/**
 * Finds the library: at `given`, else above this file, above the compiled program, or above the working directory.
 *
 * @throws UsageError when it finds none.
 */
export async function findLibrary(given: string | undefined): Promise<Library> {
  const { executable, workingDirectory } = processFacts();
  if (given !== undefined) {
    const found = await libraryAt(resolvePath(workingDirectory, given));
    if (found !== undefined) return found;
    throw new UsageError(
      `Cannot use the library "${given}": it is not a clone of Pintle`,
      "Name the folder with the deno.json of Pintle",
    );
  }
  for (const start of [import.meta.dirname, directoryOf(executable), workingDirectory]) {
    const found = start === undefined ? undefined : await libraryAbove(start);
    if (found !== undefined) return found;
  }
  throw new UsageError(
    "Cannot find the library: there is no clone of Pintle above this program or the working directory",
    "Clone it, and name its folder: --library ../pintle",
  );
}

async function libraryAbove(start: string): Promise<Library | undefined> {
  for (let folder = start, below = ""; folder !== below; below = folder, folder = directoryOf(folder)) {
    const found = await libraryAt(folder);
    if (found !== undefined) return found;
  }
  return undefined;
}

async function libraryAt(folder: string): Promise<Library | undefined> {
  const text = await findText(joinPath(folder, "deno.json"));
  const described = text === undefined ? undefined : packageOf(text);
  if (described?.name !== packageName) return undefined;
  return { folder, version: described.version, lock: await findText(joinPath(folder, "deno.lock")) };
}

function packageOf(text: string): { readonly name: string; readonly version: string } | undefined {
  try {
    const { name, version } = JSON.parse(text);
    return typeof name === "string" && typeof version === "string" ? { name, version } : undefined;
  } catch {
    return undefined; // a deno.json with comments belongs to another project
  }
}
