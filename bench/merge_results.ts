/**
 * mergeResults(): puts the results of some cases into the file with the results of all cases, so that a case can be
 * measured again: its rows of the first table, its own table and its facts replace the old ones.
 *
 * Both texts have the format of report.ts; a case is identified by its title.
 */

/** The parts of a results file. */
interface Parts {
  /** Everything up to the rows of the first table. */
  readonly head: string;
  /** The rows of the first table, by the title they begin with. */
  readonly rows: ReadonlyMap<string, readonly string[]>;
  /** The text below each `## title`, without the facts. */
  readonly sections: ReadonlyMap<string, string>;
  /** The rows of the facts, by their name. */
  readonly facts: ReadonlyMap<string, string>;
}

const factsTitle = "Measured with";
const tableHead = /^\|(?: .* )?\|$\n^\|(?: --- \|)+$\n/m;

/** Puts the cases of `part` into `whole`. @throws Error when one of them is not a results file */
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
