/**
 * The blocks of commands in README.md and in the guide, as data; readme_blocks.ts and e2e/guide_test.ts run them.
 *
 * - ```sh: each line is a command; what follows two spaces and # is a comment.
 * - ```console: a line that begins with "$ " is a command, the lines below it are what it prints. `…` stands for anything
 *   inside of a line, and as a line of its own for any lines. Blanks are not compared.
 *
 * A comment above a block says otherwise: `<!-- sh: not run, REASON -->` has one of the reasons below.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname ?? ".", "..");

/** Why a block is not run, and the pattern that its text has. */
export const reasons: Readonly<Record<string, RegExp>> = {
  "it is the gate that runs these tests": /task ok$/m,
  "it takes minutes": / simulate /,
  "tests/kind runs it": /^kind /m,
  "it needs a registry": /registry\.example\.com/,
  "tests/e2e/envtest_test.ts runs it": /\benvtest -- go test/,
  "tests/e2e/other_languages_test.ts runs it": /\benvtest -- cargo test/,
  "tests/e2e/any_operator_test.ts runs it": / simulate --command /,
  "tests/e2e/simulate_command_test.ts runs it": / simulate --command .*--without-faults /,
  "src/cli/run_graph/run_graph_test.ts runs them": / run-graph /,
  "tests/e2e/conformance_test.ts runs it": /\bconformance --/,
  "tests/e2e/image_test.ts runs it": /\bimage --platform /,
  "tests/e2e/fleet_test.ts runs it": / run .*--clusters /,
};

/** One command, and what it prints if the page says so. */
export interface ShownCommand {
  readonly text: string;
  readonly output: readonly string[] | undefined;
}

/** One block. */
export interface ShellBlock {
  /** The page, relative to the repository. */
  readonly page: string;
  /** The line of the page that it begins in. */
  readonly line: number;
  readonly text: string;
  readonly commands: readonly ShownCommand[];
  /** Why it is not run. */
  readonly notRun: string | undefined;
  /** True when it compiles a binary, or uses one. */
  readonly compiles: boolean;
}

/** Pages of the guide, relative to the repository, in the order of its table of contents. */
export function guidePages(): readonly string[] {
  const contents = readFileSync(join(root, "docs/guide/README.md"), "utf8");
  const listed = [...contents.matchAll(/^\| \[[^\]]+\]\(([^)]+)\)/gm)].map(([, name]) => `docs/guide/${name}`);
  const present = readdirSync(join(root, "docs/guide")).filter((name) => name !== "README.md");
  const missing = present.map((name) => `docs/guide/${name}`).filter((page) => !listed.includes(page));
  if (missing.length > 0) throw new Error(`Cannot read the guide: its table of contents lacks ${missing.join(", ")}`);
  return listed;
}

/** Returns the blocks of a page. @throws Error for a comment or a line that is not in the form above */
export function shellBlocks(page = "README.md", text = readFileSync(join(root, page), "utf8")): readonly ShellBlock[] {
  return [...text.matchAll(/(?:<!-- sh: (.*) -->\n\n?)?^```(sh|console)\n([^]*?)^```$/gm)].map((found) => {
    const [, mark, language, body = ""] = found;
    const [, notRun] = /^not run, (.+)$/.exec(mark ?? "") ?? [];
    const line = text.slice(0, found.index).split("\n").length;
    if (mark !== undefined && notRun === undefined) {
      throw new Error(`Cannot read ${page}: the mark "${mark}" before line ${line} is not "not run, REASON"`);
    }
    const compiles = /\bcompile\b|compile\.sh|\bdist\//.test(body);
    const lines = body.trimEnd().split("\n");
    const commands = language === "sh" ? lines.map(commandOf) : shownCommands(lines, `${page}:${line}`);
    return { page, line, text: body, commands, notRun, compiles };
  });
}

function commandOf(line: string): ShownCommand {
  return { text: line.replace(/\s{2,}# .*$/, ""), output: undefined };
}

function shownCommands(lines: readonly string[], where: string): readonly ShownCommand[] {
  const commands: { readonly text: string; readonly output: string[] }[] = [];
  for (const line of lines) {
    const [, text] = /^\$ (.+)$/.exec(line) ?? [];
    if (text !== undefined) commands.push({ text, output: [] });
    else if (commands.length === 0) throw new Error(`Cannot read ${where}: its first line does not begin with "$ "`);
    else commands.at(-1)?.output.push(line);
  }
  return commands;
}

/** Compares what a page shows with what a command printed. @returns the first line that is not there, if any */
export function missingLine(shown: readonly string[], printed: string): string | undefined {
  const lines = printed.split("\n").map(withoutBlanks).filter((line) => line !== "");
  const wanted = shown.map(withoutBlanks).filter((line) => line !== "");
  let at = 0;
  let isAnywhere = false;
  for (const line of wanted) {
    if (line === "…") {
      isAnywhere = true;
      continue;
    }
    const pattern = new RegExp(`^${line.split("…").map(escaped).join(".*")}$`);
    const found = isAnywhere ? lines.findIndex((one, index) => index >= at && pattern.test(one)) : at;
    if (found < 0 || !pattern.test(lines[found] ?? "")) return line;
    at = found + 1;
    isAnywhere = false;
  }
  return isAnywhere || at === lines.length ? undefined : `(the end, but there is) ${lines[at]}`;
}

function withoutBlanks(line: string): string {
  return line.trim().replaceAll(/\s+/g, " ");
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
