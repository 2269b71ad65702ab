/**
 * Progress of long operations, on stderr. A terminal shows lines that are overwritten and removed at the end; elsewhere a
 * line is written from time to time, so that a log stays short.
 */
import type { Clock } from "../../async/mod.ts";
import type { TextWriter } from "../../runtime/mod.ts";
import type { Cell, Paint } from "./table.ts";
import { oneLine } from "./text.ts";

/** Shows how far an operation is, until it is disposed. */
export interface Progress extends Disposable {
  /** May be called at any rate. */
  report(text: string): void;
}

/** Several lines of a terminal that are overwritten in place until they are disposed. */
export interface LiveLines extends Disposable {
  /** May be called at any rate. A line is cut at the width of the terminal. */
  show(lines: readonly Cell[]): void;
}

/** The last lines of a terminal. Caveats: other writers of the same terminal must call `hide()` first. */
export class StatusLine {
  readonly #terminal: TextWriter;
  readonly #paint: Paint;
  #shown: readonly string[] = [];

  constructor(terminal: TextWriter, paint: Paint = (text) => text) {
    this.#terminal = terminal;
    this.#paint = paint;
  }

  /** Replaces the shown lines by `cells`, one line each. */
  show(...cells: readonly Cell[]): void {
    const maxWidth = Math.max(10, (this.#terminal.columns ?? 80) - 1);
    const lines = cells.map((cell) => {
      const text = lineText(typeof cell === "string" ? cell : cell.text).slice(0, maxWidth);
      return typeof cell === "string" ? text : this.#paint(text, cell.tone);
    });
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

/** One safe line, with its indentation. */
function lineText(text: string): string {
  return " ".repeat(text.length - text.trimStart().length) + oneLine(text);
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
