/**
 * Reading whole text files, bounded: a path may point at a device or at something far larger than was meant.
 */
import { open } from "node:fs/promises";

/** Options of {@link readText}. */
export interface ReadTextOptions {
  /** Largest size in bytes. @default 16777216 (16 MiB) */
  readonly maxBytes?: number;
}

const chunkBytes = 64 * 1024;

/**
 * Reads a file as UTF-8.
 *
 * @throws Error with `code` ENOENT, EACCES, EISDIR as the system says, RangeError when the file is too large.
 */
export async function readText(path: string, options: ReadTextOptions = {}): Promise<string> {
  const { maxBytes = 16 * 1024 * 1024 } = options;
  const file = await open(path, "r");
  try {
    const decoder = new TextDecoder();
    const chunk = new Uint8Array(chunkBytes);
    let text = "";
    for (let sizeBytes = 0;;) {
      const { bytesRead } = await file.read(chunk, 0, chunk.length);
      if (bytesRead === 0) return text + decoder.decode();
      sizeBytes += bytesRead;
      if (sizeBytes > maxBytes) throw new RangeError(`Cannot read file "${path}": larger than ${maxBytes} bytes`);
      text += decoder.decode(chunk.subarray(0, bytesRead), { stream: true });
    }
  } finally {
    await file.close();
  }
}

/** As {@link readText}, but undefined when there is no such file. */
export async function findText(path: string, options: ReadTextOptions = {}): Promise<string | undefined> {
  try {
    return await readText(path, options);
  } catch (error) {
    if (isMissingFile(error)) return undefined;
    throw error;
  }
}

/** True for the error of a path at which there is nothing. */
export function isMissingFile(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR");
}
