/**
 * mergeResults(): the results of some cases into the file that holds those of all, so that a case can be measured again
 * by itself: its rows of the first table, its own table, and the facts it was measured with take the place of the old.
 *
 * Both texts are as report.ts writes them; a case is known by its title.
 */

/** A results file, taken apart. */
interface Parts {
  /** Everything up to the rows of the first table. */
  readonly head: string;
  /** The rows of the first table, by the title they begin with. */
  readonly rows: ReadonlyMap<string, readonly string[]>;
  /** What stands below each `## title`, facts aside. */
  readonly sections: ReadonlyMap<string, string>;
  /** The rows of the facts, by their name. */
  readonly facts: ReadonlyMap<string, string>;
}

const factsTitle = "Measured with";
const tableHead = /^\|(?: .* )?\|$\n^\|(?: --- \|)+$\n/m;

/** Puts the cases of `part` into `whole`. @throws Error when one of them is no results file */
export function mergeResults(whole: string, part: string): string {
  const [old, fresh] = [takenApart(whole), takenApart(part)];
  const rows = new Map([...old.rows, ...fresh.rows]);
  const sections = new Map([...old.sections, ...fresh.sections]);
  const facts = new Map([...old.facts, ...fresh.facts]);
  return [
    fresh.head,
    ...[...rows.values()].flatMap((group) => group.map((row) => `${row}\n`)),
    ...[...sections].map(([title, text]) => `\n## ${title}\n\n${text}\n`),
    `\n## ${factsTitle}\n\n|  |  |\n| --- | --- |\n`,
    ...[...facts.values()].map((row) => `${row}\n`),
  ].join("");
}

function takenApart(text: string): Parts {
  const [first = "", ...rest] = text.split(/^## /m);
  const table = tableHead.exec(first);
  if (table === null) throw new Error("Cannot merge results: there is no table of bars");
  const end = table.index + table[0].length;
  const sections = new Map(rest.map((section) => {
    const lineEnd = section.indexOf("\n");
    return [section.slice(0, lineEnd), section.slice(lineEnd).trim()];
  }));
  const facts = rowsOf(sections.get(factsTitle) ?? "").slice(2);
  sections.delete(factsTitle);
  return {
    head: first.slice(0, end),
    rows: Map.groupBy(rowsOf(first.slice(end)), firstCell),
    sections,
    facts: new Map(facts.map((row) => [firstCell(row), row])),
  };
}

function rowsOf(text: string): readonly string[] {
  return text.split("\n").filter((line) => line.startsWith("|"));
}

function firstCell(row: string): string {
  return row.split(" | ", 1)[0]?.slice(1).trim() ?? "";
}
