/**
 * oneLine(): text of unknown origin as one line that is safe to show on a terminal.
 *
 * Line breaks become spaces; control characters, escapes and the marks that turn writing direction around become
 * visible (CVE-2021-25743 is what happens where they do not); what is too long is cut.
 */
/* MERGED resource_text.ts  How people name a resource with its subresource: `foos.example.dev/status`. */

/** Characters that a line may have, as behaviours.md security 19 asks. */
const maxLineLength = 4_096;

// C0 and C1 controls, DEL, line and paragraph separators, bidirectional marks, embeddings, overrides and isolates.
// deno-lint-ignore no-control-regex
const unsafe = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Makes `text` one harmless line. */
export function oneLine(text: string): string {
  const cut = text.length > maxLineLength ? `${text.slice(0, maxLineLength)}...` : text;
  return cut.replaceAll(/\s*[\r\n]+\s*/g, " ").trim().replaceAll(unsafe, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** @param rule.resource The plural, with the subresource where there is one: `foos/status` */
export function resourceText({ group, resource }: { readonly group: string; readonly resource: string }): string {
  const [plural, subresource] = resource.split("/");
  const kind = group === "" ? plural : `${plural}.${group}`;
  return subresource === undefined ? `${kind}` : `${kind}/${subresource}`;
}

/** `1 object`, `12 objects`. */
export function count(number: number, noun: string): string {
  return `${number.toLocaleString("en-US")} ${noun}${number === 1 ? "" : "s"}`;
}

/** `there are bar and foo`, for a sentence that ends in what there is. */
export function listOf(names: readonly string[]): string {
  if (names.length === 0) return "there is none";
  return names.length === 1 ? `there is only ${names[0]}` : `there are ${names.join(", ")}`;
}

/** The candidate that differs least from `word`, if it is near enough to be meant. */
export function mostSimilar(word: string, candidates: readonly string[]): string | undefined {
  const near = candidates
    .map((candidate) => ({ candidate, distance: editDistance(word, candidate) }))
    .filter(({ candidate, distance }) => distance <= Math.max(1, Math.floor(candidate.length / 3)))
    .sort((a, b) => a.distance - b.distance);
  return near[0]?.candidate;
}

/** Letters to insert, remove or replace to get from one word to the other (Levenshtein). */
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
