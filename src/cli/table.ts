/** Rows as text in columns that line up, as kubectl prints them. */
import { oneLine } from "./one_line.ts";
import type { Paint, Tone } from "./paint.ts";

/** One field of a table: text, perhaps in a colour. */
export type Cell = string | { readonly text: string; readonly tone: Tone };

/** Characters between two columns, as kubectl's. */
const gap = 3;

/** Lays `rows` out, each on a line of its own. The last column is as wide as it is. */
export function table(rows: readonly (readonly Cell[])[], paint: Paint = (text) => text): string {
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach((cell, column) => widths[column] = Math.max(widths[column] ?? 0, width(textOf(cell))));
  }
  return rows.map((row) => `${lineOf(row, widths, paint)}\n`).join("");
}

function lineOf(row: readonly Cell[], widths: readonly number[], paint: Paint): string {
  const cells = row.map((cell, column) => {
    const text = textOf(cell);
    const shown = typeof cell === "string" ? text : paint(text, cell.tone);
    // Spaces at the end of a line are nobody's.
    const isLast = row.slice(column + 1).every((other) => textOf(other) === "");
    return isLast ? shown : shown + " ".repeat((widths[column] ?? 0) - width(text) + gap);
  });
  return cells.join("").trimEnd();
}

/** What a cluster sent stays on its line and away from the terminal's controls. */
function textOf(cell: Cell): string {
  return oneLine(typeof cell === "string" ? cell : cell.text);
}

function width(text: string): number {
  return [...text].length;
}
