/**
 * Where the library is that a new controller is written with: a clone of this repository. There is no other way to have it
 * yet, so `new` looks for the one that this very program comes from.
 */
import { directoryOf, findText, joinPath, processFacts, resolvePath } from "../../runtime/mod.ts";
import { UsageError } from "../usage_error.ts";

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
