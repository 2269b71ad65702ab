/**
 * oneLine(): text of unknown origin as one line that is safe to show on a terminal.
 *
 * Line breaks become spaces; control characters, escapes and the marks that turn writing direction around become
 * visible (CVE-2021-25743 is what happens where they do not); what is too long is cut.
 */

/** Characters that a line may have, as behaviours.md security 19 asks. */
const longestLine = 4_096;

// C0 and C1 controls, DEL, line and paragraph separators, bidirectional marks, embeddings, overrides and isolates.
// deno-lint-ignore no-control-regex
const unsafe = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Makes `text` one harmless line. */
export function oneLine(text: string): string {
  const cut = text.length > longestLine ? `${text.slice(0, longestLine)}...` : text;
  return cut.replaceAll(/\s*[\r\n]+\s*/g, " ").trim().replaceAll(unsafe, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
