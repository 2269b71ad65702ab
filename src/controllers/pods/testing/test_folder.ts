/** A temporary folder for one test, and the access to files that RunSetup gives to a controller. */
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findText, writeFile as writeText } from "../../../runtime/mod.ts";
import type { RunSetup } from "../../../mod.ts";

export const files: RunSetup["files"] = { findText, writeText };

/** Removed when it is disposed. */
export class TestFolder implements AsyncDisposable {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  static async create(): Promise<TestFolder> {
    return new TestFolder(await mkdtemp(join(tmpdir(), "pintle-pods-")));
  }

  /** Writes a file. @returns Its path */
  async write(name: string, text: string): Promise<string> {
    const path = join(this.path, name);
    await writeFile(path, text);
    return path;
  }

  async read(name: string): Promise<string> {
    return await readFile(join(this.path, name), "utf8");
  }

  /** Returns the permission bits of a file. */
  async mode(name: string): Promise<number> {
    return (await stat(join(this.path, name))).mode & 0o777;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
  }
}
