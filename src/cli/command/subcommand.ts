/**
 * subcommand(): defines a command from its description, examples, flags and function. The types of the flags are known
 * inside the command's file and erased outside of it, so that all commands fit into one table.
 */
import type { AddHelpTextContext, CommandUnknownOpts } from "@commander-js/extra-typings";
import { z } from "zod";
import type { FlagReader } from "../../manager/mod.ts";
import { configFlag, readConfigFile, rereadConfigFile } from "../configuration/mod.ts";
import {
  addFlags,
  environmentName,
  type FileValues,
  type Flag,
  type FlagSchema,
  flagsOf,
  type FlagSources,
  readFlags,
  readSettings,
  type Setting,
  typedFlags,
} from "../flags/mod.ts";
import type { ExitCode } from "./exit_code.ts";
import { helpText } from "./help.ts";
import type { Operator } from "./operator.ts";
import { type LogFlags, logFlags, type Session } from "./session.ts";

/** A row of the table of commands: what the program's own help shows, and how the command is loaded. */
export interface SubcommandEntry {
  readonly name: string;
  readonly summary: string;
  /** The exit code of an invalid command line, where 2 means something else. @default 2 */
  readonly usageCode?: ExitCode;
  load(): Promise<Subcommand>;
}

/** The parts of a command. With {@link configFlag} among its flags, it reads the values of flags from a file, too. */
interface SubcommandParts<Schema extends FlagSchema> {
  /** What the command does, for its own help. May have several lines. */
  readonly description: string;
  /** The positional arguments. @default none */
  readonly positionals?: PositionalSyntax;
  /** Command lines without the program's name, each with a comment. `NAME` is replaced by the name of a controller. */
  readonly examples: readonly { readonly line: string; readonly about: string }[];
  /** The flags, without those about logging. */
  readonly flags: Schema;
  /** Further flags, which depend on the operator. @default none */
  readonly extraFlags?: (operator: Operator) => readonly FlagGroup[];
  /** True when a further flag with a name of the command's own is left out, and has its default. @default false: a TypeError */
  readonly hidesExtraFlags?: boolean;
  /** Loggers that only log warnings and errors, unless -v is given. @default none */
  readonly quietLoggers?: readonly string[];
  /** Loggers that log nothing, unless -v is given. @default none */
  readonly silentLoggers?: (operator: Operator) => readonly string[];
  /** True for a command that Pods run: where a log collector reads its output, it logs JSON. @default false */
  readonly isService?: boolean;
  /** Completes the session before logging starts and the command runs. @default nothing */
  readonly prepare?: (call: Pick<Call<z.output<Schema>>, "positionals" | "flags" | "session">) => Promise<void>;
  /** Runs the command. A thrown error becomes an exit code and a line on stderr. */
  run(call: Call<z.output<Schema>>): Promise<ExitCode>;
}

/** A word that shell completion offers. */
export interface CompletionWord {
  readonly value: string;
  /** A description, for shells that show it. */
  readonly about: string;
}

/** The positional arguments of a command. */
interface PositionalSyntax {
  /** In the notation of commander: `[names...]`. */
  readonly syntax: string;
  readonly about: string;
  /** What shell completion offers. @default the names of the controllers */
  readonly choices?: readonly string[];
  /** Shell completion offers paths for the first one. @default `choices` */
  readonly completes?: "file";
  /** What shell completion offers instead of `choices`, after the words that are `typed`. @default `choices` */
  readonly words?: (operator: Operator, typed: readonly string[]) => readonly CompletionWord[];
}

/** Flags under a heading of their own. */
export interface FlagGroup {
  readonly heading: string;
  readonly flags: FlagSchema;
}

/** Access to the extra flags, by their schema. */
export interface ExtraFlags {
  readonly read: FlagReader;
  /** Returns the long names of the flags that are on the command line. */
  readonly typed: (schema: FlagSchema) => readonly string[];
}

/** The values of the flags of a call. */
export interface FlagValues<Flags> {
  readonly flags: Flags;
  readonly logging: LogFlags;
  readonly extraFlags: ExtraFlags;
  /** All of them as they were given, and where. Those of the extra flags are not checked. */
  readonly settings: readonly Setting[];
}

/** The configuration file of a call. */
export interface ConfigurationFile<Flags> {
  readonly path: string;
  /** Reads the flags again, with the file as it is now. @throws UsageError */
  reread(): Promise<FlagValues<Flags>>;
}

/** One call of a command. */
export interface Call<Flags> extends FlagValues<Flags> {
  readonly positionals: readonly string[];
  readonly session: Session;
  /** The file of `--config`; undefined when there is none. */
  readonly configFile: ConfigurationFile<Flags> | undefined;
}

/** A command whose flags have no known types. */
export interface Subcommand {
  /** The positional arguments; undefined when there are none. */
  readonly positionals: PositionalSyntax | undefined;
  /** Returns all flags, including those about logging. */
  flags(operator: Operator): readonly Flag[];
  /** Adds the arguments, flags and help to a commander Command. */
  define(command: CommandUnknownOpts, operator: Operator): void;
  /** Runs the command with the flags that commander parsed. */
  execute(command: CommandUnknownOpts, session: Session): Promise<ExitCode>;
}

