/**
 * The promises of behaviours.md and the tests that show them, read off the names of the tests: a name begins with the
 * numbers, `[12] a watch that ends at once backs off`, `[38, 39] one key never runs twice`.
 */

/** One test that shows one or more promises. */
export interface Evidence {
  readonly numbers: readonly number[];
  /** The file of the test, relative to the repository. */
  readonly path: string;
  /** The name without its numbers. */
  readonly name: string;
}

/** How many promises behaviours.md numbers. */
export const behaviourCount = 95;

/** What the tests of one file show. */
export function evidenceIn(path: string, text: string): readonly Evidence[] {
  const quoted = /(["'`])\[(\d+(?:\s*,\s*\d+)*)\] ((?:\\.|(?!\1)[^\\\n])+)\1/g;
  return [...text.matchAll(quoted)].map(([, , numbers = "", name = ""]) => ({
    numbers: numbers.split(",").map(Number),
    path,
    name: name.replaceAll(/\\(.)/g, "$1"),
  }));
}

/** Promises whose number no test carries. */
export function missingNumbers(evidence: readonly Evidence[]): readonly number[] {
  const shown = new Set(evidence.flatMap(({ numbers }) => numbers));
  return Array.from({ length: behaviourCount }, (_, index) => index + 1).filter((number) => !shown.has(number));
}

/** The page: a table, and what is not shown yet. @throws RangeError for a number that behaviours.md does not have. */
export function behavioursPage(evidence: readonly Evidence[]): string {
  for (const { numbers, path } of evidence) {
    const strange = numbers.find((number) => number < 1 || number > behaviourCount);
    if (strange !== undefined) throw new RangeError(`Cannot list ${path}: there is no behaviour ${strange}`);
  }
  const missing = missingNumbers(evidence);
  const shown = behaviourCount - missing.length;
  return [
    "# Behaviours and their tests",
    "",
    "Written from the names of the tests by `deno run -A tasks/behaviours.ts`; do not edit.",
    "",
    `${shown} of ${behaviourCount} numbered behaviours have a test that carries their number.`,
    ...(missing.length === 0 ? [] : [`Without one: ${missing.join(", ")}.`]),
    "",
    "| # | Test | File |",
    "|--:|------|------|",
    ...rowsOf(evidence),
    "",
  ].join("\n");
}

function rowsOf(evidence: readonly Evidence[]): readonly string[] {
  const rows = evidence.flatMap(({ numbers, path, name }) => numbers.map((number) => ({ number, path, name })));
  const order = (row: typeof rows[number]) => `${String(row.number).padStart(4, "0")} ${row.path} ${row.name}`;
  rows.sort((left, right) => order(left) < order(right) ? -1 : 1);
  return rows.map(({ number, path, name }) => `| ${number} | ${escaped(name)} | [${path}](../${path}) |`);
}

/** A name inside a table of Markdown. */
function escaped(name: string): string {
  return name.replaceAll("|", "\\|").replaceAll("<", "&lt;");
}
