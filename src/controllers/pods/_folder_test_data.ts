/** A temporary folder for one test. */
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Gone when disposed. */
export class Folder implements AsyncDisposable {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  static async make(): Promise<Folder> {
    return new Folder(await mkdtemp(join(tmpdir(), "pintle-pods-")));
  }

  /** Writes a file. @returns its path */
  async write(name: string, text: string): Promise<string> {
    const path = join(this.path, name);
    await writeFile(path, text);
    return path;
  }

  async read(name: string): Promise<string> {
    return await readFile(join(this.path, name), "utf8");
  }

  /** The permission bits of a file. */
  async mode(name: string): Promise<number> {
    return (await stat(join(this.path, name))).mode & 0o777;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
  }
}
