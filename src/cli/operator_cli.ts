/**
 * operatorCli(): a whole command line out of a list of controllers. This is what an operator's main.ts calls.
 *
 * Guarantees: never ends the process, it returns the exit code; every error is one line on stderr and the code of
 * behaviours.md 84; an error that nobody handled ends the program too, with 70, instead of leaving it half alive (89).
 */
/* MERGED program.ts
 * The program on commander: one root command, and under it the table of subcommands, each defined when it is called.
 *
 * Commander prints help and versions; its errors become UsageErrors, so that they look like all others. It never exits
 * the process and reads neither its arguments nor its environment.
 */
/* MERGED subcommands.ts
 * The table of commands. A command is a file and a line here; the file is loaded only when its command is called, so
 * help and version cost nothing of what running controllers needs.
 */
import {
  type ExitCode,
  exitCode,
  exitCodeList,
  failureOf,
  type Operator,
  type ProcessEnvironment,
  processEnvironmentWith,
  Session,
  type SubcommandEntry,
} from "./command/mod.ts";
import { Command, CommanderError, type CommandUnknownOpts } from "@commander-js/extra-typings";
import { UsageError } from "./flags/mod.ts";

/**
 * Runs an operator's command line.
 *
 * @param surroundings What a test puts in the place of the process.
 * @returns The exit code. What still runs then was told to stop twice, or is broken: the caller should exit with it.
 * @example
 * ```ts
 * import { controller, done, Namespace, operatorCli } from "@pintle/controller";
 *
 * const greeter = controller("greeter").for(Namespace).reconcile(() => Promise.resolve(done));
 * const code = await operatorCli({ name: "my-operator", version: "1.0.0", controllers: [greeter] }, { args: ["--version"] });
 * console.assert(code === 0);
 * ```
 */
export async function operatorCli(
  operator: Operator,
  processEnvironment: Partial<ProcessEnvironment> = {},
): Promise<number> {
  using session = new Session(operator, processEnvironmentWith(processEnvironment));
  const unhandled = Promise.withResolvers<ExitCode>();
  using _net = session.processEnvironment.onUnhandledRejection((error) => {
    unhandled.resolve(report(session, new Error(`Cannot go on: nobody handled ${describe(error)}`, { cause: error })));
  });
  const code = await Promise.race([guarded(session), unhandled.promise]);
  await session.flush();
  return code;
}

async function guarded(session: Session): Promise<ExitCode> {
  try {
    return await runProgram(session);
  } catch (error) {
    return report(session, error);
  }
}

function report(session: Session, error: unknown): ExitCode {
  const failure = failureOf(error);
  session.fail(failure, error);
  return failure.code;
}

function describe(error: unknown): string {
  return error instanceof Error ? `${error.name} "${error.message}"` : String(error);
}

/** Parses the session's arguments and runs the command they name. @throws UsageError, or whatever the command throws */
async function runProgram(session: Session, table: readonly SubcommandEntry[] = subcommands): Promise<ExitCode> {
  const { args } = session.processEnvironment;
  if (args[0] === "__complete") {
    return await (await import("./completions/mod.ts")).answerShell(args.slice(1), session, table);
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
  const { operator, processEnvironment: { stdout, stderr } } = session;
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

/** All commands, in the order of help. */
export const subcommands: readonly SubcommandEntry[] = [
  {
    name: "run",
    summary: "run controllers until a signal ends them",
    load: async () => (await import("./run/mod.ts")).run,
  },
  {
    name: "dev",
    summary: "run controllers on a Kubernetes of this process, for development",
    load: async () => (await import("./dev/mod.ts")).dev,
  },
  {
    name: "new",
    summary: "write the first files of a controller of your own",
    load: async () => (await import("./new/mod.ts")).newController,
  },
  {
    name: "simulate",
    summary: "play faults against controllers in a world of this process, and find what they break",
    load: async () => (await import("./simulate/mod.ts")).simulateCommand,
  },
  {
    name: "install-crds",
    summary: "install the custom resource definitions of controllers, or bring them up to date",
    load: async () => (await import("./crds/mod.ts")).installCrds,
  },
  {
    name: "uninstall-crds",
    summary: "delete the custom resource definitions of controllers, and all their objects",
    load: async () => (await import("./crds/mod.ts")).uninstallCrds,
  },
  {
    name: "doctor",
    summary: "find out whether controllers could run on a cluster, and what is missing",
    load: async () => (await import("./doctor/mod.ts")).doctor,
  },
  {
    name: "completions",
    summary: "print what makes a shell complete commands, flags and names",
    load: async () => (await import("./completions/mod.ts")).completions,
  },
  {
    name: "manifests",
    summary: "print what controllers need to run in a cluster, with the permissions they declare",
    load: async () => (await import("./manifests/mod.ts")).manifests,
  },
  {
    name: "version",
    summary: "print the versions of this program and of the server",
    load: async () => (await import("./version.ts")).version,
  },
];
