/**
 * Standard output and standard error.
 *
 * Guarantees: text is written in the order of the calls; a reader that went away (`controller ... | head`) makes every
 * later write a no-op instead of an error (behaviours.md 85). `flush()` resolves once the text is out of our hands.
 */
import process from "node:process";

/** Where text for people and programs goes. */
export interface TextWriter {
  /** Writes `text` as it is. @returns false once the reader has gone away. */
  write(text: string): boolean;
  /** Resolves when all that was written so far has left the process or cannot any more. */
  flush(): Promise<void>;
  /** False once nothing can be written any more. @default true */
  readonly isOpen?: boolean;
  /** Why nothing can be written, unless it is that the reader has gone away. */
  readonly failure?: Error;
  /** True when a person is looking. */
  readonly isTerminal: boolean;
  /** Width in characters, undefined when this is no terminal. */
  readonly columns: number | undefined;
}

/** What `output.write` needs to be; a parameter for the test's sake. */
interface Stream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string, done: (error?: Error | null) => void): boolean;
  on(event: "error", react: (error: Error) => void): unknown;
}

/** Makes a TextWriter of one of the process's streams. */
export function textWriter(stream: Stream): TextWriter {
  let isOpen = true;
  let failure: Error | undefined;
  let last: Promise<void> = Promise.resolve();
  // EPIPE is the reader's right.
  const close = (error: Error) => {
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
      // A terminal that was given no size says 0.
      return stream.isTTY === true && stream.columns !== 0 ? stream.columns : undefined;
    },
  };
}

/** The process's standard output. */
export const standardOutput: TextWriter = textWriter(process.stdout);

/** The process's standard error. */
export const standardError: TextWriter = textWriter(process.stderr);
