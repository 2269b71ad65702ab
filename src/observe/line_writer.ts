/**
 * LineWriter: the one way to a terminal, a pipe or a file for lines (security 19). Results, logs, errors, questions and
 * lines that are overwritten pass it; `tests/layers.ts` refuses every other one.
 *
 * Guarantees: whatever a text contains, it stays on its line and cannot control the terminal: each part of a line is escaped
 * here, so that no caller can forget it, and live credentials are masked. Styles are data (`Tone`); only this file makes
 * terminal sequences of them.
 * Caveats: other writers of the same terminal must call `hideStatus()` first.
 */
import { liveSecrets } from "./redaction/mod.ts";
import { escaped } from "./safe_text.ts";

/** What a colour means. */
export type Tone = "success" | "error" | "warning" | "muted" | "strong" | "info" | "faint" | "fatal";

/** SGR parameters: green, red, yellow, dim, bold, cyan, grey, bold red. */
const codes = {
  success: "32",
  error: "31",
  warning: "33",
  muted: "2",
  strong: "1",
  info: "36",
  faint: "90",
  fatal: "31;1",
} as const satisfies Record<Tone, string>;

/** A part of a line: any text, optionally with a meaning that decides its colour. */
export type Cell = string | { readonly text: string; readonly tone: Tone };

/** A line: its parts one after the other. */
export type Line = Cell | readonly Cell[];

/** Where text goes. */
export interface LineOutput {
  /** Writes `text` unchanged. */
  write(text: string): unknown;
  /** The width of the terminal in characters. @default 80 */
  readonly columns?: number | undefined;
}

/** Writes lines to one output. */
export class LineWriter {
  readonly #output: LineOutput;
  readonly #hasColors: boolean;
  #status: readonly string[] = [];

  constructor(output: LineOutput, { hasColors = false }: { readonly hasColors?: boolean } = {}) {
    this.#output = output;
    this.#hasColors = hasColors;
  }

  /** Writes lines, in one call of the output. */
  writeLines(...lines: readonly Line[]): void {
    this.#write(lines.map((line) => `${this.#rendered(line)}\n`).join(""));
  }

  /** Writes a text of several lines, such as YAML or a script, escaped apart from tabs. Credentials in it are meant. */
  writeDocument(text: string): void {
    this.#write(text.split(/([\n\t])/).map((part) => part === "\n" || part === "\t" ? part : escaped(part)).join(""));
  }

  /** Writes a question; the user answers on its line. */
  writePrompt(question: Line): void {
    this.#write(`${this.#rendered(question)} `);
  }

  /** Shows `lines` below everything else, in place of the last ones. A line is cut at the width of the terminal. */
  showStatus(...lines: readonly Line[]): void {
    const width = Math.max(10, (this.#output.columns ?? 80) - 1);
    const shown = lines.map((line) => this.#rendered(line, width));
    if (shown.length === this.#status.length && shown.every((line, index) => line === this.#status[index])) return;
    const clearBelow = shown.length < this.#status.length ? "\u001b[J" : "";
    this.#output.write(`${this.#toFirstLine()}\r${shown.join("\u001b[K\n")}\u001b[K${clearBelow}`);
    this.#status = shown;
  }

  /** Removes what {@link showStatus} showed. */
  hideStatus(): void {
    this.#write("");
  }

  /**
   * Writes text in place of the status, in one call: a terminal on which Ctrl-C is typed drops what it has not shown yet, and
   * would show the one without the other.
   */
  #write(text: string): void {
    const isMany = this.#status.length > 1;
    const erasing = this.#status.length === 0 ? "" : `${this.#toFirstLine()}\r${isMany ? "\u001b[J" : "\u001b[K"}`;
    this.#status = [];
    if (erasing !== "" || text !== "") this.#output.write(erasing + text);
  }

  #toFirstLine(): string {
    return this.#status.length > 1 ? `\u001b[${this.#status.length - 1}A` : "";
  }

  #rendered(line: Line, maxWidth = Infinity): string {
    return renderedLine(line, { hasColors: this.#hasColors, maxWidth });
  }
}

/** A line as it is written, escaped and without live credentials. For the writers of this folder only. */
export function renderedLine(
  line: Line,
  { hasColors, maxWidth }: { readonly hasColors: boolean; readonly maxWidth: number },
): string {
  let left = maxWidth;
  return cellsOf(line).map((cell) => {
    const text = escaped(liveSecrets.mask(typeof cell === "string" ? cell : cell.text)).slice(0, left);
    left -= text.length;
    return typeof cell === "string" || !hasColors || text === "" ? text : `\u001b[${codes[cell.tone]}m${text}\u001b[0m`;
  }).join("");
}

/** The parts of a line. */
export function cellsOf(line: Line): readonly Cell[] {
  return typeof line === "string" || "text" in line ? [line] : line;
}
