/**
 * The answer to a shell: `PROGRAM __complete bash WORDBREAKS LINE`, or `PROGRAM __complete words -- WORD...`. No command
 * that people see; its form is only for the scripts of this very version.
 */
import { type ExitCode, exitCode } from "../exit_code.ts";
import { oneLine } from "../one_line.ts";
import type { Session } from "../session.ts";
import type { SubcommandEntry } from "../subcommands.ts";
import { type Candidate, complete } from "./complete.ts";
import { keptByBash, splitLine } from "./split_line.ts";
import { valueSource } from "./value_source.ts";

/** Prints the answer. @param args What stands behind `__complete` */
export async function answerShell(
  args: readonly string[],
  session: Session,
  table: readonly SubcommandEntry[],
): Promise<ExitCode> {
  const [how, first = "", line = ""] = args;
  const isBash = how === "bash";
  const words = isBash ? splitLine(line).slice(1) : args.slice(2);
  const parts = { operator: session.operator, table, source: valueSource(session) };
  const { candidates, paths } = await complete(words, parts);
  const kept = isBash ? keptByBash(words.at(-1) ?? "", first) : 0;
  session.print(`${paths}\n${candidates.map((candidate) => lineOf(candidate, kept)).join("")}`);
  return exitCode.done;
}

/** What a cluster sent (names of namespaces) must not make a second line. */
function lineOf({ value, about }: Candidate, kept: number): string {
  return `${oneLine(value.slice(kept))}\t${oneLine(about)}\n`;
}
