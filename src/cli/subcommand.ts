/**
 * Subcommand: what each command's file exports. Its flags' types are known inside the file and forgotten outside, so
 * that all commands fit into one table.
 */
import type { CommandUnknownOpts } from "@commander-js/extra-typings";
import type { z } from "zod";
import { addFlags, readFlags } from "./commander_options.ts";
import type { ExitCode } from "./exit_code.ts";
import { environmentName, type Flag, type FlagSchema, flagsOf } from "./flag.ts";
import { type LogFlags, logFlags } from "./log_flags.ts";
import type { Session } from "./session.ts";

/** What a command is made of. */
export interface SubcommandParts<Schema extends FlagSchema> {
  /** What it does, for its own help; several lines are fine. */
  readonly description: string;
  /** Its words, as commander writes them: `[name...]`. @default none */
  readonly words?: { readonly syntax: string; readonly about: string };
  /** Command lines with what they do, without the program's name. */
  readonly examples: readonly { readonly line: string; readonly about: string }[];
  /** Its flags, besides those about logging. */
  readonly flags: Schema;
  /** Does it. Whatever it throws becomes an exit code and a line on stderr. */
  run(call: Call<z.output<Schema>>): Promise<ExitCode>;
}

/** One call of a command. */
export interface Call<Flags> {
  readonly words: readonly string[];
  readonly flags: Flags;
  readonly session: Session;
}

/** A command whose flags' types are forgotten. */
export interface Subcommand {
  /** Gives a commander Command its arguments, flags and help. */
  define(command: CommandUnknownOpts, operatorName: string): void;
  /** Runs it, with the flags that commander parsed. */
  execute(command: CommandUnknownOpts, session: Session): Promise<ExitCode>;
}

/** Makes a Subcommand. */
export function subcommand<Schema extends FlagSchema>(parts: SubcommandParts<Schema>): Subcommand {
  const { description, words, examples, flags } = parts;
  return {
    define(command, operatorName) {
      command.description(description);
      if (words !== undefined) command.argument(words.syntax, words.about);
      addFlags(command, flags);
      addFlags(command, logFlags);
      command.addHelpText("after", environmentText([...flagsOf(flags), ...flagsOf(logFlags)], operatorName));
      command.addHelpText("after", examplesText(examples, `${operatorName} ${command.name()}`));
    },
    async execute(command, session) {
      const sources = { operatorName: session.operator.name, environment: session.environment };
      const logging: LogFlags = readFlags(command, logFlags, sources);
      const values = readFlags(command, flags, sources);
      session.startLogging(logging);
      return await parts.run({ words: command.args, flags: values, session });
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

function examplesText(examples: SubcommandParts<FlagSchema>["examples"], prefix: string): string {
  const lines = examples.map(({ line, about }) => `  # ${about}\n  ${line === "" ? prefix : `${prefix} ${line}`}`);
  return `\nExamples:\n${lines.join("\n\n")}`;
}
