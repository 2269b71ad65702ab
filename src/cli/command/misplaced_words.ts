/**
 * Errors about words in the wrong place: a controller where a command belongs (`controller foo`), a command where a
 * controller belongs (`controller doctor run`), a flag in front of the command. The advice is the command line that was
 * meant.
 *
 * Guarantees: the advice repeats names of commands, controllers and flags only, never a value, which may be a secret.
 */
import { UsageError } from "../flags/mod.ts";
import { listOf, mostSimilar } from "../output/mod.ts";
import type { Operator } from "./operator.ts";
import type { Subcommand, SubcommandEntry } from "./subcommand.ts";

/** A command line, and what it can name. */
export interface CommandLine {
  /** The arguments of the program. */
  readonly args: readonly string[];
  readonly operator: Operator;
  readonly table: readonly SubcommandEntry[];
}

/**
 * Returns the error for a first word, or a word after `help`, that is no command; undefined when there is none.
 *
 * @param line.args Without `help`
 */
export async function unknownCommandError(line: CommandLine): Promise<UsageError | undefined> {
  const [word] = line.args;
  if (word === undefined || word === "help" || word.startsWith("-") || isCommand(line, word)) return undefined;
  const names = line.table.map(({ name }) => name);
  const what = isController(line, word) ? "it is a controller" : listOf(names);
  const meant = await meantCommand(line, word);
  const advice = meant === undefined
    ? `Run "${line.operator.name} --help"`
    : `Did you mean: ${line.operator.name} ${meant}`;
  return new UsageError(`Cannot find command "${word}": ${what}`, advice);
}

/** The command, with the controllers of the line behind it. */
async function meantCommand(line: CommandLine, word: string): Promise<string | undefined> {
  const { args, table } = line;
  const command = commandsIn(line)[0];
  if (isController(line, word)) return withControllers(line, command ?? "run", args);
  const similar = mostSimilar(word, [...table.map(({ name }) => name), "help"]);
  if (similar !== undefined) return withControllers(line, similar, args.slice(1));
  for (const { name, load } of table) {
    if ((await load()).positionals?.choices?.includes(word)) return `${name} ${word}`;
  }
  return command === undefined ? undefined : withControllers(line, command, args);
}

function withControllers(line: CommandLine, command: string, words: readonly string[]): string {
  return [command, ...new Set(beforeDashes(words).filter((word) => isController(line, word)))].join(" ");
}

/**
 * Returns the error for a command among the names of controllers: `doctor run foo`. Undefined when the positional
 * arguments of the command are no controllers, or none is a command.
 *
 * @param words All positional arguments, those after `--` included
 */
export function misplacedCommandError(
  line: CommandLine,
  words: readonly string[],
  { positionals }: Subcommand,
): UsageError | undefined {
  if (positionals === undefined || positionals.choices !== undefined) return undefined;
  const ofOthers = line.args.length - beforeDashes(line.args).length - 1;
  const own = ofOthers < 0 ? words : words.slice(0, words.length - ofOthers);
  const other = own.find((word) => isCommand(line, word) && !isController(line, word));
  if (other === undefined) return undefined;
  const meant = `${line.operator.name} ${withControllers(line, other, line.args)}`;
  return new UsageError(`Cannot use "${other}" as a controller: it is a command`, `Did you mean: ${meant}`);
}

/** Returns the advice for a line that begins with a flag: flags belong to a command. */
export function leadingFlagAdvice(line: CommandLine): string | undefined {
  const [flag = ""] = line.args;
  const [command] = commandsIn(line);
  const controller = line.args.find((word) => isController(line, word));
  if (!flag.startsWith("-") || (command === undefined && controller === undefined)) return undefined;
  const [name = flag] = flag.split("=");
  return `Flags follow the command: ${line.operator.name} ${
    withControllers(line, command ?? "run", line.args)
  } ${name}`;
}

/** The words that are commands. Words after `--` belong to another program. */
function commandsIn(line: CommandLine): readonly string[] {
  return beforeDashes(line.args).filter((word) => isCommand(line, word));
}

function beforeDashes(words: readonly string[]): readonly string[] {
  const dashes = words.indexOf("--");
  return dashes < 0 ? words : words.slice(0, dashes);
}

function isCommand({ table }: CommandLine, word: string): boolean {
  return table.some(({ name }) => name === word);
}

function isController({ operator }: CommandLine, word: string): boolean {
  return operator.controllers.some(({ name }) => name === word);
}
