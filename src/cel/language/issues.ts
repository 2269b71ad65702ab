/** Issues of an expression, and their text: position, message, source line and a pointer below it. */

/** One issue. */
export interface Issue {
  /** UTF-16 index in the source; -1 for the expression as a whole. */
  readonly offset: number;
  readonly message: string;
}

/** Longer lines are not shown. */
const maxSnippetLength = 16_384;
const maxIssues = 100;

/** Formats issues like the real server: `ERROR: <input>:1:6: undefined field 'x'` and the line. */
export function formatIssues(source: string, issues: readonly Issue[]): string {
  const sorted = issues.toSorted((left, right) => left.offset - right.offset);
  // Only of those that are shown: finding a place takes a look at the whole source, and there may be very many issues.
  const shown = sorted.slice(0, maxIssues).map((issue) => formatIssue(issue, placeOf(source, issue.offset)));
  if (sorted.length > maxIssues) shown.push(`${sorted.length - maxIssues} more errors were truncated`);
  return shown.join("\n");
}

interface Place {
  /** Starts at 1; -1 for the whole expression. */
  readonly line: number;
  /** Code points before the issue in its line. */
  readonly column: number;
  readonly text: string | undefined;
}

function placeOf(source: string, offset: number): Place {
  if (offset < 0) return { line: -1, column: -1, text: undefined };
  // An empty expression has no line that could be shown.
  if (source === "") return { line: 1, column: -1, text: undefined };
  const before = source.slice(0, offset);
  const start = before.lastIndexOf("\n") + 1;
  const end = source.indexOf("\n", start);
  return {
    line: before.split("\n").length,
    column: [...before.slice(start)].length,
    text: source.slice(start, end < 0 ? undefined : end),
  };
}

function formatIssue(issue: Issue, { line, column, text }: Place): string {
  const head = `ERROR: <input>:${line}:${column + 1}: ${issue.message}`;
  if (text === undefined || text.length > maxSnippetLength) return head;
  const characters = [...text.replaceAll("\t", " ")];
  const pointer = characters.slice(0, column).map((character) => isWide(character) ? "．" : ".").join("");
  const caret = isWide(characters[column] ?? "") ? "＾" : "^";
  return `${head}\n | ${characters.join("")}\n | ${pointer}${caret}`;
}

function isWide(character: string): boolean {
  return (character.codePointAt(0) ?? 0) > 0x7f;
}
