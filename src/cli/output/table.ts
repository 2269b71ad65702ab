/** Rows as text in columns that line up, as kubectl prints them. */
/* MERGED paint.ts  Colours for people: only where a terminal shows them and nobody said NO_COLOR (https://no-color.org). */
/* MERGED print_objects.ts  Objects on stdout for programs: `-o yaml` and `-o json`, as kubectl prints them. */
import { oneLine } from "./text.ts";
import type { Environment, TextWriter } from "../../runtime/mod.ts";
import { stringify } from "yaml";
import type { Session } from "../command/mod.ts";

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

/** What a colour says, not which it is. */
export type Tone = "good" | "bad" | "doubtful" | "quiet" | "strong";

/** Text as it is to be shown. */
export type Paint = (text: string, tone: Tone) => string;

/** SGR parameters: green, red, yellow, dim, bold. */
const codes = { good: 32, bad: 31, doubtful: 33, quiet: 2, strong: 1 } as const satisfies Record<Tone, number>;

/** Whether `writer` may be given colours. */
export function hasColors(writer: TextWriter, environment: Environment): boolean {
  return writer.isTerminal && (environment.NO_COLOR ?? "") === "" && environment.TERM !== "dumb";
}

/** A Paint that colours, or leaves all text as it is. */
export function paintFor(writer: TextWriter, environment: Environment): Paint {
  if (!hasColors(writer, environment)) return (text) => text;
  return (text, tone) => text === "" ? text : `\u001b[${codes[tone]}m${text}\u001b[0m`;
}

/** A format that programs read. */
export type ObjectFormat = "yaml" | "json";

/** Prints one object as it is, several as a stream of documents or as a List. */
export function printObjectList(objects: readonly object[], format: ObjectFormat, session: Session): void {
  const [only] = objects;
  if (format === "yaml") return session.print(objects.map(yamlOf).join("---\n"));
  const whole = objects.length === 1 ? only : { apiVersion: "v1", kind: "List", items: objects };
  session.print(`${JSON.stringify(whole, undefined, 4)}\n`);
}

/** Prints a value that is no Kubernetes object. */
export function printValue(value: object, format: ObjectFormat, session: Session): void {
  if (format === "json") return session.print(`${JSON.stringify(value, undefined, 2)}\n`);
  session.print(stringify(value, { lineWidth: 0, aliasDuplicateObjects: false }));
}

function yamlOf(object: object): string {
  return stringify(object, { lineWidth: 0, aliasDuplicateObjects: false, sortMapEntries: true });
}
