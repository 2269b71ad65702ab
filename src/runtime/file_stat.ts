/** What a path points at, without opening it. */
import { stat } from "node:fs/promises";
import { isMissingFile } from "./read_text.ts";

/** One file or folder. */
export interface FileStat {
  readonly kind: "file" | "directory" | "other";
  readonly sizeBytes: number;
  /** Milliseconds since the epoch. */
  readonly modifiedAt: number;
  /** Permission bits, e.g. 0o600. */
  readonly mode: number;
  /** Differs when another file took the path's place, as a Secret volume does on rotation. */
  readonly identity: string;
}

/** Looks at `path`, following symbolic links; undefined when there is nothing. */
export async function fileStat(path: string): Promise<FileStat | undefined> {
  try {
    const found = await stat(path);
    return {
      kind: found.isFile() ? "file" : found.isDirectory() ? "directory" : "other",
      sizeBytes: found.size,
      modifiedAt: found.mtimeMs,
      mode: found.mode & 0o7777,
      identity: `${found.dev}:${found.ino}:${found.mtimeMs}:${found.size}`,
    };
  } catch (error) {
    if (isMissingFile(error)) return undefined;
    throw error;
  }
}
