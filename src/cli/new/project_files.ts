/** Files that are written together: all of them or, where one of them is there already or cannot be written, none. */
/* MERGED new/library.ts
 * Where the library is that a new controller is written with: a clone of this repository. There is no other way to have it
 * yet, so `new` looks for the one that this very program comes from.
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

/** A file to be. */
export interface ProjectFile {
  /** In its folder. */
  readonly name: string;
  readonly text: string;
  /** What people are shown of it. @default all of it */
  readonly shown?: string;
}

/** Sources are everybody's to read, unlike what this program writes otherwise. */
const [fileMode, folderMode] = [0o644, 0o755];

/**
 * Writes `files` into `folder`, which is made if it is not there.
 *
 * @throws CommandError when one is there already, or the disk does not take them. Then nothing has changed.
 */
export async function writeProject(folder: string, files: readonly ProjectFile[]): Promise<void> {
  for (const { name } of files) {
    if (await fileStat(joinPath(folder, name)) === undefined) continue;
    throw new CommandError(`Cannot write "${joinPath(folder, name)}": it is there already`, {
      code: exitCode.failed,
      advice: "Nothing was written. Choose another folder with --dir",
    });
  }
  const made = await firstMissing(folder);
  const written: string[] = [];
  try {
    await makeDirectory(folder, folderMode);
    for (const { name, text } of files) {
      await writeFile(joinPath(folder, name), text, { mode: fileMode });
      written.push(joinPath(folder, name));
    }
  } catch (error) {
    await removeAll(made === undefined ? written : [made]);
    throw cannotWrite(folder, error);
  }
}

/** What cannot be removed was hardly written: why it was not is what counts. */
async function removeAll(paths: readonly string[]): Promise<void> {
  for (const path of paths) await removePath(path).catch(() => {});
}

/** The topmost folder that has to be made. */
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

/** A clone. */
export interface Library {
  /** Absolute. */
  readonly folder: string;
  /** As its deno.json says. */
  readonly version: string;
  /** Its deno.lock: the versions of all packages that it was tested with. */
  readonly lock: string | undefined;
}

/**
 * Finds it: where `given` says, else above this file, above the compiled program, or above the working directory.
 *
 * @throws UsageError when there is none.
 */
export async function findLibrary(given: string | undefined): Promise<Library> {
  const { executable, workingDirectory } = processFacts();
  if (given !== undefined) {
    const found = await libraryAt(resolvePath(workingDirectory, given));
    if (found !== undefined) return found;
    throw new UsageError(
      `Cannot use the library "${given}": it is no clone of Pintle`,
      "Name a folder with its deno.json",
    );
  }
  for (const start of [import.meta.dirname, directoryOf(executable), workingDirectory]) {
    const found = start === undefined ? undefined : await libraryAbove(start);
    if (found !== undefined) return found;
  }
  throw new UsageError(
    "Cannot find the library that a controller is written with: no clone of Pintle is near this program",
    "Clone it, and name the folder: --library ../pintle",
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
    return undefined; // somebody's file with comments: not ours
  }
}
