/**
 * Progress of something long, on stderr: on a terminal one line that is written over and goes in the end, elsewhere a
 * line now and then, so that a log of it is short.
 */
import type { Clock } from "../async/mod.ts";
import type { TextWriter } from "../runtime/mod.ts";
import { oneLine } from "./one_line.ts";

/** Tells how far something is, until it is disposed of. */
export interface Progress extends Disposable {
  /** May be called as often as one likes. */
  report(text: string): void;
}

/** The last line of a terminal. Whoever writes anything else hides it first. */
export class StatusLine {
  readonly #terminal: TextWriter;
  #shown = "";

  constructor(terminal: TextWriter) {
    this.#terminal = terminal;
  }

  /** Writes `text` over what is shown. */
  show(text: string): void {
    const cut = oneLine(text).slice(0, Math.max(10, (this.#terminal.columns ?? 80) - 1));
    if (cut === this.#shown) return;
    this.#terminal.write(`\r${cut}\u001b[K`);
    this.#shown = cut;
  }

  /** Leaves the line empty. */
  hide(): void {
    if (this.#shown === "") return;
    this.#terminal.write("\r\u001b[K");
    this.#shown = "";
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