/** Defines a command. */
export function subcommand<Schema extends FlagSchema>(parts: SubcommandParts<Schema>): Subcommand {
  const { description, positionals, examples, flags, extraFlags = () => [] } = parts;
  const own = [flags, logFlags].flatMap(flagsOf);
  const groupsOf = (operator: Operator) =>
    extraFlags(operator).map((group) => parts.hidesExtraFlags === true ? withoutHidden(group, own) : group);
  const allFlags = (operator: Operator) => [...own, ...groupsOf(operator).flatMap((group) => flagsOf(group.flags))];
  const readsConfigFile = flags._zod.def.shape.config === configFlag;
  const hidden = parts.hidesExtraFlags === true ? new Set(own.map(({ key }) => key)) : undefined;
  return {
    positionals,
    flags: allFlags,
    define(command, operator) {
      command.description(description);
      if (positionals !== undefined) command.argument(positionals.syntax, positionals.about);
      addFlags(command, flags);
      addFlags(command, logFlags);
      for (const group of groupsOf(operator)) addFlags(command, group.flags, group.heading);
      command.addHelpText("after", (context) => environmentText(context, allFlags(operator), operator.name));
      command.addHelpText("after", (context) => examplesText(context, examples, operator));
    },
    async execute(command, session) {
      const { operator, environment } = session;
      const sources: FlagSources = { operatorName: operator.name, environment };
      const all = allFlags(operator);
      const path = readsConfigFile ? readFlags(command, configFlags, sources).config : undefined;
      const valuesWith = (file?: FileValues): FlagValues<z.output<Schema>> =>
        readValues(command, { schema: flags, all, hidden, sources: { ...sources, file } });
      const values = valuesWith(path === undefined ? undefined : await readConfigFile(path, all));
      const { quietLoggers: quiet, isService } = parts;
      await parts.prepare?.({ positionals: command.args, flags: values.flags, session });
      session.startLogging(values.logging, { quiet, silent: parts.silentLoggers?.(session.operator), isService });
      const configFile = path === undefined ? undefined : {
        path,
        reread: async () => valuesWith(await rereadConfigFile(path, all)),
      };
      return await parts.run({ ...values, positionals: command.args, session, configFile });
    },
  };
}

const configFlags = z.object({ config: configFlag });

/** @throws UsageError when a value of the command's own flags does not fit */
function readValues<Schema extends FlagSchema>(
  command: CommandUnknownOpts,
  { schema, all, hidden, sources }: {
    readonly schema: Schema;
    readonly all: readonly Flag[];
    readonly hidden: ReadonlySet<string> | undefined;
    readonly sources: FlagSources;
  },
): FlagValues<z.output<Schema>> {
  return {
    logging: readFlags(command, logFlags, sources),
    flags: readFlags(command, schema, sources),
    extraFlags: {
      read: (extra) => readFlags(command, extra, { ...sources, hidden }),
      typed: (extra) => typedFlags(command, extra, hidden),
    },
    settings: readSettings(command, all, sources),
  };
}

/** The group without the flags whose long or short name is one of the command's own. */
function withoutHidden({ heading, flags }: FlagGroup, own: readonly Flag[]): FlagGroup {
  const namesOf = (flag: Flag) => flag.flags.match(/(?<=^|[\s,])--?[a-z-]+/gi) ?? [];
  const taken = new Set(own.flatMap(namesOf));
  const hidden = new Set(
    flagsOf(flags).filter((flag) => namesOf(flag).some((name) => taken.has(name))).map((one) => one.key),
  );
  return {
    heading,
    flags: z.object(Object.fromEntries(Object.entries(flags._zod.def.shape).filter(([key]) => !hidden.has(key)))),
  };
}

function environmentText(context: AddHelpTextContext, flags: readonly Flag[], operatorName: string): string {
  const others = flags.filter((flag) => flag.fromEnvironment !== true).map((flag) => flag.longName);
  const pattern = environmentName(operatorName, { longName: "--" });
  const example = environmentName(operatorName, { longName: "--log-format" });
  const which = others.length === 0 ? "every flag" : `every flag except ${others.join(", ")}`;
  return `\nEnvironment:\n${helpText(context, `${pattern}<FLAG> sets ${which}: ${example}=json`, "  ")}`;
}

/** Examples name a controller of this operator. */
function examplesText(
  context: AddHelpTextContext,
  examples: SubcommandParts<FlagSchema>["examples"],
  operator: Operator,
): string {
  const [first] = operator.controllers;
  const lines = examples.map(({ line, about }) => {
    const text = `${operator.name} ${context.command.name()} ${line.replaceAll("NAME", first?.name ?? "NAME")}`;
    return `${helpText(context, about, "  # ", "  # ")}\n  ${text.trimEnd()}`;
  });
  return `\nExamples:\n${lines.join("\n\n")}`;
}
