/** Files that are written together: all of them or, where one of them is there already or cannot be written, none. */
import { directoryOf, fileStat, joinPath, makeDirectory, removePath, writeFile } from "../../runtime/mod.ts";
import { CommandError } from "../command_error.ts";
import { exitCode } from "../exit_code.ts";

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
