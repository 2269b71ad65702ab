/**
 * operatorCli(): turns a list of controllers into a command line. This is what an operator's main.ts calls.
 *
 * Guarantees: it returns the exit code and never ends the process; every error is one line on stderr and an exit code
 * (behaviour 84); an unhandled error ends the program with 70 instead of leaving a part of it running (behaviour 89).
 * A command's files are loaded only when that command is called, so help and version stay fast.
 */
import { type AddHelpTextContext, Command, CommanderError, type CommandUnknownOpts } from "@commander-js/extra-typings";
import {
  CommandError,
  type CommandLine,
  configureHelp,
  type ExitCode,
  exitCode,
  exitCodeList,
  failureOf,
  helpText,
  leadingFlagAdvice,
  misplacedCommandError,
  type Operator,
  type ProcessEnvironment,
  processEnvironmentWith,
  Session,
  type SubcommandEntry,
  unknownCommandError,
} from "./command/mod.ts";
import { UsageError } from "./flags/mod.ts";
import { isCompiledByBun } from "../runtime/mod.ts";

/** The commands of an operator, in the order of help. */
export const subcommands: readonly SubcommandEntry[] = [
  {
    name: "run",
    summary: "run controllers until a signal ends them",
    load: async () => (await import("./run/mod.ts")).run,
  },
  {
    name: "run-graph",
    summary: "run the controllers of a graph, a file with a kind and its resources as templates",
    load: async () => (await import("./run_graph/mod.ts")).runGraph,
  },
  {
    name: "dev",
    summary: "run controllers on a Kubernetes API in this process, for development",
    load: async () => (await import("./dev/mod.ts")).dev,
  },
  {
    name: "plan",
    summary: "show what run would change on a cluster now, without changing anything",
    usageCode: exitCode.failed,
    load: async () => (await import("./plan/mod.ts")).plan,
  },
  {
    name: "simulate",
    summary: "test controllers against faults in a simulated cluster, and show what they break",
    load: async () => (await import("./simulate/mod.ts")).simulateCommand,
  },
  {
    name: "config",
    summary: "show the settings of run, and where each of them comes from",
    load: async () => (await import("./config/mod.ts")).config,
  },
  {
    name: "install-crds",
    summary: "install or update the custom resource definitions of controllers",
    load: async () => (await import("./crds/mod.ts")).installCrds,
  },
  {
    name: "uninstall-crds",
    summary: "delete the custom resource definitions of controllers, and all their objects",
    load: async () => (await import("./crds/mod.ts")).uninstallCrds,
  },
  {
    name: "uninstall",
    summary: "delete the objects of controllers, then their installation, then the definitions",
    load: async () => (await import("./uninstall/mod.ts")).uninstall,
  },
  {
    name: "doctor",
    summary: "check whether controllers can run on a cluster, and show what is missing",
    load: async () => (await import("./doctor/mod.ts")).doctor,
  },
  {
    name: "why",
    summary: "say what happened to an object and why, or why nothing happens",
    load: async () => (await import("./why/mod.ts")).why,
  },
  {
    name: "pause",
    summary: "keep controllers from reconciling an object",
    load: async () => (await import("./pause/mod.ts")).pause,
  },
  {
    name: "resume",
    summary: "let controllers reconcile a paused object again",
    load: async () => (await import("./pause/mod.ts")).resume,
  },
  {
    name: "top",
    summary: "show what the controllers of a running process do, and which keys fail",
    load: async () => (await import("./top/mod.ts")).top,
  },
  {
    name: "replay",
    summary: "run controllers on a recording again, and show the first write that differs",
    usageCode: exitCode.failed,
    load: async () => (await import("./replay/mod.ts")).replay,
  },
  {
    name: "page",
    summary: "open the recording of a process in a browser",
    load: async () => (await import("./page/mod.ts")).page,
  },
  {
    name: "envtest",
    summary: "stand in for etcd and kube-apiserver in the tests of an operator in any language",
    load: async () => (await import("./envtest/mod.ts")).envtest,
  },
  {
    name: "conformance",
    summary: "play requests against two API servers, and show what they answer differently",
    usageCode: exitCode.failed,
    load: async () => (await import("./conformance/mod.ts")).conformance,
  },
  {
    name: "completions",
    summary: "print a shell script that completes commands, flags and names",
    load: async () => (await import("./completions/mod.ts")).completions,
  },
  {
    name: "manifests",
    summary: "print the manifests to run controllers in a cluster, with the permissions they need",
    load: async () => (await import("./manifests/mod.ts")).manifests,
  },
  {
    name: "version",
    summary: "print the versions of this program and of the server",
    load: async () => (await import("./version.ts")).version,
  },
];

