/**
 * Writes the files of a package into a folder, such as a Helm chart.
 *
 * Guarantees: a file that this command has not written is neither changed nor removed: nothing is written when one is in the
 * way. The files of an earlier call that the package does not have any more are removed. Files for the user to edit are
 * written once and stay.
 */
import {
  directoryEntries,
  directoryOf,
  fileStat,
  findText,
  joinPath,
  makeDirectory,
  pathExists,
  removePath,
  writeFile,
} from "../../runtime/mod.ts";
import { CommandError, exitCode } from "../command/mod.ts";

/** A file to write. */
export interface PackageFile {
  /** The path inside the folder. */
  readonly path: string;
  /** Its first line contains {@link generatedMark}, unless the user edits it. */
  readonly text: string;
  /** True when the user edits the file: an existing one stays. @default false */
  readonly isForUser?: boolean;
}

/** The text by which a later call recognizes its own files. */
export const generatedMark = "Written by the command manifests; do not edit.";

/** The first line of a file whose comments begin with `#`. */
export const generatedComment = `# ${generatedMark}\n`;

/** Every user may read manifests, which contain no secrets. */
const [fileMode, folderMode] = [0o644, 0o755];

/** Deeper folders are none of a package. */
const maxDepth = 4;

/**
 * Writes the files.
 *
 * @param owned The folders of the package whose files are all generated; files of others are refused there
 * @returns the paths of the written files
 * @throws CommandError when a file of others is in the way, or a file cannot be written
 */
export async function writePackage(
  folder: string,
  files: readonly PackageFile[],
  owned: readonly string[],
): Promise<readonly string[]> {
  try {
    const existing = (await Promise.all(owned.map((path) => filesBelow(folder, path, maxDepth)))).flat();
    const generated = new Set(files.filter(({ isForUser }) => isForUser !== true).map(({ path }) => path));
    for (const path of new Set([...existing, ...generated])) await assertGenerated(folder, path);
    const written: string[] = [];
    for (const { path, text, isForUser = false } of files) {
      const target = joinPath(folder, path);
      if (isForUser && await pathExists(target)) continue;
      await makeDirectory(directoryOf(target), folderMode);
      await writeFile(target, text, { mode: fileMode });
      written.push(target);
    }
    for (const path of existing.filter((path) => !generated.has(path))) await removePath(joinPath(folder, path));
    return written;
  } catch (error) {
    if (error instanceof CommandError) throw error;
    const state = error instanceof Error ? error.message : String(error);
    throw new CommandError(`Cannot write manifests into "${folder}": ${state}`, {
      code: exitCode.failed,
      cause: error,
    });
  }
}

/** Returns the paths of the files in a folder of the package and in its folders. */
async function filesBelow(folder: string, path: string, depth: number): Promise<readonly string[]> {
  const paths: string[] = [];
  for (const name of await directoryEntries(joinPath(folder, path))) {
    const inner = path === "" ? name : `${path}/${name}`;
    const isFolder = (await fileStat(joinPath(folder, inner)))?.kind === "directory";
    if (isFolder && depth > 0) paths.push(...await filesBelow(folder, inner, depth - 1));
    else paths.push(inner);
  }
  return paths;
}

async function assertGenerated(folder: string, path: string): Promise<void> {
  const target = joinPath(folder, path);
  if (!(await pathExists(target))) return;
  const text = await findText(target, { isRegular: true }).catch(() => undefined);
  // The mark of JSON, which has no comments, is in its first field.
  if (text !== undefined && text.slice(0, 200).includes(generatedMark)) return;
  throw new CommandError(`Cannot write manifests into "${folder}": this command has not written ${path}`, {
    code: exitCode.failed,
    advice: "Choose another folder with --output-dir, or move the file. Nothing was changed",
  });
}
