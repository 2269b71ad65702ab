/**
 * Results on stdout: tables for people, laid out as kubectl does, and objects as YAML or JSON for programs.
 *
 * Guarantees: tables have colours only on a terminal without NO_COLOR (https://no-color.org); text that a cluster sent stays
 * on its line and cannot control the terminal.
 */
import { printExactJson } from "../../api/mod.ts";
import { type Cell, cellsOf, escaped, type Line, type Tone } from "../../observe/mod.ts";
import type { Environment, TextWriter } from "../../runtime/mod.ts";
import { printYaml } from "../../yaml/mod.ts";
import { oneLine } from "./text.ts";

/** Spaces between two columns, as in kubectl. */
const gap = 3;

/** Lays out `rows` in aligned columns, one line each. */
export function table(rows: readonly (readonly Cell[])[]): readonly Line[] {
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach((cell, column) => widths[column] = Math.max(widths[column] ?? 0, width(textOf(cell))));
  }
  return rows.map((row) => lineOf(row, widths));
}

function lineOf(row: readonly Cell[], widths: readonly number[]): readonly Cell[] {
  return row.flatMap((cell, column) => {
    const text = textOf(cell);
    const shown = typeof cell === "string" ? text : { ...cell, text };
    // No padding after the last text of a line.
    const isLast = row.slice(column + 1).every((other) => textOf(other) === "");
    return isLast ? [shown] : [shown, " ".repeat((widths[column] ?? 0) - width(text) + gap)];
  });
}

/** `line` in one tone. */
export function toned(line: Line, tone: Tone): Cell {
  return { text: cellsOf(line).map((cell) => typeof cell === "string" ? cell : cell.text).join(""), tone };
}

function textOf(cell: Cell): string {
  return oneLine(typeof cell === "string" ? cell : cell.text);
}

function width(text: string): number {
  return [...text].length;
}

/** True when `writer` shows colours. */
export function hasColors(writer: TextWriter, environment: Environment): boolean {
  return writer.isTerminal && (environment.NO_COLOR ?? "") === "" && environment.TERM !== "dumb";
}

/** A format for programs. */
export type ObjectFormat = "yaml" | "json";

/** Formats Kubernetes objects as kubectl does: one object as it is, several as a stream of documents or as a List. */
export function formatObjects(objects: readonly object[], format: ObjectFormat): string {
  const [only] = objects;
  if (format === "yaml") return objects.map((object) => safeYaml(object, printYaml(object))).join("---\n");
  const whole = objects.length === 1 ? only : { apiVersion: "v1", kind: "List", items: objects };
  return safeJson(whole, 4);
}

/** Formats a value that is not a Kubernetes object. */
export function formatValue(value: object, format: ObjectFormat): string {
  return format === "json" ? safeJson(value, 2) : safeYaml(value, printYaml(value, { sortKeys: false }));
}

/** JSON whose texts cannot control a terminal. Only texts contain such characters, and there the escape means the same. */
function safeJson(value: unknown, indent: number): string {
  return escapedLines(`${printExactJson(value, indent)}\n`);
}

/** The YAML of `value`; as JSON, which is YAML, too, where a text without quotes could control a terminal. */
function safeYaml(value: object, yaml: string): string {
  return escapedLines(yaml) === yaml ? yaml : safeJson(value, 2);
}

function escapedLines(text: string): string {
  return text.split("\n").map(escaped).join("\n");
}
