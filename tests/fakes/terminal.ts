/** A terminal in memory: it understands what ScreenWriter writes, and nothing else. */
import { assertEquals } from "../testing.ts";

/** A terminal of a size: the lines that it shows, and its state. It fails at sequences that it does not know. */
export class TinyTerminal {
  columns: number;
  rows: number;
  lines: string[];
  /** The modes that are set: `?1049` is the second buffer. */
  modes = new Set<string>();
  writes = 0;
  #row = 0;
  #column = 0;

  /** The beginning of a sequence whose end has not arrived. */
  #rest = "";

  constructor({ columns = 20, rows = 5 }: { readonly columns?: number; readonly rows?: number } = {}) {
    this.columns = columns;
    this.rows = rows;
    this.lines = Array.from({ length: rows }, () => "");
  }

  write(text: string): void {
    this.writes++;
    const whole = this.#rest + text;
    // A real terminal gets bytes in any pieces.
    // deno-lint-ignore no-control-regex
    this.#rest = /\u001b(\[[?0-9;]*)?$/.exec(whole)?.[0] ?? "";
    const shown = whole.slice(0, whole.length - this.#rest.length);
    // deno-lint-ignore no-control-regex
    for (const part of shown.match(/\u001b\[[?0-9;]*[A-Za-z]|[^\u001b]+|\u001b/g) ?? []) {
      if (part.startsWith("\u001b")) this.#control(part.slice(1));
      else this.#type(part);
    }
  }

  #type(text: string): void {
    const line = (this.lines[this.#row] ?? "").padEnd(this.#column);
    this.lines[this.#row] = (line.slice(0, this.#column) + text + line.slice(this.#column + text.length))
      .slice(0, this.columns);
    this.#column += text.length;
  }

  #control(sequence: string): void {
    const [, numbers = "", final = ""] = /^\[([?0-9;]*)([A-Za-z])$/.exec(sequence) ?? [];
    const [first = 1, second = 1] = numbers.split(";").map((text) => Number(text) || 1);
    if (final === "H") [this.#row, this.#column] = [first - 1, second - 1];
    else if (final === "K") this.lines[this.#row] = (this.lines[this.#row] ?? "").slice(0, this.#column);
    else if (final === "J") {
      const from = numbers === "2" ? 0 : this.#row;
      for (let row = from; row < this.rows; row++) this.lines[row] = "";
    } else if (final === "h") this.modes.add(numbers);
    else if (final === "l") this.modes.delete(numbers);
    else assertEquals(final, "m", `unknown sequence ${JSON.stringify(sequence)}`);
  }
}
