/**
 * Subcommand: what each command's file exports. Its flags' types are known inside the file and forgotten outside, so
 * that all commands fit into one table.
 */
import type { CommandUnknownOpts } from "@commander-js/extra-typings";
import type { z } from "zod";
import type { FlagReader } from "../../manager/mod.ts";
import { addFlags, environmentName, type Flag, type FlagSchema, flagsOf, readFlags, typedFlags } from "../flags/mod.ts";
import type { ExitCode } from "./exit_code.ts";
import { type LogFlags, logFlags, type Session } from "./session.ts";
import type { Operator } from "./operator.ts";

/** What a command is made of. */
interface SubcommandParts<Schema extends FlagSchema> {
  /** What it does, for its own help; several lines are fine. */
  readonly description: string;
  /** Its words, as commander writes them: `[name...]`. @default none */
  readonly words?: WordsSyntax;
  /** Command lines with what they do, without the program's name. `NAME` becomes that of a controller. */
  readonly examples: readonly { readonly line: string; readonly about: string }[];
  /** Its flags, besides those about logging. */
  readonly flags: Schema;
  /** Further flags, which depend on the operator. @default none */
  readonly further?: (operator: Operator) => readonly FlagGroup[];
  /** Parts of the program whose everyday records are of no interest. @default none */
  readonly quiet?: readonly string[];
  /** Does it. Whatever it throws becomes an exit code and a line on stderr. */
  run(call: Call<z.output<Schema>>): Promise<ExitCode>;
}

/** The words of a command. */
interface WordsSyntax {
  readonly syntax: string;
  readonly about: string;
  /** What a shell offers for them. @default names of controllers */
  readonly choices?: readonly string[];
}

/** Flags under a heading of their own. */
export interface FlagGroup {
  readonly heading: string;
  readonly flags: FlagSchema;
}

/** Access to further flags, by their schema. */
export interface FurtherFlags {
  readonly read: FlagReader;
  /** The long names of those that stand on the command line. */
  readonly typed: (schema: FlagSchema) => readonly string[];
}

/** One call of a command. */
export interface Call<Flags> {
  readonly words: readonly string[];
  readonly flags: Flags;
  readonly further: FurtherFlags;
  readonly session: Session;
}

/** A command whose flags' types are forgotten. */
export interface Subcommand {
  /** Its words; undefined for none. */
  readonly words: WordsSyntax | undefined;
  /** All its flags, those about logging too. */
  flags(operator: Operator): readonly Flag[];
  /** Gives a commander Command its arguments, flags and help. */
  define(command: CommandUnknownOpts, operator: Operator): void;
  /** Runs it, with the flags that commander parsed. */
  execute(command: CommandUnknownOpts, session: Session): Promise<ExitCode>;
}

/** Makes a Subcommand. */
export function subcommand<Schema extends FlagSchema>(parts: SubcommandParts<Schema>): Subcommand {
  const { description, words, examples, flags, further = () => [] } = parts;
  const all = (operator: Operator) =>
    [flags, logFlags, ...further(operator).map((group) => group.flags)].flatMap(flagsOf);
  return {
    words,
    flags: all,
    define(command, operator) {
      const own = further(operator);
      command.description(description);
      if (words !== undefined) command.argument(words.syntax, words.about);
      addFlags(command, flags);
      addFlags(command, logFlags);
      for (const group of own) addFlags(command, group.flags, group.heading);
      command.addHelpText("after", environmentText(all(operator), operator.name));
      command.addHelpText("after", examplesText(examples, operator, command.name()));
    },
    async execute(command, session) {
      const sources = { operatorName: session.operator.name, environment: session.environment };
      const logging: LogFlags = readFlags(command, logFlags, sources);
      const values = readFlags(command, flags, sources);
      session.startLogging(logging, parts.quiet);
      const further: FurtherFlags = {
        read: (schema) => readFlags(command, schema, sources),
        typed: (schema) => typedFlags(command, schema),
      };
      return await parts.run({ words: command.args, flags: values, further, session });
    },
  };
}

function environmentText(flags: readonly Flag[], operatorName: string): string {
  const others = flags.filter((flag) => flag.fromEnvironment !== true).map((flag) => flag.longName);
  const pattern = environmentName(operatorName, { longName: "--" });
  const example = environmentName(operatorName, { longName: "--log-format" });
  const which = others.length === 0 ? "every flag" : `every flag but ${others.join(", ")}`;
  return `\nEnvironment:\n  ${pattern}<FLAG> stands in for ${which}: ${example}=json`;
}

/** `NAME` in an example is a controller of this very operator. */
function examplesText(examples: SubcommandParts<FlagSchema>["examples"], operator: Operator, name: string): string {
  const [first] = operator.controllers;
  const lines = examples.map(({ line, about }) => {
    const words = `${operator.name} ${name} ${line.replaceAll("NAME", first?.name ?? "NAME")}`;
    return `  # ${about}\n  ${words.trimEnd()}`;
  });
  return `\nExamples:\n${lines.join("\n\n")}`;
}

/** A command before it is loaded: what the program's own help shows. */
export interface SubcommandEntry {
  readonly name: string;
  readonly summary: string;
  load(): Promise<Subcommand>;
}
