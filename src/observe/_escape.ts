/**
 * Text from a cluster made safe for a terminal and for a log file: names and messages are other people's, and a log
 * line must not move the cursor, change colours, begin a second line or read backwards (behaviours.md, security 19).
 */

/** Longest value of a field, in characters. */
export const longestField = 4_096;

/** C0 and C1 controls, DEL, line and paragraph separators, bidirectional controls, zero-width characters, lone surrogates. */
const unsafe =
  // deno-lint-ignore no-control-regex
  /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\p{Surrogate}/gu;

/** `text` with every character that could do more than stand there written as `\uXXXX`. */
export function escaped(text: string): string {
  return text.replace(unsafe, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** `text`, or its beginning and how much is missing. */
export function cut(text: string): string {
  return text.length <= longestField ? text : `${text.slice(0, longestField - 32)}…[${text.length} characters]`;
}

/** `text` as a JSON string that is safe to show, at most {@link longestField} characters of it. */
export function quoted(text: string): string {
  return escaped(JSON.stringify(cut(text)));
}
