/**
 * Adds flags to a commander Command, and reads the typed values back: from the command line, else from the environment,
 * else from a configuration file, else the default.
 *
 * Guarantees: a value that does not fit is a UsageError that names the flag, the variable or the line of the file that the
 * value came from, and shows a correct use; a message never quotes a secret.
 */
import { type CommandUnknownOpts, Option } from "@commander-js/extra-typings";
import { z } from "zod";
import { mask } from "../../observe/mod.ts";
import type { Environment } from "../../runtime/mod.ts";
import { boundedParse } from "../../schema/mod.ts";
import { environmentName, type Flag, type FlagSchema, flagsOf } from "./flag.ts";

/** The command line, or a variable that stands in for a flag, cannot be used. Nothing was done and no request was sent. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  /** One sentence on what to do next, without a full stop. */
  readonly advice: string | undefined;

  constructor(message: string, advice?: string) {
    super(message);
    this.advice = advice;
  }
}

/** Where the values of flags come from that were not typed. */
export interface FlagSources {
  readonly operatorName: string;
  readonly environment: Environment;
  /** @default there is none */
  readonly file?: FileValues;
  /** Keys that mean other flags on this command line: their values come from the environment, or are the defaults. @default none */
  readonly hidden?: ReadonlySet<string>;
}

/** The values of a configuration file, by the keys of the flags. */
export interface FileValues {
  readonly path: string;
  readonly values: ReadonlyMap<string, FileValue>;
}

/** A value of a configuration file. */
export interface FileValue {
  /** In the form that commander would give it. */
  readonly value: string | boolean | number | readonly string[];
  /** The line of its key, and those of its items if it is a list; from 1. */
  readonly line: number;
  readonly itemLines: readonly number[];
}

/** The value of a flag as it was given, and where. */
export interface Setting {
  readonly flag: Flag;
  /** Undefined for a default. */
  readonly given: unknown;
  /** `--workers`, `CONTROLLER_WORKERS`, `controller.yaml:3` or `default`. */
  readonly from: string;
}

/** Adds the flags of `schema`. @param heading The heading in help for flags that have no group */
export function addFlags(command: CommandUnknownOpts, schema: FlagSchema, heading?: string): void {
  for (const bare of flagsOf(schema)) {
    const flag = { ...bare, group: bare.group ?? heading };
    command.addOption(createOption(flag, flag.flags, describe(flag)));
    if (flag.alias !== undefined) {
      command.addOption(createOption(flag, flag.flags.replace(/^.*--[a-z-]+/, flag.alias), "").hideHelp());
    }
  }
}

/** Reads the flags of `schema`. @throws UsageError when a value does not fit */
export function readFlags<Schema extends FlagSchema>(
  command: CommandUnknownOpts,
  schema: Schema,
  sources: FlagSources,
): z.output<Schema> {
  const settings = readSettings(command, flagsOf(schema), sources);
  const given = settings.filter((setting) => setting.given !== undefined);
  const parsed = boundedParse(schema, Object.fromEntries(given.map((setting) => [setting.flag.key, setting.given])));
  if (parsed.kind === "valid") return parsed.value;
  const [issue] = parsed.issues;
  const setting = settings.find(({ flag }) => flag.key === issue?.path[0]);
  if (setting === undefined) throw new TypeError("Cannot read flags: an unknown flag is invalid", { cause: issue });
  const { flag, given: value } = setting;
  const item = issue?.path[1];
  const wrong = Array.isArray(value) && typeof item === "number" ? value[item] : value;
  const problem = formProblem(flag, wrong) ?? issue?.message;
  throw new UsageError(
    `Cannot parse ${nameOf(setting, item, sources)} ${flag.isSecret ? mask : quoted(wrong)}: ${problem}`,
    flag.example === undefined ? undefined : `Example: ${flag.example}`,
  );
}