/**
 * Runs an operator's command line: `run`, `dev`, `install-crds`, `manifests` and so on. An operator's main.ts calls it.
 *
 * It never throws and never ends the process: an error is a line on stderr and an exit code, see {@link exitCode}.
 *
 * @param operator The name of the program, and its controllers.
 * @param replaced Parts of the process that a test replaces.
 * @returns The exit code. The caller should exit with it: code that still runs then has ignored two signals, or is broken.
 * @example
 * ```ts
 * import { controller, done, Namespace, operatorCli } from "@pintle/controller";
 *
 * const greeter = controller("greeter").for(Namespace).reconcile(() => Promise.resolve(done));
 * const code = await operatorCli({ name: "my-operator", version: "1.0.0", controllers: [greeter] }, { args: ["--version"] });
 * console.assert(code === 0);
 * ```
 */
export async function operatorCli(operator: Operator, replaced: ProcessEnvironment = {}): Promise<number> {
  return await runCommands(operator, subcommands, replaced);
}

/** Runs a command line with the commands of `table`. It never throws, see {@link operatorCli}. */
export async function runCommands(
  operator: Operator,
  table: readonly SubcommandEntry[],
  replaced: ProcessEnvironment = {},
): Promise<number> {
  using session = new Session(operator, processEnvironmentWith(replaced));
  const unhandled = Promise.withResolvers<ExitCode>();
  using _listening = session.processEnvironment.onUnhandledRejection((error) => {
    unhandled.resolve(report(session, new Error(`Cannot continue: unhandled ${describe(error)}`, { cause: error })));
  });
  const code = await Promise.race([runReported(session, table), unhandled.promise]);
  await session.end();
  const { failure } = session.processEnvironment.stdout;
  if (code !== exitCode.done || failure === undefined) return code;
  const failed = report(session, new CommandError(`Cannot print: ${failure.message}`, { code: exitCode.failed }));
  await session.end();
  return failed;
}

async function runReported(session: Session, table: readonly SubcommandEntry[]): Promise<ExitCode> {
  try {
    return await runProgram(session, table);
  } catch (error) {
    const code = usageCodeOf(session, table);
    const failure = failureOf(error);
    return report(session, error, failure.code === exitCode.usage ? { ...failure, code } : failure);
  }
}

/** The exit code of an invalid command line. */
function usageCodeOf({ processEnvironment: { args } }: Session, table: readonly SubcommandEntry[]): ExitCode {
  return table.find(({ name }) => name === args[0])?.usageCode ?? exitCode.usage;
}

function report(session: Session, error: unknown, failure = failureOf(error)): ExitCode {
  session.printError(failure, error);
  return failure.code;
}

function describe(error: unknown): string {
  return error instanceof Error ? `${error.name} "${error.message}"` : String(error);
}

/**
 * Parses the session's arguments and runs the command they name. Commander prints help and versions; it neither exits the
 * process nor reads its arguments.
 *
 * @throws UsageError, or the error of the command
 */
