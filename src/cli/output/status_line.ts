/**
 * Progress of something long, on stderr: on a terminal one line that is written over and goes in the end, elsewhere a
 * line now and then, so that a log of it is short.
 */
import type { Clock } from "../../async/mod.ts";
import type { TextWriter } from "../../runtime/mod.ts";
import { oneLine } from "./text.ts";

/** Tells how far something is, until it is disposed of. */
export interface Progress extends Disposable {
  /** May be called as often as one likes. */
  report(text: string): void;
}

/** Lines that are written over until they are disposed of. */
export interface LiveLines extends Disposable {
  /** May be called as often as one likes. */
  show(lines: readonly string[]): void;
}

/** The last lines of a terminal. Whoever writes anything else hides them first. */
export class StatusLine {
  readonly #terminal: TextWriter;
  #shown: readonly string[] = [];

  constructor(terminal: TextWriter) {
    this.#terminal = terminal;
  }

  /** Writes `texts` over what is shown, each on a line of its own. */
  show(...texts: readonly string[]): void {
    const widest = Math.max(10, (this.#terminal.columns ?? 80) - 1);
    const lines = texts.map((text) => oneLine(text).slice(0, widest));
    if (lines.length === this.#shown.length && lines.every((line, index) => line === this.#shown[index])) return;
    const rest = lines.length < this.#shown.length ? "\u001b[J" : "";
    this.#terminal.write(`${this.#back()}\r${lines.join("\u001b[K\n")}\u001b[K${rest}`);
    this.#shown = lines;
  }

  /** Leaves the lines empty. */
  hide(): void {
    if (this.#shown.length === 0) return;
    this.#terminal.write(`${this.#back()}\r${this.#shown.length > 1 ? "\u001b[J" : "\u001b[K"}`);
    this.#shown = [];
  }

  /** To the first of the lines. */
  #back(): string {
    return this.#shown.length > 1 ? `\u001b[${this.#shown.length - 1}A` : "";
  }
}

/** What takes less is not worth a word. */
const quietMs = 1_000;
const changeMs = 2_000;
const repeatMs = 10_000;

/** Progress where nothing can be written over: the first word after a second, then when there is news, or after ten. */
export function plainProgress(say: (text: string) => void, clock: Clock): Progress {
  let saidAt = clock.monotonic();
  let said: string | undefined;
  return {
    report(text) {
      const sinceMs = clock.monotonic() - saidAt;
      const dueMs = said === undefined ? quietMs : said === text ? repeatMs : changeMs;
      if (sinceMs < dueMs) return;
      say(text);
      said = text;
      saidAt = clock.monotonic();
    },
    [Symbol.dispose]: () => {},
  };
}
