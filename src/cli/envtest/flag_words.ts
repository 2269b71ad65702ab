/**
 * readFlagWords(): the flags of a stand-in, in the syntax of the program whose place it takes, and with its errors: flags that
 * it does not have, missing values and words that are no flag end it, as there.
 *
 * - pflag, of kube-apiserver: `--name=value`, `--name value`, `-h`, `-v 2`; exit code 1
 * - Go's own flag package, of etcd: the same, and `-name`; exit code 2
 */

/** The names of flags, as in `generated/flags.ts`: a boolean ends with `!`. */
export type FlagNames = string;

/** A program and its flags. */
export interface FlagProgram {
  readonly name: string;
  readonly flags: FlagNames;
  readonly syntax: "pflag" | "go";
}

/** The flags of one command line. */
export class FlagWords {
  readonly #values: ReadonlyMap<string, readonly string[]>;
  readonly #booleans: ReadonlySet<string>;

  /** @param booleanNames the flags whose values are booleans. @default none */
  constructor(values: ReadonlyMap<string, readonly string[]>, booleanNames: ReadonlySet<string> = new Set()) {
    this.#values = values;
    this.#booleans = booleanNames;
  }

  /** The last value of a flag; undefined if it was not given, or given without a text. */
  text(name: string): string | undefined {
    const value = this.#values.get(name)?.at(-1);
    return value === "" ? undefined : value;
  }

  /** All values of a flag whose values are separated by commas. */
  list(name: string): readonly string[] {
    return (this.#values.get(name) ?? []).flatMap((value) => value.split(",")).filter((value) => value !== "");
  }

  /** Whether a boolean is set. @param initial its value if it was not given */
  isSet(name: string, initial = false): boolean {
    const value = this.#values.get(name)?.at(-1);
    return value === undefined ? initial : booleans.get(value) === true;
  }

  /**
   * The given flags and their values as pflag prints them: `[a,b]` for a list.
   *
   * @param lists the names of flags that are lists, separated by spaces
   */
  printed(lists: FlagNames): ReadonlyMap<string, string> {
    const isList = new Set(lists.split(" "));
    return new Map(this.names.map((name) => [name, isList.has(name) ? this.#printedList(name) : this.#printed(name)]));
  }

  #printed(name: string): string {
    const value = this.#values.get(name)?.at(-1) ?? "";
    return this.#booleans.has(name) ? String(booleans.get(value) === true) : value;
  }

  #printedList(name: string): string {
    return `[${(this.#values.get(name) ?? []).filter((value) => value !== "").join(",")}]`;
  }

  /** The names of the given flags, in their order. */
  get names(): readonly string[] {
    return [...this.#values.keys()];
  }
}

/** The values that Go accepts for a boolean. */
const booleans: ReadonlyMap<string, boolean> = new Map([
  ...["1", "t", "T", "true", "TRUE", "True"].map((text) => [text, true] as const),
  ...["0", "f", "F", "false", "FALSE", "False"].map((text) => [text, false] as const),
]);

/** A command line that the original program would refuse, too. */
export class FlagWordError extends Error {
  override readonly name = "FlagWordError";
  /** The exit code. */
  readonly code: 1 | 2;

  constructor(message: string, code: 1 | 2 = 1) {
    super(message);
    this.code = code;
  }
}

/** The errors of a syntax. */
interface Refusals {
  readonly unknown: (name: string) => FlagWordError;
  readonly noArgument: (name: string) => FlagWordError;
  readonly noBoolean: (name: string, value: string) => FlagWordError;
  readonly noFlag: (program: string, word: string) => FlagWordError;
}

const refusals: Readonly<Record<FlagProgram["syntax"], Refusals>> = {
  pflag: {
    unknown: (name) => new FlagWordError(`unknown flag: --${name}`),
    noArgument: (name) => new FlagWordError(`flag needs an argument: --${name}`),
    noBoolean: (name, value) =>
      new FlagWordError(`invalid argument "${value}" for "--${name}" flag: use true or false`),
    noFlag: (program, word) => new FlagWordError(`"${program}" does not take any arguments, got ["${word}"]`),
  },
  go: {
    unknown: (name) => new FlagWordError(`flag provided but not defined: -${name}`, 2),
    noArgument: (name) => new FlagWordError(`flag needs an argument: -${name}`, 2),
    noBoolean: (name, value) =>
      new FlagWordError(`invalid boolean value "${value}" for -${name}: use true or false`, 2),
    noFlag: (_program, word) => new FlagWordError(`"${word}" is not a valid flag`),
  },
};

/**
 * Reads a command line.
 *
 * @throws FlagWordError for an unknown flag, a missing value and a word that is no flag
 */
export function readFlagWords(args: readonly string[], program: FlagProgram): FlagWords {
  const refuse = refusals[program.syntax];
  const isBoolean = new Map(
    program.flags.split(" ").map((name) => [name.replace("!", ""), name.endsWith("!")] as const),
  );
  const values = new Map<string, string[]>();
  for (let index = 0; index < args.length; index++) {
    const word = args[index] ?? "";
    const { name, value: given } = partsOf(word, program);
    const boolean = isBoolean.get(name);
    if (boolean === undefined) throw refuse.unknown(name);
    const value = given ?? (boolean ? "true" : args[++index]);
    if (value === undefined) throw refuse.noArgument(name);
    if (boolean && !booleans.has(value)) throw refuse.noBoolean(name, value);
    values.set(name, [...values.get(name) ?? [], value]);
  }
  return new FlagWords(values, new Set([...isBoolean.keys()].filter((name) => isBoolean.get(name))));
}

/** The name and the value of `--name=value`. */
function partsOf(word: string, program: FlagProgram): { readonly name: string; readonly value: string | undefined } {
  const isGo = program.syntax === "go";
  const [, short, rest] = /^-([hv])(?:=?(.+))?$/.exec(word) ?? [];
  if (short !== undefined && !(isGo && rest !== undefined)) {
    return { name: short === "h" ? "help" : short, value: rest };
  }
  const [, dashes, name, value] = /^(--?)([^-=][^=]*)(?:=(.*))?$/s.exec(word) ?? [];
  if (dashes === undefined || name === undefined) throw refusals[program.syntax].noFlag(program.name, word);
  if (dashes === "-" && !isGo) throw new FlagWordError(`unknown shorthand flag: '${name[0]}' in ${word}`);
  return { name, value };
}

/** The help of a program, with a line for each of its flags. */
export function helpOfFlags({ name: program, flags }: FlagProgram, about: string): string {
  const lines = flags.split(" ").map((name) =>
    name.endsWith("!") ? `      --${name.slice(0, -1)}` : `      --${name} string`
  );
  return [about, "", "Usage:", `  ${program} [flags]`, "", "Flags:", ...lines, ""].join("\n");
}
