/**
 * Kubernetes' libraries for patches and managed fields, as a process that reads a line of JSON and
 * responds with one. A test that needs it builds it with Go, which takes some seconds with a warm Go cache.
 */
import { type ChildProcessByStdio, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import type { Json } from "../../src/apiserver/model/mod.ts";

const source = join(import.meta.dirname ?? ".", "libraries");

/** A running process of libraries/main.go. */
export class GoLibraries implements AsyncDisposable {
  readonly #folder: string;
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #lines: AsyncIterator<string>;
  readonly #closed: Promise<void>;

  /** @throws Error when the program does not build */
  constructor() {
    this.#folder = mkdtempSync(join(tmpdir(), "pintle-libraries-"));
    const program = join(this.#folder, "libraries");
    const built = spawnSync("go", ["build", "-buildvcs=false", "-o", program, "."], { cwd: source, encoding: "utf8" });
    if (built.status !== 0) throw new Error(`Cannot build ${source}: ${built.stderr}`);
    const child = spawn(program, [], { stdio: ["pipe", "pipe", "inherit"] });
    this.#child = child;
    this.#closed = new Promise((resolve) => child.on("close", () => resolve()));
    this.#lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  }

  /** Sends a request and waits for the response. */
  async call(request: { readonly operation: string; readonly [key: string]: unknown }): Promise<Json> {
    this.#child.stdin.write(`${JSON.stringify(request)}\n`);
    const { value, done } = await this.#lines.next();
    if (done === true) throw new Error("Cannot call the libraries: the process has ended");
    const response: Json = JSON.parse(value);
    return response;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.stdin.end();
    await this.#closed;
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
