/**
 * The Warning headers of a response. As in kube-apiserver (apiserver `audit/warning`), warnings of more than 4096 characters
 * together are cut to 256 characters each and to that total, because clients refuse larger heads.
 */

/** Characters of all warnings of a response. */
const maxTotalCharacters = 4096;
/** Characters of each warning, when all of them are too long. */
const maxItemCharacters = 256;

/** The values of the headers, `299 - "text"` as in RFC 7234. */
export function warningHeaders(warnings: ReadonlySet<string>): readonly string[] {
  const total = sum([...warnings].map(characters));
  if (total <= maxTotalCharacters) return [...warnings].filter((text) => text !== "").map(headerOf);
  const headers: string[] = [];
  let written = 0;
  for (const text of warnings) {
    if (written >= maxTotalCharacters) break;
    if (text === "") continue;
    // A character has at most two code units, so only a part of a very long text is read.
    const shown = [...text.slice(0, 2 * maxItemCharacters)].slice(0, maxItemCharacters);
    headers.push(headerOf(shown.join("")));
    written += shown.length;
  }
  return headers;
}

/** The length as far as it matters. */
function characters(text: string): number {
  return text.length > 2 * maxTotalCharacters ? text.length : [...text].length;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** Characters that a header cannot contain are escaped or replaced. */
function headerOf(text: string): string {
  // deno-lint-ignore no-control-regex
  const clean = text.replace(/[\x00-\x1f\x7f]/g, " ").replace(/[^\x20-\x7e]/g, "?");
  return `299 - "${clean.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}
