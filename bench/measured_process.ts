/**
 * A program under measurement: started, read line by line (protocol.ts), inspected in /proc at the moment when a line
 * arrives, and ended through its stdin.
 *
 * Guarantees: no program outlives its `await using` block or this process (closing its stdin ends it). A program that
 * ends early, or prints an unexpected line, is an error with the end of its stderr.
 */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import process from "node:process";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import type { z } from "zod";
import { type Usage, usageOf } from "./usage.ts";

/** A line, and the resources that the program had used when it arrived. */
export interface Arrival<T> {
  readonly line: T;
  /** Milliseconds since the program was started. */
  readonly afterMs: number;
  readonly usage: Usage;
}

/** What to start. */
export interface MeasuredProcessOptions {
  /** The program and its arguments. */
  readonly command: readonly string[];
  /** Variables on top of this process's own. */
  readonly env: Readonly<Record<string, string>>;
}

const endGraceMs = 3_000;
const stderrTailLength = 2_000;

/** A running program. */
export class MeasuredProcess implements AsyncDisposable {
  readonly #command: string;
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #startedAt: number;
  readonly #arrivals: Arrival<string>[] = [];
  readonly #ended: Promise<void>;
  #hasEnded = false;
  #wake: () => void = () => {};
  #stderr = "";

  constructor(options: MeasuredProcessOptions) {
    const [path = "", ...args] = options.command;
    this.#command = options.command.join(" ");
    this.#startedAt = performance.now();
    this.#child = spawn(path, args, { stdio: ["pipe", "pipe", "pipe"], env: { ...process.env, ...options.env } });
    this.#child.stdin.on("error", () => {}); // it may end before we close its stdin
    this.#child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-stderrTailLength);
    });
    createInterface({ input: this.#child.stdout }).on("line", (line) => this.#arrive(line));
    this.#ended = new Promise((resolve) => this.#child.once("close", resolve).once("error", resolve)).then((cause) => {
      if (cause instanceof Error) this.#stderr += cause.message;
      this.#hasEnded = true;
      this.#wake();
    });
  }

  /**
   * Waits for the next line.
   *
   * @throws Error when the program ends instead, or prints another line.
   */
  async read<T>(schema: z.ZodType<T>): Promise<Arrival<T>> {
    while (this.#arrivals.length === 0 && !this.#hasEnded) {
      await new Promise<void>((resolve) => this.#wake = resolve);
    }
    const arrival = this.#arrivals.shift();
    if (arrival === undefined) throw new Error(`Cannot measure ${this.#command}: it has ended\n${this.#stderr.trim()}`);
    return { ...arrival, line: schema.parse(JSON.parse(arrival.line)) };
  }

  /** The CPU time and memory that it has used. */
  usage(): Usage {
    return usageOf(this.#child.pid ?? 0);
  }

  /** Lets a program that does not read its stdin end in its own way. */
  stop(): void {
    this.#child.kill("SIGTERM");
  }

  /** Ends it without a warning, as a machine that fails. */
  kill(): void {
    this.#child.kill("SIGKILL");
  }

  /** Requests its next line with an empty line. */
  ask(): void {
    this.#child.stdin.write("\n");
  }

  /** Ends the program; kills it if it does not end. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.stdin.end();
    const kill = setTimeout(() => this.#child.kill("SIGKILL"), endGraceMs);
    await this.#ended;
    clearTimeout(kill);
  }

  /** Ignores errors of a program that has ended: `read` reports them. */
  #arrive(line: string): void {
    const afterMs = performance.now() - this.#startedAt;
    try {
      this.#arrivals.push({ line, afterMs, usage: this.usage() });
    } catch (error) {
      this.#stderr += String(error);
    }
    this.#wake();
  }
}
