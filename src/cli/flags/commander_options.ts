/**
 * From flags to commander and back: adds a command's flags to its commander Command, and reads what was typed, or stands
 * in the environment, into the typed values of its schema.
 *
 * Guarantees: the command line beats the environment, the environment beats the default; a value that does not fit is a
 * UsageError that names the flag, or the variable it came from, and shows a correct use; a secret is never quoted.
 */
/* MERGED usage_error.ts  UsageError: the command line makes no sense. Nothing was done, and nothing was asked of a cluster. */
import { type CommandUnknownOpts, Option } from "@commander-js/extra-typings";
import { z } from "zod";
import type { Environment } from "../../runtime/mod.ts";
import { environmentName, type Flag, type FlagSchema, flagsOf } from "./flag.ts";

/** Where values that were not typed come from. */
interface FlagSources {
  readonly operatorName: string;
  readonly environment: Environment;
}

/** Adds the flags of `schema`, under `heading` where they do not say. */
export function addFlags(command: CommandUnknownOpts, schema: FlagSchema, heading?: string): void {
  for (const bare of flagsOf(schema)) {
    const flag = { ...bare, group: bare.group ?? heading };
    command.addOption(optionOf(flag, flag.flags, describe(flag)));
    if (flag.alias !== undefined) {
      command.addOption(optionOf(flag, flag.flags.replace(/^.*--[a-z-]+/, flag.alias), "").hideHelp());
    }
  }
}

/** Reads the flags of `schema`. @throws UsageError when a value does not fit */
export function readFlags<Schema extends FlagSchema>(
  command: CommandUnknownOpts,
  schema: Schema,
  sources: FlagSources,
): z.output<Schema> {
  const typed = new Map(Object.entries(command.opts()));
  const flags = flagsOf(schema);
  const raw = flags.map((
    flag,
  ) => [flag.key, typed.get(flag.key) ?? aliasValue(flag, typed) ?? fromEnvironment(flag, sources)]);
  const parsed = schema.safeParse(Object.fromEntries(raw.filter(([, value]) => value !== undefined)));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const flag = flags.find((flag) => flag.key === issue?.path[0]);
  if (flag === undefined) throw new TypeError("Cannot read flags: an unknown one is wrong", { cause: parsed.error });
  const wasTyped = typed.has(flag.key) || aliasValue(flag, typed) !== undefined;
  const name = wasTyped ? flag.longName : environmentName(sources.operatorName, flag);
  const value = wasTyped ? typed.get(flag.key) ?? aliasValue(flag, typed) : sources.environment[name];
  throw new UsageError(
    `Cannot parse ${name}${flag.isSecret ? "" : ` ${quoted(value)}`}: ${issue?.message}`,
    flag.example === undefined ? undefined : `Example: ${flag.example}`,
  );
}

/** The long names of those of the flags that stand on the command line. */
export function typedFlags(command: CommandUnknownOpts, schema: FlagSchema): readonly string[] {
  const typed = new Map(Object.entries(command.opts()));
  return flagsOf(schema).filter((flag) => typed.has(flag.key) || aliasValue(flag, typed) !== undefined)
    .map((flag) => flag.longName);
}

function optionOf(flag: Flag, flags: string, description: string): Option {
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

function aliasValue(flag: Flag, typed: ReadonlyMap<string, unknown>): unknown {
  return flag.alias === undefined ? undefined : typed.get(flag.alias.slice(2));
}

/** The value as commander would have given it; text that is none of its kind goes on to the schema, which refuses it. */
function fromEnvironment(flag: Flag, sources: FlagSources): unknown {
  if (!flag.fromEnvironment) return undefined;
  const text = sources.environment[environmentName(sources.operatorName, flag)];
  if (text === undefined || text === "") return undefined;
  if (flag.arity === "list") return text.split(",").filter((part) => part !== "");
  if (flag.arity === "count") return /^\d$/.test(text) ? Number(text) : text;
  return flag.isSwitch ? switchOf(text) : text;
}

function switchOf(text: string): boolean | string {
  if (text === "true" || text === "1") return true;
  return text === "false" || text === "0" ? false : text;
}

function quoted(value: unknown): string {
  return Array.isArray(value) ? value.map(quoted).join(", ") : `"${String(value)}"`;
}

/** What was typed, or what stands in the environment instead, cannot be used. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  /** One sentence on what to do next, without a period. */
  readonly advice: string | undefined;

  constructor(message: string, advice?: string) {
    super(message);
    this.advice = advice;
  }
}
