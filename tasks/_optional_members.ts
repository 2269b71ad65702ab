/**
 * withUndefined(): declarations whose optional members accept `undefined`, as the sources do.
 *
 * The sources are checked without `exactOptionalPropertyTypes`, so `namespace?: string` means that the value may be
 * undefined, too. For a user who has that option on, the same text says that it may not, and `{ name, namespace }` of one
 * object would be no metadata of another. For all others nothing changes.
 */

/** Comments and texts, which are left alone, and the marks of optional members. */
const marks = /\/\*[\s\S]*?\*\/|\/\/.*|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`|(?<!-)\?: /g;

/** Adds `| undefined` to the type of each optional member of a declaration file as TypeScript writes it. */
export function withUndefined(text: string): string {
  const additions: { readonly at: number; readonly text: string }[] = [];
  for (const { 0: mark, index } of text.matchAll(marks)) {
    if (mark !== "?: ") continue;
    const start = index + mark.length;
    const end = endOfType(text, start);
    const isOpen = /=>|\?|\bextends\b/.test(text.slice(start, end));
    if (isOpen) additions.push({ at: start, text: "(" });
    additions.push({ at: end, text: isOpen ? ") | undefined" : " | undefined" });
  }
  let written = "", at = 0;
  for (const addition of additions.sort((one, other) => one.at - other.at)) {
    written += text.slice(at, addition.at) + addition.text;
    at = addition.at;
  }
  return written + text.slice(at);
}

/** Where the type that begins at `start` ends: before what separates or ends members, outside of brackets. */
function endOfType(text: string, start: number): number {
  let depth = 0;
  const parts = /\/\*[\s\S]*?\*\/|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`|=>|[()[\]{}<>;,]/g;
  parts.lastIndex = start;
  for (let part = parts.exec(text); part !== null; part = parts.exec(text)) {
    const [mark] = part;
    if (depth === 0 && /^[)\]};,]$/.test(mark)) return text.slice(0, part.index).trimEnd().length;
    if (/^[([{<]$/.test(mark)) depth++;
    else if (/^[)\]}>]$/.test(mark)) depth--;
  }
  throw new Error(`Cannot read a declaration: the type at ${start} has no end`);
}
