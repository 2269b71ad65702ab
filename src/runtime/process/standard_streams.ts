/**
 * Standard input, standard output and standard error of this process.
 *
 * Guarantees: text is written in the order of the calls. When the reader has closed the pipe (`controller ... | head`),
 * later writes do nothing and raise no error (behaviour 85). Standard input is not read before `readLine` is called.
 */
import process from "node:process";
import { isReaderGone } from "./pipe_reader.ts";

/** Writes text for people and programs. */
export interface TextWriter {
  /** Writes `text` unchanged. @returns false if the reader has closed the pipe */
  write(text: string): boolean;
  /** Resolves when all text so far has left the process, or can no longer be written. */
  flush(): Promise<void>;
  /** Finds out whether the reader has closed the pipe, without a write; `isOpen` is then up to date. @default no effect */
  probe?(): void;
  /** False if nothing more can be written. @default true */
  readonly isOpen?: boolean;
  /** Why nothing more can be written. Undefined if the reader has closed the pipe. */
  readonly failure?: Error;
  /** True if the text goes to a terminal. */
  readonly isTerminal: boolean;
  /** Width of the terminal in characters; undefined if there is none. */
  readonly columns: number | undefined;
  /** Height of the terminal in lines; undefined if there is none. @default undefined */
  readonly rows?: number | undefined;
  /** Calls `react` when the terminal gets another size, until the result is disposed. @default never */
  onResize?(react: () => void): Disposable;
}

/** The part of a stream that {@link textWriter} uses. */
interface Stream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  /** The file descriptor; undefined for a stream of this process. */
  readonly fd?: number;
  write(text: string, done: (error?: Error | null) => void): boolean;
  on(event: "error", react: (error: Error) => void): unknown;
  on(event: "resize", react: () => void): unknown;
  off(event: "resize", react: () => void): unknown;
}

/** Makes a TextWriter for a stream. */
export function textWriter(stream: Stream): TextWriter {
  let isOpen = true;
  let failure: Error | undefined;
  let last: Promise<void> = Promise.resolve();
  const close = (error: Error) => {
    // EPIPE is no failure: a reader may stop when it has read enough.
    if (isOpen && !("code" in error && error.code === "EPIPE")) failure = error;
    isOpen = false;
  };
  stream.on("error", close);
  return {
    write(text) {
      if (!isOpen) return false;
      last = new Promise((resolve) => {
        stream.write(text, (error) => {
          if (error) close(error);
          resolve();
        });
      });
      return isOpen;
    },
    flush: () => last,
    probe() {
      if (isOpen && stream.fd !== undefined && isReaderGone(stream.fd)) isOpen = false;
    },
    get isOpen() {
      return isOpen;
    },
    get failure() {
      return failure;
    },
    get isTerminal() {
      return stream.isTTY === true;
    },
    get columns() {
      // A terminal of unknown size reports 0.
      return stream.isTTY === true && stream.columns !== 0 ? stream.columns : undefined;
    },
    get rows() {
      return stream.isTTY === true && stream.rows !== 0 ? stream.rows : undefined;
    },
    onResize(react) {
      stream.on("resize", react);
      return { [Symbol.dispose]: () => void stream.off("resize", react) };
    },
  };
}

/** The standard output of this process. */
export const standardOutput: TextWriter = textWriter(process.stdout);

/** The standard error of this process. */
export const standardError: TextWriter = textWriter(process.stderr);

/** Reads lines, e.g. the answers of the user. */
export interface LineReader {
  /** True if a terminal is connected, so that a user can answer. */
  readonly isTerminal: boolean;
  /** The next line without its line end; undefined at the end of the input. */
  readLine(): Promise<string | undefined>;
  /**
   * Calls `react` with each key that is pressed, until the result is disposed: a character, or a name of {@link KeyName}.
   * Meanwhile the terminal shows no typed text and sends no signal for Ctrl-C, which is a key, too. @default there are no keys
   */
  readKeys?(react: (key: string) => void): Disposable;
  /** All that is left of the input, as UTF-8. @throws RangeError when it is larger than `maxBytes` */
  readAll?(maxBytes: number): Promise<string>;
}

/** The keys that are no character. */
export type KeyName = "up" | "down" | "pageup" | "pagedown" | "enter" | "escape" | "backspace" | "ctrl-c" | "ctrl-l";

const keyNames: Readonly<Record<string, KeyName>> = {
  "\u001b[A": "up",
  "\u001bOA": "up",
  "\u001b[B": "down",
  "\u001bOB": "down",
  "\u001b[5~": "pageup",
  "\u001b[6~": "pagedown",
  "\r": "enter",
  "\n": "enter",
  "\u001b": "escape",
  "\u007f": "backspace",
  "\b": "backspace",
  "\u0003": "ctrl-c",
  "\u000c": "ctrl-l",
};

/** Sequences of a terminal, and single characters. */
// deno-lint-ignore no-control-regex
const keyPattern = /\u001b\[[0-?]*[ -/]*[@-~]|\u001bO[@-~]|\u001b|[^\u001b]/gu;

/** The keys in what a terminal sent: characters, and names of other keys. Unknown sequences and controls are left out. */
export function keysOf(sent: string): readonly string[] {
  return (sent.match(keyPattern) ?? []).flatMap((key) => keyNames[key] ?? (/^\p{Cc}/u.test(key) ? [] : key));
}

/** The standard input of this process. */
export const standardInput: LineReader = {
  get isTerminal() {
    return process.stdin.isTTY === true;
  },
  async readLine() {
    // Loaded at the first question: most commands ask none.
    const { createInterface } = await import("node:readline");
    return await new Promise((resolve) => {
      const lines = createInterface({ input: process.stdin });
      lines.once("line", (line) => {
        resolve(line);
        lines.close();
      });
      lines.once("close", () => resolve(undefined));
    });
  },
  readKeys(react) {
    const { stdin } = process;
    const decoder = new TextDecoder();
    const listener = (chunk: Uint8Array) => keysOf(decoder.decode(chunk, { stream: true })).forEach(react);
    stdin.setRawMode(true);
    stdin.on("data", listener);
    stdin.resume();
    return {
      [Symbol.dispose]: () => {
        stdin.off("data", listener);
        stdin.setRawMode(false);
        stdin.pause();
      },
    };
  },
  async readAll(maxBytes) {
    const decoder = new TextDecoder();
    let text = "";
    let sizeBytes = 0;
    for await (const chunk of process.stdin as AsyncIterable<Uint8Array>) {
      sizeBytes += chunk.length;
      if (sizeBytes > maxBytes) throw new RangeError(`Cannot read standard input: larger than ${maxBytes} bytes`);
      text += decoder.decode(chunk, { stream: true });
    }
    return text + decoder.decode();
  },
};
