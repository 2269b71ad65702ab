/**
 * Progress of long operations, on stderr. A terminal shows lines that are overwritten and removed at the end; elsewhere a
 * line is written from time to time, so that a log stays short.
 */
import type { Clock } from "../../async/mod.ts";
import type { TextWriter } from "../../runtime/mod.ts";
import { oneLine } from "./text.ts";

/** Shows how far an operation is, until it is disposed. */
export interface Progress extends Disposable {
  /** May be called at any rate. */
  report(text: string): void;
}

/** Several lines of a terminal that are overwritten in place until they are disposed. */
export interface LiveLines extends Disposable {
  /** May be called at any rate. */
  show(lines: readonly string[]): void;
}

/** The last lines of a terminal. Caveats: other writers of the same terminal must call `hide()` first. */
export class StatusLine {
  readonly #terminal: TextWriter;
  #shown: readonly string[] = [];

  constructor(terminal: TextWriter) {
    this.#terminal = terminal;
  }

  /** Replaces the shown lines by `texts`, one line each. */
  show(...texts: readonly string[]): void {
    const maxWidth = Math.max(10, (this.#terminal.columns ?? 80) - 1);
    const lines = texts.map((text) => oneLine(text).slice(0, maxWidth));
    if (lines.length === this.#shown.length && lines.every((line, index) => line === this.#shown[index])) return;
    const clearBelow = lines.length < this.#shown.length ? "\u001b[J" : "";
    this.#terminal.write(`${this.#toFirstLine()}\r${lines.join("\u001b[K\n")}\u001b[K${clearBelow}`);
    this.#shown = lines;
  }

  /** Removes the shown lines. */
  hide(): void {
    if (this.#shown.length === 0) return;
    this.#terminal.write(`${this.#toFirstLine()}\r${this.#shown.length > 1 ? "\u001b[J" : "\u001b[K"}`);
    this.#shown = [];
  }

  #toFirstLine(): string {
    return this.#shown.length > 1 ? `\u001b[${this.#shown.length - 1}A` : "";
  }
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
