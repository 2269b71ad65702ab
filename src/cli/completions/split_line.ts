/**
 * splitLine(): a command line as bash has it, cut into its words up to the cursor. Bash itself cuts at `=` and `:` too,
 * where our words go on.
 *
 * Guarantees: quotes and backslashes mean what they mean to a shell; a quote that is still open ends with the line; what
 * only running it would tell (variables, substitutions) stays as it is written.
 */

/** The words of `line`; the last one is being typed, and empty after a space. Words before the last `;` or `|` are gone. */
export function splitLine(line: string): readonly string[] {
  let words: string[] = [];
  let word = "";
  let quote: string | undefined;
  for (let index = 0; index < line.length; index++) {
    const character = line[index] ?? "";
    if (quote !== undefined) {
      if (character === quote) quote = undefined;
      else if (character === "\\" && quote === '"' && /["\\$`]/.test(line[index + 1] ?? "")) word += line[++index];
      else word += character;
    } else if (character === "'" || character === '"') {
      quote = character;
    } else if (character === "\\") {
      word += line[++index] ?? "";
    } else if (/[;|&\n]/.test(character)) {
      [words, word] = [[], ""];
    } else if (/\s/.test(character)) {
      if (word !== "") words.push(word);
      word = "";
    } else {
      word += character;
    }
  }
  return [...words, word];
}

/** How much of a word bash does not replace: all up to the last character at which it cuts. */
export function keptByBash(word: string, wordBreaks: string): number {
  for (let index = word.length - 1; index >= 0; index--) {
    const character = word[index] ?? "";
    if ("=:".includes(character) && wordBreaks.includes(character)) return index + 1;
  }
  return 0;
}
