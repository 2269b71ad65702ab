/**
 * foldLines(): breaks the long lines of a YAML text where go-yaml breaks them: at the first single space beyond column 80,
 * outside of keys and of literal blocks. Both texts say the same; only who compares them sees a difference.
 */
const width = 80;

/** Folds a text that is written with one line for each scalar that is no literal block. */
export function foldLines(text: string): string {
  const folded: string[] = [];
  // The indent that the lines of a literal block are deeper than.
  let block: number | undefined;
  for (const line of text.split("\n")) {
    if (block !== undefined && (line === "" || indentOf(line) > block)) {
      folded.push(line);
      continue;
    }
    const start = (/^ *(?:- )*/.exec(line)?.[0] ?? "").length;
    const key = keyLength(line.slice(start));
    const value = line.slice(start + key);
    block = /^[|>][-+0-9]*$/.test(value) ? start - (key === 0 ? 1 : 0) : undefined;
    // What belongs to a key stands two deeper, what belongs to a dash two deeper than the dash.
    folded.push(line.length <= width ? line : foldValue(line, start + key, " ".repeat(key === 0 ? start : start + 2)));
  }
  return folded.join("\n");
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

/** The length of a key with its colon and space, 0 where there is none. */
function keyLength(text: string): number {
  const quoted = /^(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*')/.exec(text)?.[0];
  if (quoted !== undefined) return text.startsWith(": ", quoted.length) ? quoted.length + 2 : 0;
  const colon = text.indexOf(": ");
  return colon < 0 ? 0 : colon + 2;
}

function foldValue(line: string, from: number, indent: string): string {
  const isDouble = line[from] === '"';
  let [folded, column] = [line.slice(0, from), from];
  for (let index = from; index < line.length; index++) {
    const character = line[index] ?? "";
    const isInside = index > from + 1 && index < line.length - 2;
    const isSingle = line[index - 1] !== " " && (isDouble || line[index + 1] !== " ");
    if (character === " " && column > width && isInside && isSingle) {
      // A line that goes on with a space has to say that it is meant.
      folded += `\n${indent}${line[index + 1] === " " ? "\\" : ""}`;
      column = indent.length;
    } else {
      folded += character;
      column++;
    }
  }
  return folded;
}
