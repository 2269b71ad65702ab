/**
 * DebugEndpoint: the debug endpoint of processes of the compiled binary, on loopback with a token in a folder of its own.
 * Several processes can have the same token; each has a port of its own.
 */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Binary } from "./_binary.ts";

/** An answer of the endpoint. */
export interface DebugAnswer<T> {
  readonly status: number;
  readonly value: T;
}

/** Disposing removes the token. */
export class DebugEndpoint implements AsyncDisposable {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async create(): Promise<DebugEndpoint> {
    return new DebugEndpoint(await mkdtemp(join(tmpdir(), "pintle-debug-")));
  }

  get tokenFile(): string {
    return join(this.#folder, "token");
  }

  /** For a process that asks. */
  get tokenFlags(): readonly string[] {
    return ["--debug-token-file", this.tokenFile];
  }

  /** For a process that serves the endpoint. */
  get flags(): readonly string[] {
    return ["--debug-bind-address", "127.0.0.1:0", ...this.tokenFlags];
  }

  /** Waits until `binary` serves the endpoint. @returns `127.0.0.1:40123` */
  async addressOf(binary: Binary): Promise<string> {
    await binary.logged(/serving the debug endpoint.*port=\d+/);
    return `127.0.0.1:${/serving the debug endpoint.*port=(\d+)/.exec(binary.stderr)?.[1]}`;
  }

  /** @param path `/debug/plan` */
  async ask<T>(binary: Binary, path: string): Promise<DebugAnswer<T>> {
    const address = await this.addressOf(binary);
    const headers = { authorization: `Bearer ${(await readFile(this.tokenFile, "utf8")).trim()}` };
    const response = await fetch(`http://${address}${path}`, { headers });
    return { status: response.status, value: await response.json() };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#folder, { recursive: true });
  }
}
