/**
 * complete(): returns what a shell offers for the last word of a command line: commands, flags, names of controllers, values
 * of flags. answerShell(): the hidden command `__complete`, which prints that for the scripts of `completions`.
 *
 * Guarantees: candidates start with the typed text; the value of a flag is never taken for a flag or a name; only the command
 * on the line is loaded.
 */
import { type Candidate, createValueSource, type ValueSource } from "./value_source.ts";
import type { Flag } from "../flags/mod.ts";
import {
  type ExitCode,
  exitCode,
  type Operator,
  type Session,
  type Subcommand,
  type SubcommandEntry,
} from "../command/mod.ts";
import { oneLine } from "../output/mod.ts";

/** What a shell offers. */
export interface Completion {
  readonly candidates: readonly Candidate[];
  /** The kind of path that the shell completes, after `prefix`. */
  readonly paths: "none" | "file" | "directory";
  /** The part of the word before the value: `--kubeconfig=`. */
  readonly prefix: string;
}

/** What completion needs. */
interface CompletionParts {
  readonly operator: Operator;
  readonly table: readonly SubcommandEntry[];
  readonly source: ValueSource;
}

const nothing: Completion = { candidates: [], paths: "none", prefix: "" };

/**
 * Completes the last word.
 *
 * @param words All words after the program's name; the last one is being typed and can be empty
 */
export async function complete(words: readonly string[], parts: CompletionParts): Promise<Completion> {
  const { operator, table } = parts;
  const current = words.at(-1) ?? "";
  const [name = ""] = words;
  if (words.length <= 1) return startingWith(current, [...commands(table), ...rootWords]);
  if (name === "help") return words.length === 2 ? startingWith(current, commands(table)) : nothing;
  const subcommand = await table.find((entry) => entry.name === name)?.load();
  if (subcommand === undefined) return nothing;
  const flags = subcommand.flags(operator);
  const line = readLine(words.slice(1, -1), flags);
  if (line.pendingFlag !== undefined) {
    return await valueCompletion(line.pendingFlag, current, { line, parts, prefix: "" });
  }
  if (!line.isEnded && current.startsWith("-")) {
    const [, longName, value] = /^(--[^=]+)=(.*)$/s.exec(current) ?? [];
    const flag = flags.find((one) => longName !== undefined && hasName(one, longName));
    if (flag !== undefined && !flag.isSwitch) {
      return await valueCompletion(flag, value ?? "", { line, parts, prefix: `${longName}=` });
    }
    return startingWith(current, flagCandidates(flags, line));
  }
  const paths = line.words.length === 0 ? subcommand.positionals?.completes : undefined;
  if (paths !== undefined) return { candidates: [], paths, prefix: "" };
  return startingWith(current, wordCandidates(subcommand, operator, line.words));
}

const rootWords: readonly Candidate[] = [
  { value: "help", about: "show help for a command" },
  { value: "--help", about: "show help" },
  { value: "--version", about: "print the version of this program" },
];

function commands(table: readonly SubcommandEntry[]): readonly Candidate[] {
  return table.map(({ name, summary }) => ({ value: name, about: summary }));
}

/** Offers flags only after a typed dash. */
function startingWith(current: string, candidates: readonly Candidate[]): Completion {
  const isEnabled = ({ value }: Candidate) => value.startsWith(current) && (current !== "" || !value.startsWith("-"));
  return { ...nothing, candidates: candidates.filter(isEnabled) };
}

/** The words before the one that is being typed. */
interface Line {
  /** Values of flags, by long name. */
  readonly typed: ReadonlyMap<string, string>;
  readonly words: readonly string[];
  /** The flag whose value is being typed. */
  readonly pendingFlag: Flag | undefined;
  /** True after `--`: no further word is a flag. */
  readonly isEnded: boolean;
}

function readLine(words: readonly string[], flags: readonly Flag[]): Line {
  const typed = new Map<string, string>();
  const plain: string[] = [];
  let [pendingFlag, isEnded]: [Flag | undefined, boolean] = [undefined, false];
  for (const word of words) {
    if (pendingFlag !== undefined) {
      typed.set(pendingFlag.longName, word);
      pendingFlag = undefined;
    } else if (isEnded || !word.startsWith("-") || word === "-") {
      plain.push(word);
    } else if (word === "--") {
      isEnded = true;
    } else {
      const [, name = word, value] = /^(--[^=]+)=(.*)$/s.exec(word) ?? [];
      const flag = flags.find((one) => hasName(one, name));
      if (flag === undefined) continue;
      if (value === undefined && !flag.isSwitch) pendingFlag = flag;
      else typed.set(flag.longName, value ?? "");
    }
  }
  return { typed, words: plain, pendingFlag, isEnded };
}