async function runProgram(session: Session, table: readonly SubcommandEntry[]): Promise<ExitCode> {
  const { args } = session.processEnvironment;
  refuseRuntimeVariables(session);
  if (args[0] === "__complete") {
    return await (await import("./completions/mod.ts")).answerShell(args.slice(1), session, table);
  }
  if (args[0] === "__envtest") return await (await import("./envtest/mod.ts")).runStandIn(args.slice(1), session);
  const line: CommandLine = { args, operator: session.operator, table };
  const unknown = await unknownCommandError({ ...line, args: args[0] === "help" ? args.slice(1) : args });
  if (unknown !== undefined) throw unknown;
  let code: ExitCode = exitCode.done;
  const root = createRootCommand(session, line);
  for (const { name, summary } of table) root.command(name).summary(summary);
  root.hook("preSubcommand", async (_root, command) => {
    const name = command.name();
    const subcommand = await table.find((entry) => entry.name === name)?.load();
    if (subcommand === undefined) return;
    subcommand.define(command, session.operator);
    command.exitOverride(usageErrorsOf(`${session.operator.name} ${name}`));
    command.action(async () => {
      const misplaced = misplacedCommandError(line, command.args, subcommand);
      if (misplaced !== undefined) throw misplaced;
      code = await subcommand.execute(command, session);
    });
  });
  try {
    await root.parseAsync(helpAsFlag(args), { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCode.done : usageCodeOf(session, table);
    throw error;
  }
  return code;
}

/** With these variables, Bun loads other code, or lets a debugger take the process over with its credentials. */
const runtimeVariables = [
  "BUN_OPTIONS",
  "BUN_INSPECT",
  "BUN_INSPECT_CONNECT_TO",
  "BUN_INSPECT_NOTIFY",
  "BUN_INSPECT_PRELOAD",
];

/** @throws UsageError in a compiled program whose runtime was told to do something else (security 28) */
function refuseRuntimeVariables({ environment }: Session): void {
  const found = runtimeVariables.find((name) => (environment[name] ?? "") !== "");
  if (found === undefined || !isCompiledByBun()) return;
  throw new UsageError(`Cannot start: the variable ${found} changes the runtime inside of this program`, "Unset it");
}

/** Turns `help run` into `run --help`: commander's own help command would show a command that is not defined yet. */
function helpAsFlag(args: readonly string[]): readonly string[] {
  const [first, second] = args;
  return first === "help" && second !== undefined ? [second, "--help"] : args;
}

function createRootCommand(session: Session, line: CommandLine): CommandUnknownOpts {
  const { operator } = session;
  const root = new Command(operator.name)
    .description(operator.description ?? `Runs the controllers ${controllerNames(session)}.`)
    .usage("<command> [options]")
    .version(session.version, "--version", "print the version of this program")
    .helpOption("-h, --help", "show help")
    .helpCommand("help [command]", "show help for a command")
    .addHelpText("after", (context) => rootHelp(context, session))
    .enablePositionalOptions()
    .exitOverride(usageErrorsOf(operator.name, leadingFlagAdvice(line)))
    .configureOutput({
      writeOut: (text) => session.printDocument(text),
      writeErr: (text) => session.infoDocument(text), // the help of a command line without a command
      outputError: () => {}, // printed later, in one line, with the exit code
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    });
  configureHelp(root, session.processEnvironment);
  return root;
}

/** Rethrows what commander throws for help and version; all other errors become UsageErrors. */
function usageErrorsOf(path: string, advice = `Run "${path} --help"`): (error: CommanderError) => void {
  return (error) => {
    if (error.code === "commander.help" || error.exitCode === 0) throw error;
    const problem = error.message.replace(/^error: /, "").replace(/\.$/, "");
    throw new UsageError(`Cannot parse the command line: ${problem}`, advice);
  };
}

function controllerNames(session: Session): string {
  return session.operator.controllers.map((controller) => controller.name).join(", ");
}

function rootHelp(context: AddHelpTextContext, session: Session): string {
  const { name, controllers: [first] } = session.operator;
  return [
    "",
    ...(first === undefined ? [] : [
      helpText(context, `Controllers: ${controllerNames(session)}`),
      "",
      "Examples:",
      `  ${name} install-crds ${first.name}    # once per cluster`,
      `  ${name} run ${first.name}             # until Ctrl-C`,
      "",
    ]),
    "Exit codes:",
    ...exitCodeList.map(({ code, meaning }) => helpText(context, meaning, `  ${String(code).padStart(2)}  `)),
    helpText(context, "128 and its number: a signal ended it early", "      "),
  ].join("\n");
}
