/**
 * escaped() and printable() remove from a text of others what could move a cursor, begin a second line, or hide or reverse
 * text on a terminal (security 19). shortened() cuts a text that may have any length.
 */

/**
 * Controls (C0, DEL, C1), separators of lines and paragraphs, lone surrogates, and what has no glyph: controls of direction,
 * zero-width characters, fillers, tags. The selectors of a text or an emoji presentation stay.
 */
const unsafe =
  /(?![\ufe0e\ufe0f])[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}\u061c\ufff9-\ufffb\u{13430}-\u{1345f}]/gu;

/** `text` with every unsafe character written as `\uXXXX`, so that a reader sees what was there. */
export function escaped(text: string): string {
  return text.replace(unsafe, (found) => {
    let escape = "";
    for (let unit = 0; unit < found.length; unit++) {
      escape += `\\u${found.charCodeAt(unit).toString(16).padStart(4, "0")}`;
    }
    return escape;
  });
}

/** Terminal sequences: CSI, OSC and those of two characters, matched with their parameters. */
// deno-lint-ignore no-control-regex
const escapeSequences = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-_])/g;
const unprintable = new RegExp(`(?:${unsafe.source})+`, "gu");

/**
 * `text` on one line and without its unsafe characters and escape sequences, so that it reads well in an error message.
 *
 * @param maxLength The most characters of the result, without the ellipsis.
 */
export function printable(text: string, maxLength = 1024): string {
  const clean = text.slice(0, maxLength * 2).replace(escapeSequences, "").replace(unprintable, " ").trim();
  return shortened(clean, maxLength);
}

/** The beginning of a text that is longer than `maxLength` characters, and an ellipsis. Never half of a surrogate pair. */
export function shortened(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  return `${text.slice(0, maxLength).replace(/[\ud800-\udbff]$/, "")}…`;
}

/** True for a path with controls or separators of lines: a terminal and a shell would read it as something else. */
export function hasControls(path: string): boolean {
  return /\p{Cc}|[\u2028\u2029]/u.test(path);
}
