/**
 * `dev`: controllers on a Kubernetes of this process: an API server on the loopback interface, simulated nodes, the CRDs of
 * the controllers, and the controllers themselves. Nothing else is needed: no cluster, no container engine, no download.
 *
 * Guarantees: nothing outside of this process is touched but the kubeconfig file, which only its owner can read and which
 * goes at the end; the server answers only on loopback, to whoever has that file.
 */
import { type Scope, scope } from "../async/mod.ts";
import { clusterLoggers, EmbeddedCluster } from "../cluster/mod.ts";
import type { OperatorController } from "../manager/mod.ts";
import { logger } from "../observe/mod.ts";
import { CommandError } from "./command_error.ts";
import { Convergence } from "./convergence.ts";
import { type DevFlags, devFlags } from "./dev/dev_flags.ts";
import { installAll } from "./dev/install_all.ts";
import { devManager } from "./dev/dev_manager.ts";
import { KubeconfigFile } from "./dev/kubeconfig_file.ts";
import { runCommand } from "./dev/run_command.ts";
import { createSamples } from "./dev/samples.ts";
import { summaryOf } from "./dev/summary.ts";
import { type ExitCode, exitCode } from "./exit_code.ts";
import { interrupts } from "./interrupts.ts";
import { configuredControllers, linePrinter, ownFlagGroups } from "./own_flags.ts";
import { selectControllers } from "./select_controllers.ts";
import { type Call, subcommand } from "./subcommand.ts";
import { UsageError } from "./usage_error.ts";

/** The command. */
export const dev = subcommand({
  description: [
    "Runs controllers on a Kubernetes of this process, until a signal ends it: an API server on the loopback interface",
    "with simulated nodes, for development and tests, not for production. With a COMMAND behind --, runs that with",
    "KUBECONFIG set and ends with its exit code.",
  ].join("\n"),
  words: { syntax: "[names...]", about: "controllers to run (default: none, unless --all)" },
  examples: [
    { line: "--all --samples --until-settled", about: "see all controllers at work, then end" },
    { line: "NAME --samples", about: "one controller, with the cluster to play with" },
    { line: "-- kubectl get namespaces", about: "a cluster for one command" },
    { line: "NAME --port 6443 --write-kubeconfig dev.yaml", about: "an address and a file of one's choice" },
  ],
  flags: devFlags,
  further: ownFlagGroups,
  quiet: clusterLoggers(),
  async run(call) {
    using signals = interrupts(call.session);
    using stopping = scope(signals.stop);
    return await Promise.race([signals.forced, runUntil(stopping, call)]);
  },
});

async function runUntil(stopping: Scope, call: Call<DevFlags>): Promise<ExitCode> {
  const { session, flags } = call;
  const { clock, random } = session.surroundings;
  const { names, command } = wordsOf(call);
  const controllers = await chosen(call, names, stopping);
  const onError = (error: unknown) => logger("apiserver").error("the server failed", { error });
  const name = `${session.operator.name}-dev`;
  await using cluster = await EmbeddedCluster.start({
    port: flags.port,
    controllers,
    nodes: flags.nodes,
    name,
    onError,
    clock,
    random,
  });
  await using file = await KubeconfigFile.write(cluster.kubeconfig, { path: flags.writeKubeconfig, session });
  if (!flags.quiet) tell(call, cluster, file);
  await installAll(cluster.client, controllers, stopping.signal);
  const convergence = new Convergence(clock);
  const watched = flags.untilSettled ? controllers.map((one) => convergence.watched(one)) : controllers;
  const manager = await devManager(cluster, watched, session);
  const running = manager.run(stopping.signal);
  try {
    if (flags.samples) await createSamples(cluster.client, controllers, stopping.signal);
    if (command.length > 0) return await runCommand(command, file.path, session, stopping.signal);
    if (!flags.untilSettled) await running;
    else await Promise.race([convergence.reached(manager, stopping.signal), running]);
  } finally {
    stopping.abort(new DOMException("The development cluster ends", "AbortError"));
    await running;
  }
  return flags.untilSettled ? summed(call, controllers, convergence) : exitCode.done;
}

/** Names come before `--`, a command behind it. */
function wordsOf({ words, session }: Call<DevFlags>): { names: readonly string[]; command: readonly string[] } {
  const { args } = session.surroundings;
  const dashes = args.indexOf("--");
  if (dashes < 0) return { names: words, command: [] };
  const command = args.slice(dashes + 1);
  if (command.length === 0) {
    throw new UsageError("Cannot run a command: there is none behind --", "Example: dev -- kubectl get namespaces");
  }
  return { names: words.slice(0, words.length - command.length), command };
}

async function chosen(
  call: Call<DevFlags>,
  names: readonly string[],
  stopping: Scope,
): Promise<readonly OperatorController[]> {
  const { session: { operator, surroundings }, flags: { all }, further } = call;
  if (all && names.length > 0) {
    throw new UsageError("Cannot run controllers: both names and --all are given", "Leave one of them out");
  }
  const controllers = all ? operator.controllers : selectControllers(operator, names);
  const gone = () => stopping.abort(new DOMException("Nobody reads the output any more", "AbortError"));
  const print = linePrinter(surroundings.stdout, gone);
  return await configuredControllers({
    operator,
    controllers,
    flags: further,
    namespaces: [],
    allNamespaces: true,
    print,
  });
}

function tell({ session }: Call<DevFlags>, cluster: EmbeddedCluster, file: KubeconfigFile): void {
  session.say(`a Kubernetes for development, not for production, is at ${cluster.url}`);
  session.say(`export KUBECONFIG=${file.path}`);
}

function summed(call: Call<DevFlags>, controllers: readonly OperatorController[], convergence: Convergence): ExitCode {
  const { session } = call;
  session.print(summaryOf(controllers, convergence, session.paint));
  const [first] = convergence.failures;
  if (first === undefined) return exitCode.done;
  throw new CommandError(`Cannot settle: ${first.controller} ${first.key}: ${first.error}`, { code: exitCode.failed });
}
