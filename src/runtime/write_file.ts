/**
 * Writing whole files so that a reader sees the old content or the new, never half of it, and nobody else sees secrets.
 *
 * Guarantees: the text goes into a new file beside the target (O_EXCL, so a planted file or link is refused), is synced
 * and renamed over it; the permissions are set before the first byte is written. A symbolic link at the target is
 * replaced, not followed (behaviours.md, security 6).
 */
import { randomUUID } from "node:crypto";
import { mkdir, open, rename, rm } from "node:fs/promises";

/** Options of {@link writeFile}. */
export interface WriteFileOptions {
  /** Permission bits. @default 0o600 */
  readonly mode?: number;
}

/** Writes `content` to `path`, replacing what is there. The folder must exist. */
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
      await file.chmod(mode); // `open` subtracts the umask
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

/** Makes a folder, and those above it, with permission bits `mode` (default 0o700). Does nothing if it is there. */
export async function makeDirectory(path: string, mode = 0o700): Promise<void> {
  await mkdir(path, { recursive: true, mode });
}

/** Removes a file or a whole folder. Does nothing if there is none. */
export async function removePath(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true });
}