function hasName(flag: Flag, name: string): boolean {
  return flag.longName === name || flag.alias === name || shortName(flag) === name;
}

function shortName(flag: Flag): string | undefined {
  return /^(-[a-zA-Z]),/.exec(flag.flags)?.[1];
}

function flagCandidates(flags: readonly Flag[], { typed }: Line): readonly Candidate[] {
  const free = flags.filter(({ longName, arity = "one" }) => arity !== "one" || !typed.has(longName));
  return [...free.map(({ longName, about }) => ({ value: longName, about })), { value: "--help", about: "show help" }];
}

function wordCandidates(
  { positionals }: Subcommand,
  operator: Operator,
  taken: readonly string[],
): readonly Candidate[] {
  if (positionals === undefined || (taken.length > 0 && !positionals.syntax.includes("..."))) return [];
  const known = positionals.words?.(operator, taken) ?? (positionals.choices && wordsOf(positionals.choices)) ??
    namesOf(operator);
  return known.filter(({ value }) => !taken.includes(value));
}

function namesOf({ controllers }: Pick<Operator, "controllers">): readonly Candidate[] {
  return controllers.map(({ name, primary }) => ({ value: name, about: `reconciles ${primary.kind}` }));
}

function wordsOf(values: Iterable<string>): readonly Candidate[] {
  return [...new Set(values)].map((value) => ({ value, about: "" }));
}

/** The workloads of the controllers on the line, or of all. */
async function workloads({ controllers }: Operator, names: readonly string[]): Promise<readonly Candidate[]> {
  const { defaultWorkloads } = await import("../../simulation/mod.ts"); // large, and not needed for other values
  const named = controllers.filter(({ name }) => names.includes(name));
  return wordsOf(
    (named.length === 0 ? controllers : named).flatMap((controller) =>
      (controller.workloads ?? defaultWorkloads(controller)).map(({ name }) => name)
    ),
  );
}

async function valuesOf({ completes, choices }: Flag, line: Line, parts: CompletionParts) {
  switch (completes) {
    case undefined:
    case "file":
    case "directory":
      return wordsOf(choices);
    case "controller":
      return namesOf(parts.operator);
    case "workload":
      return await workloads(parts.operator, line.words);
    default:
      return await parts.source.valuesOf(completes, line.typed);
  }
}

async function valueCompletion(
  flag: Flag,
  current: string,
  { line, parts, prefix }: { readonly line: Line; readonly parts: CompletionParts; readonly prefix: string },
): Promise<Completion> {
  const { completes } = flag;
  if (completes === "file" || completes === "directory") return { candidates: [], paths: completes, prefix };
  const candidates = (await valuesOf(flag, line, parts)).filter(({ value }) => value.startsWith(current))
    .map(({ value, about }) => ({ value: `${prefix}${value}`, about }));
  return { candidates, paths: "none", prefix };
}

/**
 * Prints the completion for `PROGRAM __complete bash WORDBREAKS LINE` or `PROGRAM __complete words -- WORD...`. The form may
 * change: only scripts of the same version use it.
 *
 * @param args The arguments after `__complete`
 */
export async function answerShell(
  args: readonly string[],
  session: Session,
  table: readonly SubcommandEntry[],
): Promise<ExitCode> {
  const [how, first = "", line = ""] = args;
  const isBash = how === "bash";
  const words = isBash ? splitLine(line).slice(1) : args.slice(2);
  const parts = { operator: session.operator, table, source: createValueSource(session) };
  const { candidates, paths } = await complete(words, parts);
  const keptLength = isBash ? lengthKeptByBash(words.at(-1) ?? "", first) : 0;
  session.printDocument(`${paths}\n${candidates.map((candidate) => lineOf(candidate, keptLength)).join("")}`);
  return exitCode.done;
}

/** One line, whatever a cluster sent as the name of a namespace. */
function lineOf({ value, about }: Candidate, keptLength: number): string {
  return `${oneLine(value.slice(keptLength))}\t${oneLine(about)}\n`;
}

/**
 * Splits a command line up to the cursor into words, as a shell does. Bash also splits at `=` and `:`, which belong to a word
 * here. Quotes and backslashes are resolved, an open quote ends with the line; variables and substitutions stay as they are.
 *
 * @returns The words after the last `;` or `|`; the last one is being typed, and empty after a space
 */
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

/** Returns how many characters of a word bash keeps: those up to the last character that it splits words at. */
export function lengthKeptByBash(word: string, wordBreaks: string): number {
  for (let index = word.length - 1; index >= 0; index--) {
    const character = word[index] ?? "";
    if ("=:".includes(character) && wordBreaks.includes(character)) return index + 1;
  }
  return 0;
}
