/**
 * Files and paths.
 *
 * Guarantees: readText() reads a bounded number of bytes, because a path may lead to a device or to a very large file, and
 * it never waits for the writer of a FIFO.
 * writeFile() replaces a file as a whole, so that a reader sees the old content or the new one: it writes to a new file
 * beside the target (O_EXCL, so an existing file or link is refused), syncs it and renames it. The permissions are set
 * before the first byte is written. A symbolic link at the target is replaced, not followed (security 6).
 */
import { randomUUID } from "node:crypto";
import { constants, type Stats } from "node:fs";
import { type FileHandle, lstat, mkdir, mkdtemp, open, readdir, rename, rm, rmdir, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, isAbsolute, join, relative, resolve } from "node:path";

/** Options of {@link readText}. */
export interface ReadTextOptions {
  /** The most bytes of the file. @default 16777216 (16 MiB) */
  readonly maxBytes?: number;
  /** Also refuses devices, such as /dev/null, with the code `EINVAL`. @default false */
  readonly isRegular?: boolean;
}

const chunkBytes = 64 * 1024;
const largeChunkBytes = 1024 * 1024;

/**
 * Reads a file as UTF-8.
 *
 * @throws Error with the `code` of the system (ENOENT, EACCES, EISDIR), `EINVAL` for a FIFO or a socket; RangeError with
 * the code `EFBIG` when the file is too large.
 */
export async function readText(path: string, options: ReadTextOptions = {}): Promise<string> {
  const { maxBytes = 16 * 1024 * 1024, isRegular = false } = options;
  const file = await openForReading(path, isRegular);
  try {
    const decoder = new TextDecoder();
    const chunk = new Uint8Array(chunkBytes);
    let text = "";
    for (let sizeBytes = 0;;) {
      const { bytesRead } = await file.read(chunk, 0, chunk.length);
      if (bytesRead === 0) return text + decoder.decode();
      sizeBytes += bytesRead;
      if (sizeBytes > maxBytes) {
        const error = new RangeError(`Cannot read file "${path}": larger than ${maxBytes} bytes`);
        throw Object.assign(error, { code: "EFBIG" });
      }
      text += decoder.decode(chunk.subarray(0, bytesRead), { stream: true });
    }
  } finally {
    await file.close();
  }
}

/** Pipes that this process has inherited, as from `--kubeconfig <(command)`, have a writer. */
const inheritedPipe = /^\/(dev\/(fd\/\d+|stdin)|proc\/self\/fd\/\d+)$/;

