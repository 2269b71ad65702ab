/** A second build of the program: the binary of a copy of the sources in which one line is changed. */
import { execFile } from "node:child_process";
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import type { Ending } from "./_binary.ts";

const root = join(import.meta.dirname ?? ".", "..", "..");

/** One changed line. */
export interface ChangedLine {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** Dispose it to remove the copy. */
export class ChangedBuild implements AsyncDisposable {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** Compiles the copy. @throws Error when the file does not have the line exactly once */
  static async compile({ file, from, to }: ChangedLine): Promise<ChangedBuild> {
    const folder = await mkdtemp(join(tmpdir(), "pintle-build-"));
    try {
      for (const part of ["src", "tasks", "main.ts", "compile.sh", "deno.json"]) {
        await cp(join(root, part), join(folder, part), { recursive: true });
      }
      await symlink(join(root, "node_modules"), join(folder, "node_modules"));
      const path = join(folder, file);
      const parts = (await readFile(path, "utf8")).split(from);
      if (parts.length !== 2) throw new Error(`Cannot change ${file}: it has "${from}" ${parts.length - 1} times`);
      await writeFile(path, parts.join(to));
      await promisify(execFile)("sh", [join(folder, "compile.sh")], { cwd: folder });
      return new ChangedBuild(folder);
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
  }

  /** Runs the binary to its end. */
  async run(args: readonly string[], kubeconfig?: string): Promise<Ending> {
    const env = {
      PATH: process.env["PATH"] ?? "",
      HOME: "/nonexistent",
      ...(kubeconfig === undefined ? {} : { KUBECONFIG: kubeconfig }),
    };
    return await new Promise((resolve) => {
      execFile(join(this.#folder, "dist", "controller"), args, { env }, (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
      });
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }
}
