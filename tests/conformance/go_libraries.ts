/**
 * Kubernetes' libraries for patches and managed fields, as a process that reads a line of JSON and
 * responds with one. A test that needs it builds it with Go, once.
 */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { goProgram } from "../controlplane/go_build.ts";
import type { Json } from "../../src/apiserver/model/mod.ts";

const moduleDir = join(import.meta.dirname ?? ".", "libraries");

/** A running process of libraries/main.go. */
export class GoLibraries implements AsyncDisposable {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #lines: AsyncIterator<string>;
  readonly #closed: Promise<void>;

  private constructor(program: string) {
    const child = spawn(program, [], { stdio: ["pipe", "pipe", "inherit"] });
    this.#child = child;
    this.#closed = new Promise((resolve) => child.on("close", () => resolve()));
    this.#lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  }

  /** Starts the program. @throws Error when it does not build */
  static async start(): Promise<GoLibraries> {
    return new GoLibraries(
      await goProgram({ name: "libraries", moduleDir, programs: { libraries: "pintle/libraries" } }),
    );
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
  }
}
