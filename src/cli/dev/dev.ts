/**
 * `dev`: controllers on a Kubernetes of this process: an API server on the loopback interface, simulated nodes, the CRDs of
 * the controllers, and the controllers themselves. Nothing else is needed: no cluster, no container engine, no download.
 *
 * Guarantees: nothing outside of this process is touched but the kubeconfig file, which only its owner can read and which
 * goes at the end, however it comes; the server answers only on loopback, to whoever has that file.
 */
import { type Scope, scope } from "../../async/mod.ts";
import { clusterLoggers, EmbeddedCluster } from "../../cluster/mod.ts";
import type { OperatorController } from "../../manager/mod.ts";
import { logger } from "../../observe/mod.ts";
import { type DevFlags, devFlags, parseDevArguments } from "./dev_flags.ts";
import { createCrds, DevRun, interruptedError, outputClosed } from "./dev_run.ts";
import { KubeconfigFile } from "./kubeconfig_file.ts";
import { type Call, type ExitCode, exitCode, subcommand } from "../command/mod.ts";
import { configureControllers, controllerFlagGroups, linePrinter, listenForInterrupts } from "../run/mod.ts";

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
    { line: "NAME --samples --until-settled -- kubectl get all", about: "what has become of the samples" },
    { line: "NAME --port 6443 --write-kubeconfig dev.yaml", about: "an address and a file of one's choice" },
  ],
  flags: devFlags,
  further: controllerFlagGroups,
  quiet: [...clusterLoggers(), "manager"],
  async run(call) {
    const { command } = parseDevArguments(call);
    const { stdin } = call.session.processEnvironment;
    // A Ctrl-C that a terminal sends reaches the command too, which knows better what it means.
    using signals = listenForInterrupts(call.session, command.length > 0 && stdin.isTerminal ? ["SIGTERM"] : undefined);
    using stopping = scope(signals.stop);
    await using kept = new AsyncDisposableStack(); // even where a second signal ends what would have removed it
    return await Promise.race([signals.forced, runUntil(stopping, call, kept)]);
  },
});

async function runUntil(stopping: Scope, call: Call<DevFlags>, kept: AsyncDisposableStack): Promise<ExitCode> {
  const { session, flags } = call;
  const { clock, random } = session.processEnvironment;
  const { names, command } = parseDevArguments(call);
  const controllers = await configured(call, names, stopping);
  const name = `${session.operator.name}-dev`;
  try {
    await using cluster = await EmbeddedCluster.start({
      port: flags.port,
      controllers,
      nodes: flags.nodes,
      name,
      onError: (error) => logger("apiserver").error("the server failed", { error }),
      clock,
      random,
    });
    const { writeKubeconfig: path } = flags;
    const file = kept.use(await KubeconfigFile.write(cluster.kubeconfig, { path, name, session }));
    if (!flags.quiet) tell(call, cluster, file);
    await createCrds(cluster.client, controllers, stopping.signal);
    return await new DevRun({ cluster, controllers, session, flags, stopping }).run(command, file.path);
  } catch (error) {
    if (!stopping.signal.aborted || error !== stopping.signal.reason) throw error;
    if (flags.untilSettled && error !== outputClosed) throw interruptedError();
    return exitCode.done;
  }
}

/** The chosen controllers as their own flags want them. Who reads what they print may go away: that ends it. */
async function configured(
  { session, further }: Call<DevFlags>,
  controllers: readonly OperatorController[],
  stopping: Scope,
): Promise<readonly OperatorController[]> {
  const { operator } = session;
  const print = linePrinter(session.output, () => stopping.abort(outputClosed));
  const flags = further;
  return await configureControllers({ operator, controllers, flags, namespaces: [], allNamespaces: true, print });
}

function tell({ session }: Call<DevFlags>, cluster: EmbeddedCluster, file: KubeconfigFile): void {
  session.say(`a Kubernetes for development, not for production, is at ${cluster.url}`);
  session.say(`export KUBECONFIG=${file.path}`);
}
