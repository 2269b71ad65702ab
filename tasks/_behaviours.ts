/**
 * The promises of behaviours.md and the tests that show them, read off the names of the tests: a name begins with the
 * numbers, `[12] a watch that ends at once backs off`, `[38, 39] one key never runs twice`, `[security 5] no error shows a
 * token`.
 */

/** One numbered promise. */
export interface Promised {
  readonly list: ListName;
  readonly number: number;
}

/** The numbered lists of behaviours.md: its parts 2 and 4. */
export type ListName = keyof typeof lengths;

/** One test that shows one or more promises. */
export interface Evidence {
  readonly promises: readonly Promised[];
  /** The file of the test, relative to the repository. */
  readonly path: string;
  /** The name without its numbers. */
  readonly name: string;
}

/** How many promises each list has. */
export const lengths = { behaviours: 95, security: 25 } as const;

const titles: Readonly<Record<ListName, string>> = { behaviours: "Behaviours", security: "Security" };

/** What the tests of one file show. */
export function evidenceIn(path: string, text: string): readonly Evidence[] {
  const number = String.raw`(?:security )?\d+`;
  const quoted = new RegExp(String.raw`(["'\`])\[(${number}(?:\s*,\s*${number})*)\] ((?:\\.|(?!\1)[^\\\n])+)\1`, "g");
  return [...text.matchAll(quoted)].map(([, , numbers = "", name = ""]) => ({
    promises: numbers.split(",").map((one) => promiseOf(one.trim())),
    path,
    name: name.replaceAll(/\\(.)/g, "$1"),
  }));
}

function promiseOf(text: string): Promised {
  const [last = "", word] = text.split(" ").reverse();
  return { list: word === "security" ? "security" : "behaviours", number: Number(last) };
}

/** Numbers of a list that no test carries. */
export function missingNumbers(list: ListName, evidence: readonly Evidence[]): readonly number[] {
  const shown = new Set(shownIn(list, evidence).map(({ number }) => number));
  return Array.from({ length: lengths[list] }, (_, index) => index + 1).filter((number) => !shown.has(number));
}

/** The page: a table for each list, and what is not shown yet. @throws RangeError for a number that the list does not have */
export function behavioursPage(evidence: readonly Evidence[]): string {
  return [
    "# Behaviours and their tests",
    "",
    "Written from the names of the tests by `deno run -A tasks/behaviours.ts`; do not edit.",
    ...sectionOf("behaviours", evidence),
    ...sectionOf("security", evidence),
    "",
  ].join("\n");
}

interface Row {
  readonly number: number;
  readonly path: string;
  readonly name: string;
}

function shownIn(list: ListName, evidence: readonly Evidence[]): readonly Row[] {
  return evidence.flatMap(({ promises, path, name }) =>
    promises.filter((promise) => promise.list === list).map(({ number }) => ({ number, path, name }))
  );
}

function sectionOf(list: ListName, evidence: readonly Evidence[]): readonly string[] {
  const rows = shownIn(list, evidence);
  const strange = rows.find(({ number }) => number < 1 || number > lengths[list]);
  if (strange !== undefined) {
    throw new RangeError(`Cannot list ${strange.path}: ${list} has no number ${strange.number}`);
  }
  const missing = missingNumbers(list, evidence);
  return [
    "",
    `## ${titles[list]}`,
    "",
    `${lengths[list] - missing.length} of ${lengths[list]} numbers have a test that carries them.`,
    ...(missing.length === 0 ? [] : [`Without one: ${missing.join(", ")}.`]),
    "",
    "| # | Test | File |",
    "|--:|------|------|",
    ...rows.toSorted(byNumber).map(({ number, path, name }) =>
      `| ${number} | ${escaped(name)} | [${path}](../${path}) |`
    ),
  ];
}

function byNumber(left: Row, right: Row): number {
  if (left.number !== right.number) return left.number - right.number;
  return `${left.path} ${left.name}` < `${right.path} ${right.name}` ? -1 : 1;
}

/** A name inside a table of Markdown. */
function escaped(name: string): string {
  return name.replaceAll("|", "\\|").replaceAll("<", "&lt;");
}