async function openForReading(path: string, isRegular: boolean): Promise<FileHandle> {
  const found = await stat(path);
  if (isRegular ? !found.isFile() : kindOf(found) === "pipe" && !inheritedPipe.test(path)) {
    throw Object.assign(new Error(`Cannot read file "${path}": it is not a regular file`), { code: "EINVAL" });
  }
  // The file may become a FIFO or a terminal before it is opened: neither is waited for.
  return await open(path, inheritedPipe.test(path) ? "r" : constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
}

/** Reads a regular file as bytes. @throws Error with the `code` of the system, `EINVAL` for anything but a regular file */
export async function readBytes(path: string): Promise<Uint8Array<ArrayBuffer>> {
  const file = await openForReading(path, true);
  try {
    // A copy has a buffer of its own: the types of a runtime may allow a shared one here.
    return new Uint8Array(await file.readFile());
  } finally {
    await file.close();
  }
}

/** Reads a regular file in chunks. @throws Error as {@link readBytes} does; RangeError with the code `EFBIG` when it is too large */
export async function* readChunks(
  path: string,
  { maxBytes }: { readonly maxBytes: number },
): AsyncGenerator<Uint8Array<ArrayBuffer>, void, void> {
  const file = await openForReading(path, true);
  try {
    for (let sizeBytes = 0;;) {
      const chunk = new Uint8Array(largeChunkBytes);
      const { bytesRead } = await file.read(chunk, 0, chunk.length);
      if (bytesRead === 0) return;
      sizeBytes += bytesRead;
      if (sizeBytes > maxBytes) {
        const error = new RangeError(`Cannot read file "${path}": larger than ${maxBytes} bytes`);
        throw Object.assign(error, { code: "EFBIG" });
      }
      yield chunk.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}

/** The first bytes of a regular file as UTF-8. @throws Error as {@link readBytes} does */
export async function readStart(path: string, maxBytes: number): Promise<string> {
  const file = await openForReading(path, true);
  try {
    const { bytesRead, buffer } = await file.read(new Uint8Array(maxBytes), 0, maxBytes);
    return new TextDecoder().decode(buffer.subarray(0, bytesRead));
  } finally {
    await file.close();
  }
}

/** Reads a file as {@link readText} does; undefined if the file does not exist. */
export async function findText(path: string, options: ReadTextOptions = {}): Promise<string | undefined> {
  try {
    return await readText(path, options);
  } catch (error) {
    if (isMissingFile(error)) return undefined;
    throw error;
  }
}

function isMissingFile(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR");
}

/** Options of {@link writeFile}. */
export interface WriteFileOptions {
  /** Permission bits. @default 0o600 */
  readonly mode?: number;
}

/** Writes `content` to `path` and replaces an existing file. The folder must exist. */
export async function writeFile(
  path: string,
  content: string | Uint8Array,
  options: WriteFileOptions = {},
): Promise<void> {
  const { mode = 0o600 } = options;
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    const file = await open(temporary, "wx", mode);
    try {
      await file.chmod(mode); // `open` subtracts the umask.
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** A file that this process has created and writes from its beginning to its end. */
export interface CreatedFile {
  /** Appends text as UTF-8. @returns the number of its bytes */
  write(text: string): Promise<number>;
  close(): Promise<void>;
}

/** Creates a file. @throws Error with the code `EEXIST` if anything has this name, also a link: nothing is followed */
export async function createFile(path: string, options: WriteFileOptions = {}): Promise<CreatedFile> {
  const { mode = 0o600 } = options;
  const file = await open(path, "wx", mode);
  return {
    write: async (text) => {
      const bytes = new TextEncoder().encode(text);
      // A disk that is almost full takes a part first, and then fails.
      for (let offset = 0; offset < bytes.length;) {
        offset += (await file.write(bytes, offset, bytes.length - offset)).bytesWritten;
      }
      return bytes.length;
    },
    close: () => file.close(),
  };
}

/**
 * Creates a folder and its missing parents with the permission bits `mode`. An existing folder stays unchanged. It does
 * not use the option `recursive`, with which Node tries for ever where the system creates no folder, as in /proc.
 */
export async function makeDirectory(path: string, mode = 0o700): Promise<void> {
  const problem = await makeOneDirectory(path, mode);
  if (problem === undefined) return;
  const parent = dirname(path);
  if (!(problem instanceof Error && "code" in problem && problem.code === "ENOENT") || parent === path) throw problem;
  await makeDirectory(parent, mode);
  const second = await makeOneDirectory(path, mode);
  if (second !== undefined) throw second;
}

/** Creates a folder, unless it exists. @returns the error, if there is none afterwards */
async function makeOneDirectory(path: string, mode: number): Promise<unknown> {
  try {
    await mkdir(path, { mode });
    return undefined;
  } catch (error) {
    const found = await stat(path).catch(() => undefined);
    return found?.isDirectory() === true ? undefined : error;
  }
}

/** Creates a folder for temporary files that only its owner can use. @returns its absolute path */
export async function makeTemporaryDirectory(prefix: string): Promise<string> {
  return await mkdtemp(join(tmpdir(), prefix));
}

/** Gives a file or a folder another path. A file there is replaced. A link is moved, not followed. */
export async function movePath(from: string, to: string): Promise<void> {
  await rename(from, to);
}

/** True if something has this name, also a link that leads nowhere. */
export async function pathExists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (isMissingFile(error)) return false;
    throw error;
  }
}

/** Whether a regular file has this name: false for a folder, a device or a link, undefined for nothing. */
export async function isRegularFile(path: string): Promise<boolean | undefined> {
  try {
    return (await lstat(path)).isFile();
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

/** Removes a file, or a folder with its content, if it exists. */
export async function removePath(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true });
}

/** The names of the entries of a folder, sorted; none if it does not exist. */
export async function directoryEntries(path: string): Promise<readonly string[]> {
  try {
    return (await readdir(path)).sort();
  } catch (error) {
    if (isMissingFile(error)) return [];
    throw error;
  }
}

/** Removes an empty folder, also when this process can open no more files. */
export async function removeEmptyDirectory(path: string): Promise<void> {
  await rmdir(path);
}

/** Facts about one file or folder. */
export interface FileStat {
  /** "pipe": a FIFO or a socket, whose reader may wait for ever. */
  readonly kind: "file" | "directory" | "pipe" | "other";
  readonly sizeBytes: number;
  /** Milliseconds since the epoch. */
  readonly modifiedAt: number;
  /** Permission bits, e.g. 0o600. */
  readonly mode: number;
  /** Changes with the content, and when another file replaces it, as a Secret volume does on rotation. */
  readonly identity: string;
}

/** Reads the facts about `path`, following symbolic links; undefined if it does not exist. */
export async function fileStat(path: string): Promise<FileStat | undefined> {
  try {
    const found = await stat(path);
    return {
      kind: kindOf(found),
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

function kindOf(found: Stats): FileStat["kind"] {
  if (found.isFile()) return "file";
  if (found.isDirectory()) return "directory";
  return found.isFIFO() || found.isSocket() ? "pipe" : "other";
}

/** `path` relative to the folder `base`; an absolute `path` stays unchanged. */
export function resolvePath(base: string, path: string): string {
  return isAbsolute(path) ? path : resolve(base, path);
}

/** Joins the parts with the separator of the system. */
export function joinPath(...parts: readonly string[]): string {
  return join(...parts);
}

/** The folder that contains `path`. */
export function directoryOf(path: string): string {
  return dirname(path);
}

/** The path that leads from the folder `from` to `to`, with slashes. */
export function relativePath(from: string, to: string): string {
  return relative(from, to).replaceAll("\\", "/");
}
