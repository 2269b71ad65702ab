/** A temporary folder for one test. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** A folder with files. Dispose it to remove it. */
export class TemporaryFolder implements AsyncDisposable {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  static async with(files: Readonly<Record<string, string>>): Promise<TemporaryFolder> {
    const folder = new TemporaryFolder(await mkdtemp(join(tmpdir(), "pintle-client-")));
    for (const [name, text] of Object.entries(files)) await folder.write(name, text);
    return folder;
  }

  /** Writes a file; a script becomes executable. @returns its path */
  async write(name: string, text: string): Promise<string> {
    const path = join(this.path, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text, { mode: text.startsWith("#!") ? 0o700 : 0o600 });
    return path;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
  }
}
