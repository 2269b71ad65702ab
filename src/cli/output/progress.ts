/**
 * Progress of long operations, on stderr. A terminal shows lines that are overwritten and removed at the end; elsewhere a
 * line is written from time to time, so that a log stays short.
 */
import type { Clock } from "../../async/mod.ts";
import type { Line } from "../../observe/mod.ts";

/** Shows how far an operation is, until it is disposed. */
export interface Progress extends Disposable {
  /** May be called at any rate. */
  report(text: string): void;
}

/** Several lines of a terminal that are overwritten in place until they are disposed. */
export interface LiveLines extends Disposable {
  /** May be called at any rate. A line is cut at the width of the terminal. */
  show(lines: readonly Line[]): void;
}

/** The whole terminal, until it is disposed. */
export interface Screen extends Disposable {
  /** How many lines fit. */
  readonly rows: number;
  /** Shows lines from the top. May be called at any rate. A line is cut at the width of the terminal. */
  show(lines: readonly Line[]): void;
  /** The next {@link show} draws every line. */
  redraw(): void;
  /** Calls `react` when the terminal gets another size. */
  onResize(react: () => void): void;
}

/** Shorter operations report nothing. */
const quietMs = 1_000;
const changeMs = 2_000;
const repeatMs = 10_000;

/**
 * Progress for an output that cannot be overwritten: the first line after a second, then a line for a new text every two
 * seconds at most, and the same text again after ten.
 */
export function plainProgress(write: (text: string) => void, clock: Clock): Progress {
  let writtenAt = clock.monotonic();
  let written: string | undefined;
  return {
    report(text) {
      const sinceMs = clock.monotonic() - writtenAt;
      const dueMs = written === undefined ? quietMs : written === text ? repeatMs : changeMs;
      if (sinceMs < dueMs) return;
      write(text);
      written = text;
      writtenAt = clock.monotonic();
    },
    [Symbol.dispose]: () => {},
  };
}
