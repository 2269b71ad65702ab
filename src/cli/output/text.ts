/**
 * Text for terminals: lines that are safe to show, lists of names, numbers with their noun.
 *
 * Guarantees: `oneLine()` returns one line without control characters and without marks that change the writing direction,
 * whatever a cluster sent (security 19; CVE-2021-25743 is what happens otherwise).
 */
import { escaped } from "../../observe/mod.ts";

/** Longer text is cut. */
const maxLineLength = 4_096;

/** Turns `text` into one safe line: line breaks become spaces, control characters become visible escapes. */
export function oneLine(text: string): string {
  const cut = text.length > maxLineLength ? `${text.slice(0, maxLineLength)}...` : text;
  return escaped(cut.replaceAll(/\s*[\r\n]+\s*/g, " ").trim());
}

/**
 * Names a resource with its group and subresource: `foos.example.dev/status`.
 *
 * @param rule.resource The plural, with the subresource where there is one: `foos/status`
 */
export function resourceText({ group, resource }: { readonly group: string; readonly resource: string }): string {
  const [plural, subresource] = resource.split("/");
  const kind = group === "" ? plural : `${plural}.${group}`;
  return subresource === undefined ? `${kind}` : `${kind}/${subresource}`;
}

/** Returns `text` as one word for a shell, in quotes where that is necessary. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** `1 object`, `12 objects`. */
export function count(number: number, noun: string): string {
  return `${number.toLocaleString("en-US")} ${noun}${number === 1 ? "" : "s"}`;
}

/** `3 s`, `5 min`, `2 h`, `40 d`. */
export function approximateDuration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3_600)} h`;
  return `${Math.round(seconds / 86_400)} d`;
}

/** The end of a sentence that lists what exists: `there are bar, foo`. */
export function listOf(names: readonly string[]): string {
  if (names.length === 0) return "there is none";
  return names.length === 1 ? `there is only ${names[0]}` : `there are ${names.join(", ")}`;
}

/** The candidate that differs least from `word`; undefined when all differ too much to be a typing error. */
export function mostSimilar(word: string, candidates: readonly string[]): string | undefined {
  const near = candidates
    .map((candidate) => ({ candidate, distance: editDistance(word, candidate) }))
    .filter(({ candidate, distance }) => distance <= Math.max(1, Math.floor(candidate.length / 3)))
    .sort((a, b) => a.distance - b.distance);
  return near[0]?.candidate;
}

/** The number of letters to insert, remove or replace to turn one word into the other (Levenshtein). */
function editDistance(from: string, to: string): number {
  if (Math.abs(from.length - to.length) > to.length) return Infinity;
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const replaced = at(row, j - 1) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, at(row, j) + 1, at(next, j - 1) + 1));
    }
    row = next;
  }
  return at(row, to.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Infinity;
}
