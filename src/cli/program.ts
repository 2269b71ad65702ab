/**
 * The program on commander: one root command, and under it the table of subcommands, each defined when it is called.
 *
 * Commander prints help and versions; its errors become UsageErrors, so that they look like all others. It never exits
 * the process and reads neither its arguments nor its environment.
 */
import { Command, CommanderError, type CommandUnknownOpts } from "@commander-js/extra-typings";
import { type ExitCode, exitCode, exitCodeList } from "./exit_code.ts";
import type { Session } from "./session.ts";
import { type SubcommandEntry, subcommands } from "./subcommands.ts";
import { UsageError } from "./usage_error.ts";

/** Parses the session's arguments and runs the command they name. @throws UsageError, or whatever the command throws */
export async function runProgram(session: Session, table: readonly SubcommandEntry[] = subcommands): Promise<ExitCode> {
  const { args } = session.surroundings;
  if (args[0] === "__complete") {
    return await (await import("./completions/answer.ts")).answerShell(args.slice(1), session, table);
  }
  let code: ExitCode = exitCode.done;
  const root = rootCommand(session);
  for (const { name, summary } of table) root.command(name).summary(summary);
  root.hook("preSubcommand", async (_root, command) => {
    const subcommand = await table.find((entry) => entry.name === command.name())?.load();
    if (subcommand === undefined) return;
    subcommand.define(command, session.operator);
    command.exitOverride(usageErrorsOf(`${session.operator.name} ${command.name()}`));
    command.action(async () => {
      code = await subcommand.execute(command, session);
    });
  });
  try {
    await root.parseAsync(helpAsFlag(args), { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCode.done : exitCode.usage;
    throw error;
  }
  return code;
}

/** `help run` as `run --help`: commander's own help command does not know that commands are defined when called. */
function helpAsFlag(args: readonly string[]): readonly string[] {
  const [first, second] = args;
  return first === "help" && second !== undefined ? [second, "--help"] : args;
}

function rootCommand(session: Session): CommandUnknownOpts {
  const { operator, surroundings: { stdout, stderr } } = session;
  return new Command(operator.name)
    .description(operator.description ?? `Runs the controllers ${names(session)}.`)
    .usage("<command> [options]")
    .version(session.version, "--version", "print the version of this program")
    .helpOption("-h, --help", "show help")
    .helpCommand("help [command]", "show help for a command")
    .addHelpText("after", () => rootHelp(session))
    .enablePositionalOptions()
    .exitOverride(usageErrorsOf(operator.name))
    .configureOutput({
      writeOut: (text) => void stdout.write(text),
      writeErr: (text) => void stderr.write(text),
      outputError: () => {}, // reported with the exit code, in one line
      getOutHelpWidth: () => stdout.columns ?? 100,
      getErrHelpWidth: () => stderr.columns ?? 100,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    });
}

/** Lets help and versions pass, and makes what is wrong a UsageError. */
function usageErrorsOf(path: string): (error: CommanderError) => void {
  return (error) => {
    if (error.code === "commander.help" || error.exitCode === 0) throw error;
    const problem = error.message.replace(/^error: /, "").replace(/\.$/, "");
    throw new UsageError(`Cannot parse the command line: ${problem}`, `Run "${path} --help"`);
  };
}

function names(session: Session): string {
  return session.operator.controllers.map((controller) => controller.name).join(", ");
}

function rootHelp(session: Session): string {
  const { name, controllers } = session.operator;
  const first = controllers[0]?.name ?? "NAME";
  return [
    "",
    `Controllers: ${names(session)}`,
    "",
    "Examples:",
    `  ${name} install-crds ${first}    # once per cluster`,
    `  ${name} run ${first}             # until Ctrl-C`,
    "",
    "Exit codes:",
    ...exitCodeList.map(({ code, meaning }) => `  ${String(code).padStart(2)}  ${meaning}`),
  ].join("\n");
}
