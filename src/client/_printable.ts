/**
 * Text from elsewhere made safe to show: no control characters, no escape sequences, no bidirectional overrides, not
 * longer than a person reads (behaviours.md, security 4 and 19).
 */

/** Terminal sequences: CSI, OSC and the two-character ones, so that their parameters vanish with them. */
// deno-lint-ignore no-control-regex
const escapeSequences = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-_])/g;
// deno-lint-ignore no-control-regex
const unprintable = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]+/g;

/** `text` on one line, at most `maxLength` characters long. */
export function printable(text: string, maxLength = 1024): string {
  const clean = text.slice(0, maxLength * 2).replace(escapeSequences, "").replace(unprintable, " ").trim();
  return clean.length <= maxLength ? clean : `${clean.slice(0, maxLength)}…`;
}
