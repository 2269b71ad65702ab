/**
 * complete(): what a shell may offer for the last of some words: commands, flags, names of controllers, what a flag takes.
 *
 * Guarantees: only what begins as the word does; a word that another flag wants as its value is never taken for a flag;
 * nothing is loaded but the command that is being typed.
 */
/* MERGED completions/answer.ts
 * The answer to a shell: `PROGRAM __complete bash WORDBREAKS LINE`, or `PROGRAM __complete words -- WORD...`. No command
 * that people see; its form is only for the scripts of this very version.
 */
/* MERGED completions/split_line.ts
 * splitLine(): a command line as bash has it, cut into its words up to the cursor. Bash itself cuts at `=` and `:` too,
 * where our words go on.
 *
 * Guarantees: quotes and backslashes mean what they mean to a shell; a quote that is still open ends with the line; what
 * only running it would tell (variables, substitutions) stays as it is written.
 */
import { type Candidate, type ValueSource, valueSource } from "./value_source.ts";
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

/** What a shell may offer. */
export interface Completion {
  readonly candidates: readonly Candidate[];
  /** What the shell completes by itself, beginning after `prefix`. */
  readonly paths: "none" | "file" | "directory";
  /** What of the word stands before its value: `--kubeconfig=`. */
  readonly prefix: string;
}

/** What words are completed with. */
interface CompletionParts {
  readonly operator: Operator;
  readonly table: readonly SubcommandEntry[];
  readonly source: ValueSource;
}

const nothing: Completion = { candidates: [], paths: "none", prefix: "" };

/** @param words All after the program's name; the last one is being typed and may be empty. */
export async function complete(words: readonly string[], parts: CompletionParts): Promise<Completion> {
  const { operator, table, source } = parts;
  const current = words.at(-1) ?? "";
  const [name = ""] = words;
  if (words.length <= 1) return beginning(current, [...commands(table), ...rootWords]);
  if (name === "help") return words.length === 2 ? beginning(current, commands(table)) : nothing;
  const subcommand = await table.find((entry) => entry.name === name)?.load();
  if (subcommand === undefined) return nothing;
  const flags = subcommand.flags(operator);
  const line = readLine(words.slice(1, -1), flags);
  if (line.wanting !== undefined) return await valueCompletion(line.wanting, current, { line, source, prefix: "" });
  if (!line.isEnded && current.startsWith("-")) {
    const [, longName, value] = /^(--[^=]+)=(.*)$/s.exec(current) ?? [];
    const flag = flags.find((one) => longName !== undefined && hasName(one, longName));
    if (flag !== undefined && !flag.isSwitch) {
      return await valueCompletion(flag, value ?? "", { line, source, prefix: `${longName}=` });
    }
    return beginning(current, flagCandidates(flags, line));
  }
  return beginning(current, wordCandidates(subcommand, operator, line.words));
}

const rootWords: readonly Candidate[] = [
  { value: "help", about: "show help for a command" },
  { value: "--help", about: "show help" },
  { value: "--version", about: "print the version of this program" },
];

function commands(table: readonly SubcommandEntry[]): readonly Candidate[] {
  return table.map(({ name, summary }) => ({ value: name, about: summary }));
}

/** Dashes are offered to who typed one. */
function beginning(current: string, candidates: readonly Candidate[]): Completion {
  const isEnabled = ({ value }: Candidate) => value.startsWith(current) && (current !== "" || !value.startsWith("-"));
  return { ...nothing, candidates: candidates.filter(isEnabled) };
}

/** What stands before the word that is being typed. */
interface Line {
  /** Values of flags, by long name. */
  readonly typed: ReadonlyMap<string, string>;
  readonly words: readonly string[];
  /** The flag whose value is being typed. */
  readonly wanting: Flag | undefined;
  /** Nothing after `--` is a flag. */
  readonly isEnded: boolean;
}

function readLine(words: readonly string[], flags: readonly Flag[]): Line {
  const typed = new Map<string, string>();
  const plain: string[] = [];
  let [wanting, isEnded]: [Flag | undefined, boolean] = [undefined, false];
  for (const word of words) {
    if (wanting !== undefined) {
      typed.set(wanting.longName, word);
      wanting = undefined;
    } else if (isEnded || !word.startsWith("-") || word === "-") {
      plain.push(word);
    } else if (word === "--") {
      isEnded = true;
    } else {
      const [, name = word, value] = /^(--[^=]+)=(.*)$/s.exec(word) ?? [];
      const flag = flags.find((one) => hasName(one, name));
      if (flag === undefined) continue;
      if (value === undefined && !flag.isSwitch) wanting = flag;
      else typed.set(flag.longName, value ?? "");
    }
  }
  return { typed, words: plain, wanting, isEnded };
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
  { words }: Subcommand,
  { controllers }: Operator,
  taken: readonly string[],
): readonly Candidate[] {
  if (words === undefined || (taken.length > 0 && !words.syntax.includes("..."))) return [];
  const known = words.choices?.map((value) => ({ value, about: "" })) ??
    controllers.map(({ name, primary }) => ({ value: name, about: `reconciles ${primary.kind}` }));
  return known.filter(({ value }) => !taken.includes(value));
}

async function valueCompletion(
  flag: Flag,
  current: string,
  { line, source, prefix }: { readonly line: Line; readonly source: ValueSource; readonly prefix: string },
): Promise<Completion> {
  const { completes, choices } = flag;
  if (completes === "file" || completes === "directory") return { candidates: [], paths: completes, prefix };
  const all = completes === undefined
    ? choices.map((value) => ({ value, about: "" }))
    : await source.valuesOf(completes, line.typed);
  const candidates = all.filter(({ value }) => value.startsWith(current))
    .map(({ value, about }) => ({ value: `${prefix}${value}`, about }));
  return { candidates, paths: "none", prefix };
}

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
  const kept = isBash ? lengthKeptByBash(words.at(-1) ?? "", first) : 0;
  session.print(`${paths}\n${candidates.map((candidate) => lineOf(candidate, kept)).join("")}`);
  return exitCode.done;
}

/** What a cluster sent (names of namespaces) must not make a second line. */
function lineOf({ value, about }: Candidate, kept: number): string {
  return `${oneLine(value.slice(kept))}\t${oneLine(about)}\n`;
}

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
export function lengthKeptByBash(word: string, wordBreaks: string): number {
  for (let index = word.length - 1; index >= 0; index--) {
    const character = word[index] ?? "";
    if ("=:".includes(character) && wordBreaks.includes(character)) return index + 1;
  }
  return 0;
}
