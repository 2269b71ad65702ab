/**
 * Reads the statements of docs/BEHAVIOURS.md, collects the tests that hold them, and lists those tests on the page.
 *
 * A test names its statements at the beginning of its name: `[12] a watch that ends at once backs off`, `[38, 39] ...`,
 * `[security 5] ...`. A test file names a fault class or an invariant in its comments: `fault class F2`, `invariants I1
 * and I6`.
 */

/** A statement's number as the page writes it: `12`, `security 5`, `F2` or `I6`. */
export type StatementId = string;

/** A test, or a file of tests, that holds statements. */
export interface Evidence {
  readonly statements: readonly StatementId[];
  /** The file, relative to the repository. */
  readonly path: string;
  /** The test's name without its numbers; undefined for a file that names a fault class or an invariant. */
  readonly name?: string;
}

const statementLine = /^\*\*((?:security )?\d+|[FI]\d+)\.\*\* /;
const testTags = /(["'`])\[(?:security )?\d[^\]]*\]/g;
const generatedBlock = /\n<details><summary>\d+ (?:test|file)s?<\/summary>\n[\s\S]*?<\/details>\n/g;

/** The numbers of all statements, in the order of the page. @throws RangeError for a number that occurs twice */
export function statementsOf(page: string): readonly StatementId[] {
  const found = page.split("\n").flatMap((line) => statementLine.exec(line)?.[1] ?? []);
  const twice = found.find((id, index) => found.indexOf(id) !== index);
  if (twice !== undefined) throw new RangeError(`Cannot read the statements: ${twice} occurs twice`);
  return found;
}

/** The tests of one file that name statements, and the file itself where it names a fault class or an invariant. */
export function evidenceIn(path: string, text: string): readonly Evidence[] {
  const number = String.raw`(?:security )?\d+`;
  const quoted = new RegExp(String.raw`(["'\`])\[(${number}(?:\s*,\s*${number})*)\] ((?:\\.|(?!\1)[^\\\n])+)\1`, "g");
  const tests = [...text.matchAll(quoted)].map(([, , numbers = "", name = ""]) => ({
    statements: numbers.split(",").map((one) => one.trim()),
    path,
    name: name.replaceAll(/\\(.)/g, "$1"),
  }));
  const named = referencesIn(text).filter((id) => /^[FI]/.test(id));
  return named.length === 0 ? tests : [...tests, { statements: [...new Set(named)], path }];
}

/**
 * The statements that a text refers to: "behaviour 12", "behaviours 10-14 and 17", "security 14", "fault class F2",
 * "invariants I1, I2 and I6".
 */
export function referencesIn(text: string): readonly StatementId[] {
  const flat = text.replaceAll(testTags, "$1").replaceAll(/\s*\n\s*(?:\*|\/\/)?\s*/g, " ");
  const list = (item: string) => String.raw`(${item}(?:(?:\s?[-–]\s?|, | and |, and )${item}\b)*)`;
  const references = [
    [new RegExp(String.raw`\bbehaviours? ${list(String.raw`\d+`)}`, "g"), ""],
    [new RegExp(String.raw`\bsecurity ${list(String.raw`\d+`)}`, "g"), "security "],
    [new RegExp(String.raw`\bfault class(?:es)? ${list(String.raw`F\d+`)}`, "g"), ""],
    [new RegExp(String.raw`\binvariants? ${list(String.raw`I\d+`)}`, "g"), ""],
  ] as const;
  return references.flatMap(([pattern, prefix]) =>
    [...flat.matchAll(pattern)].flatMap(([, items = ""]) => [...items.matchAll(/[FI]?\d+/g)].map(([id]) => prefix + id))
  );
}

/** Statements without evidence. */
export function statementsWithoutTest(page: string, evidence: readonly Evidence[]): readonly StatementId[] {
  const held = new Set(evidence.flatMap(({ statements }) => statements));
  return statementsOf(page).filter((id) => !held.has(id));
}

/** The page with the tests of each statement listed under it. @throws RangeError for a test of an unknown statement */
export function withEvidence(page: string, evidence: readonly Evidence[]): string {
  const known = new Set(statementsOf(page));
  for (const { statements, path } of evidence) {
    const unknown = statements.find((id) => !known.has(id));
    if (unknown !== undefined) {
      throw new RangeError(`Cannot list ${path}: docs/BEHAVIOURS.md has no statement ${unknown}`);
    }
  }
  const paragraphs = page.replaceAll(generatedBlock, "").trimEnd().split("\n\n");
  const lists = paragraphs.flatMap((paragraph) => {
    const id = statementLine.exec(paragraph)?.[1];
    const held = id === undefined ? [] : evidence.filter(({ statements }) => statements.includes(id));
    return held.length === 0 ? [paragraph] : [paragraph, ...listOf(held)];
  });
  return `${lists.join("\n\n")}\n`;
}

function listOf(held: readonly Evidence[]): readonly string[] {
  const lines = held.map(({ path, name }) =>
    name === undefined ? `- ${linkTo(path)}` : `- ${escaped(name)} (${linkTo(path)})`
  );
  const kind = held.every(({ name }) => name === undefined) ? "file" : "test";
  const summary = `<details><summary>${held.length} ${kind}${held.length === 1 ? "" : "s"}</summary>`;
  return [summary, lines.toSorted().join("\n"), "</details>"];
}

function linkTo(path: string): string {
  return `[${path}](../${path})`;
}

/** A test's name as Markdown shows it to the letter. */
function escaped(name: string): string {
  return name.replaceAll("<", "&lt;").replaceAll(/[*_[\]`]/g, String.raw`\$&`);
}
