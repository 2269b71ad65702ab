/**
 * `dev`: runs controllers on a Kubernetes API in this process: an API server on the loopback interface, simulated nodes, the
 * CRDs of the controllers, and the controllers themselves. It needs no cluster, no container engine and no download.
 *
 * Guarantees: it changes nothing outside of this process except the kubeconfig file, which only its owner can read and which
 * is removed at the end, also after a second signal or a defect, and the folder of --data-dir, in which everything stays. The
 * server only accepts the credentials in that file, on loopback.
 */
import { type Scope, scope } from "../../async/mod.ts";
import { clusterLoggers, DataFolderError, EmbeddedCluster, type EmbeddedClusterOptions } from "../../cluster/mod.ts";
import type { OperatorController } from "../../manager/mod.ts";
import { logger } from "../../observe/mod.ts";
import { processFacts, resolvePath } from "../../runtime/mod.ts";
import { type DevArguments, type DevFlags, devFlags, parseDevArguments } from "./dev_flags.ts";
import { createNamespaces, DevRun, interruptedError } from "./dev_run.ts";
import { KubeconfigFile } from "./kubeconfig_file.ts";
import {
  type Call,
  CommandError,
  crdsOf,
  type ExitCode,
  exitCode,
  listenForInterrupts,
  type Operator,
  subcommand,
} from "../command/mod.ts";
import { useGraph } from "../graphs/mod.ts";
import { shellWord } from "../output/mod.ts";
import {
  configureControllers,
  configurePlannedControllers,
  controllerFlagGroups,
  ignoresOwnNamespaces,
  isPlanWorker,
  linePrinter,
  outputClosed,
  runPlanWorker,
} from "../run/mod.ts";

/** The command. */
export const dev = subcommand({
  description: [
    "Runs controllers on a Kubernetes API in this process, until a signal ends it: an API server on the loopback",
    "interface with simulated nodes, for development and tests, not for production. With a command after --, runs that",
    "command with KUBECONFIG set, and ends with its exit code.",
  ].join(" "),
  positionals: { syntax: "[names...]", about: "controllers to run, unless --all is given (default: none)" },
  examples: [
    { line: "--all --samples --until-settled", about: "run all controllers on their samples, then end" },
    { line: "NAME --samples", about: "one controller and its samples, until Ctrl-C" },
    { line: "-- kubectl get namespaces", about: "a cluster for one command" },
    { line: "--bare -- go test ./...", about: "only an API server, for tests that start no controller of a cluster" },
    {
      line: "NAME --samples --until-settled -- kubectl get all",
      about: "show the objects that a controller creates for its samples",
    },
    { line: "--all --graph webapp.yaml --samples", about: "the controllers of a graph, with the objects in its file" },
    { line: "NAME --data-dir .dev-cluster", about: "a cluster that goes on where it ended" },
    { line: "NAME --port 6443 --write-kubeconfig dev.yaml", about: "choose the port and the kubeconfig file" },
  ],
  flags: devFlags,
  prepare: useGraph,
  extraFlags: controllerFlagGroups,
  quietLoggers: ["manager"],
  silentLoggers: clusterLoggersBeside,
  async run(call) {
    if (isPlanWorker(call.session)) return await planForAnother(call);
    const { command } = parseDevArguments(call);
    const { stdin } = call.session.processEnvironment;
    // A terminal sends Ctrl-C and Ctrl-\ to the command, too: the command decides whether to end.
    const isShared = command.length > 0 && stdin.isTerminal;
    using interrupts = listenForInterrupts(call.session, isShared ? { handled: ["SIGHUP", "SIGTERM"] } : {});
    using stopping = scope(interrupts.stop);
    return await Promise.race([interrupts.forced, runUntilStopped(stopping, call)]);
  },
});

/** What the controllers of the cluster itself log is not about the controllers of the user, unless they share a name. */
function clusterLoggersBeside({ controllers }: Operator): readonly string[] {
  const own = new Set(controllers.flatMap(({ name }) => [`controller.${name}`, `events.${name}`]));
  return clusterLoggers().filter((name) => !own.has(name));
}

/** Answers another process of this program, which runs these controllers. */
async function planForAnother(call: Call<DevFlags>): Promise<ExitCode> {
  const { session, flags: { selector }, extraFlags: flags } = call;
  const { operator, metrics, logFormat } = session;
  const { controllers, namespaces } = parseDevArguments(call);
  const allNamespaces = ignoresOwnNamespaces(call.flags);
  return await runPlanWorker({
    ...{ session, namespaces, selector },
    configure: () =>
      configurePlannedControllers({ operator, controllers, flags, namespaces, allNamespaces, metrics, logFormat }),
  });
}

async function runUntilStopped(
  stopping: Scope,
  call: Call<DevFlags>,
): Promise<ExitCode> {
  const { session, flags } = call;
  const { clock, random } = session.processEnvironment;
  const { controllers: selected, namespaces, command } = parseDevArguments(call);
  const controllers = await configure(call, { controllers: selected, namespaces }, stopping);
  const name = `${session.operator.name}-dev`;
  crdsOf(controllers); // fails before a cluster starts
  let run: DevRun | undefined;
  try {
    const dataDir = flags.dataDir === undefined
      ? undefined
      : resolvePath(processFacts().workingDirectory, flags.dataDir);
    await using cluster = await startCluster({
      port: flags.port,
      dataDir,
      controllers,
      nodes: flags.nodes,
      workloads: !flags.bare,
      name,
      namespace: namespaces[0],
      namespaces,
      selectsNamespaces: flags.namespaceSelector !== undefined,
      onError: (error) => logger("apiserver").error("server failed", { error }),
      clock,
      random,
    });
    const { writeKubeconfig: path } = flags;
    const file = await KubeconfigFile.write(cluster.kubeconfig, { path, keptIn: dataDir, name, session });
    if (!flags.quiet) printConnection(call, cluster, file);
    await createNamespaces(cluster.client, namespaces, stopping.signal);
    run = new DevRun({ cluster, controllers, namespaces, session, flags, stopping });
    return await run.run(command, file.path);
  } catch (error) {
    if (!stopping.signal.aborted || error !== stopping.signal.reason) throw error;
    if (flags.untilSettled && error !== outputClosed) throw interruptedError(run);
    return exitCode.done;
  }
}

async function startCluster(options: EmbeddedClusterOptions): Promise<EmbeddedCluster> {
  try {
    return await EmbeddedCluster.start(options);
  } catch (error) {
    if (!(error instanceof DataFolderError)) throw error;
    throw new CommandError(error.message, { code: exitCode.failed, advice: error.advice, cause: error });
  }
}

/** Configures the selected controllers with their own flags and namespaces. A closed output ends the run. */
async function configure(
  { session, flags: given, extraFlags: flags }: Call<DevFlags>,
  { controllers, namespaces }: Pick<DevArguments, "controllers" | "namespaces">,
  stopping: Scope,
): Promise<readonly OperatorController[]> {
  const { operator, metrics } = session;
  const allNamespaces = ignoresOwnNamespaces(given);
  const print = linePrinter({ session, stopping });
  const { logFormat } = session;
  return await configureControllers({
    ...{ operator, controllers, flags, namespaces, allNamespaces, metrics, print, logFormat },
  });
}

function printConnection({ session }: Call<DevFlags>, cluster: EmbeddedCluster, file: KubeconfigFile): void {
  session.info(`the API server for development, not for production, is ${cluster.url}`);
  session.info(`export KUBECONFIG=${shellWord(file.path)}`);
}
