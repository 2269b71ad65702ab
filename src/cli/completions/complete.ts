/**
 * complete(): what a shell may offer for the last of some words: commands, flags, names of controllers, what a flag takes.
 *
 * Guarantees: only what begins as the word does; a word that another flag wants as its value is never taken for a flag;
 * nothing is loaded but the command that is being typed.
 */
import type { Flag } from "../flag.ts";
import type { Operator } from "../operator.ts";
import type { Subcommand } from "../subcommand.ts";
import type { SubcommandEntry } from "../subcommands.ts";

/** One word that may stand there. */
export interface Candidate {
  readonly value: string;
  /** What it is, for shells that show it. */
  readonly about: string;
}

/** What a shell may offer. */
export interface Completion {
  readonly candidates: readonly Candidate[];
  /** What the shell completes by itself, beginning after `prefix`. */
  readonly paths: "none" | "file" | "directory";
  /** What of the word stands before its value: `--kubeconfig=`. */
  readonly prefix: string;
}

/** Where values come from that are not known here: contexts of the kubeconfig, namespaces of the cluster. */
export interface ValueSource {
  /** @param typed The flags that are given, by long name. */
  valuesOf(kind: NonNullable<Flag["completes"]>, typed: ReadonlyMap<string, string>): Promise<readonly Candidate[]>;
}

/** What words are completed with. */
export interface CompletionParts {
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
  const isWanted = ({ value }: Candidate) => value.startsWith(current) && (current !== "" || !value.startsWith("-"));
  return { ...nothing, candidates: candidates.filter(isWanted) };
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