/** Returns the values of `flags` as they were given, without checking them. */
export function readSettings(
  command: CommandUnknownOpts,
  flags: readonly Flag[],
  sources: FlagSources,
): readonly Setting[] {
  const typed = typedOptions(command, sources.hidden);
  return flags.map((flag): Setting => {
    const onLine = typedValue(flag, typed);
    if (onLine !== undefined) return { flag, given: onLine, from: flag.longName };
    const fromEnvironment = environmentValue(flag, sources);
    if (fromEnvironment !== undefined) {
      return { flag, given: fromEnvironment, from: environmentName(sources.operatorName, flag) };
    }
    const { path, values } = sources.file ?? {};
    const inFile = values?.get(flag.key);
    return inFile === undefined
      ? { flag, given: undefined, from: "default" }
      : { flag, given: inFile.value, from: `${path}:${inFile.line}` };
  });
}

/** What a message calls a value: of a file also the key, and for a list the line of the item. */
function nameOf({ flag: { key }, from }: Setting, item: PropertyKey | undefined, { file }: FlagSources): string {
  const inFile = file?.values.get(key);
  if (file === undefined || inFile === undefined || from !== `${file.path}:${inFile.line}`) return from;
  const line = typeof item === "number" ? inFile.itemLines[item] ?? inFile.line : inFile.line;
  return `${file.path}:${line} ${key}`;
}

/** Returns the long names of the flags of `schema` that are on the command line. */
export function typedFlags(
  command: CommandUnknownOpts,
  schema: FlagSchema,
  hidden?: FlagSources["hidden"],
): readonly string[] {
  const typed = typedOptions(command, hidden);
  return flagsOf(schema).filter((flag) => typedValue(flag, typed) !== undefined).map((flag) => flag.longName);
}

function typedOptions(command: CommandUnknownOpts, hidden?: FlagSources["hidden"]): ReadonlyMap<string, unknown> {
  return new Map(Object.entries(command.opts()).filter(([key]) => hidden?.has(key) !== true));
}

function createOption(flag: Flag, flags: string, description: string): Option {
  const option = new Option(flags, description);
  if (flag.group !== undefined) option.helpGroup(flag.group);
  switch (flag.arity ?? "one") {
    case "list":
      return option.argParser((text, previous: readonly string[] | undefined) => [...(previous ?? []), text]);
    case "count":
      return option.argParser((_, previous: number | undefined) => (previous ?? 0) + 1);
    default:
      return option;
  }
}

function describe(flag: Flag): string {
  const isShown = flag.defaultText !== undefined && flag.arity !== "count";
  return isShown ? `${flag.about} (default: ${flag.defaultText})` : flag.about;
}

/** The value from the command line, under the flag's own name or its alias. */
function typedValue(flag: Flag, typed: ReadonlyMap<string, unknown>): unknown {
  return typed.get(flag.key) ?? (flag.alias === undefined ? undefined : typed.get(flag.alias.slice(2)));
}

/** The value in the form that commander would give it. Text of a wrong form is returned as it is: the schema rejects it. */
function environmentValue(flag: Flag, sources: FlagSources): unknown {
  if (!flag.fromEnvironment) return undefined;
  const text = sources.environment[environmentName(sources.operatorName, flag)];
  if (text === undefined || text === "") return undefined;
  if (flag.arity === "list") return text.split(",").filter((part) => part !== "");
  if (flag.arity === "count") return /^\d$/.test(text) ? Number(text) : text;
  return flag.isSwitch ? parseSwitch(text) : text;
}

function parseSwitch(text: string): boolean | string {
  if (text === "true" || text === "1") return true;
  return text === "false" || text === "0" ? false : text;
}

/** What is wrong with a value of the environment or a file that the command line could not have: zod names types of JavaScript. */
function formProblem(flag: Flag, value: unknown): string | undefined {
  if (flag.isSwitch && flag.arity !== "count" && typeof value !== "boolean") return "it is neither true nor false";
  return flag.arity === "count" && typeof value !== "number" ? "it is not a number from 0 to 9" : undefined;
}

/** Longer values are cut, so that the reason behind them stays visible. */
const maxQuotedLength = 200;

function quoted(value: unknown): string {
  if (Array.isArray(value)) return value.slice(0, 10).map(quoted).join(", ");
  const text = String(value);
  return `"${text.length > maxQuotedLength ? `${text.slice(0, maxQuotedLength)}...` : text}"`;
}
