/**
 * ScreenWriter: a whole terminal that is drawn again and again, for `top`. It uses the terminal's second buffer, so that what
 * was there before is there again at the end.
 *
 * Guarantees: as LineWriter, no text leaves its line or controls the terminal; a frame is one write that overwrites only the
 * lines that differ, so that nothing flickers and a slow connection is not filled; a line that is too long is cut; after
 * `leave()` the terminal is as it was.
 */
import { type Line, type LineOutput, renderedLine } from "./line_writer.ts";

/** Where a screen is drawn. */
export interface ScreenOutput extends LineOutput {
  /** The height of the terminal in lines. @default 24 */
  readonly rows?: number | undefined;
}

/** The second buffer, no wrapping of long lines, no cursor. */
const entering = "\u001b[?1049h\u001b[?7l\u001b[?25l\u001b[H\u001b[2J";
const leaving = "\u001b[?25h\u001b[?7h\u001b[?1049l";
/** A terminal that knows it shows what is between them at once; others ignore it. */
const [frameBegin, frameEnd] = ["\u001b[?2026h", "\u001b[?2026l"];

/** Draws on one terminal. */
export class ScreenWriter {
  readonly #output: ScreenOutput;
  readonly #hasColors: boolean;
  #shown: readonly string[] | undefined;
  #size = "";

  constructor(output: ScreenOutput, { hasColors = false }: { readonly hasColors?: boolean } = {}) {
    this.#output = output;
    this.#hasColors = hasColors;
  }

  /** How many lines there is room for. */
  get rows(): number {
    return Math.max(2, this.#output.rows ?? 24);
  }

  /** Shows `lines` from the top; those that do not fit are left out. The first call enters the second buffer. */
  show(lines: readonly Line[]): void {
    const maxWidth = Math.max(10, this.#output.columns ?? 80);
    const size = `${maxWidth}x${this.rows}`;
    const next = lines.slice(0, this.rows).map((line) => renderedLine(line, { hasColors: this.#hasColors, maxWidth }));
    // A terminal of another size has moved what it shows.
    const before = size === this.#size ? this.#shown ?? [] : [];
    const changes = next.flatMap((line, index) =>
      line === before[index] ? [] : `\u001b[${index + 1};1H${line}\u001b[K`
    );
    const hasRest = next.length < before.length || size !== this.#size;
    if (hasRest && next.length < this.rows) changes.push(`\u001b[${next.length + 1};1H\u001b[J`);
    const enters = this.#shown === undefined;
    this.#shown = next;
    this.#size = size;
    if (changes.length > 0 || enters) {
      this.#output.write(`${enters ? entering : ""}${frameBegin}${changes.join("")}${frameEnd}`);
    }
  }

  /** Draws everything with the next call of {@link show}, because others have written on the terminal. */
  forget(): void {
    this.#size = "";
  }

  /** Leaves the second buffer. Does nothing if it was not entered. */
  leave(): void {
    if (this.#shown === undefined) return;
    this.#shown = undefined;
    this.#output.write(leaving);
  }
}
